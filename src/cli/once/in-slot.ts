import type { SlotResult, SlotRun } from '../../api/slots.js'
import { quoted } from '../../plain-text.js'
import { closed } from '../connection.js'
import { learnedOfSlot } from '../run/child-environment.js'
import { whenStopped } from '../run/whole-run.js'
import type { Grip, Occupy } from '../run/occupy.js'
import { say } from '../say.js'
import { asUsage, usageOf } from '../usage-error.js'
import type { OnceOptions } from './once-options.js'

/** The command has run, and has failed: the slot ends as `failed`. */
class CommandFailed extends Error {
  override readonly name = 'CommandFailed'
  readonly code: number

  constructor(code: number) {
    super(`exit code ${code}`)
    this.code = code
  }
}

type Skipped = Extract<SlotResult<never>, { outcome: 'skipped' }>

const WHY: Readonly<Record<Skipped['reason'], string>> = {
  ran: 'it has run already',
  failed: 'it has run already, and failed',
  running: 'it is running',
  crashed: 'it was started already, and did not end',
  skipped: 'it was marked as skipped',
  early: 'it is not due yet',
  late: 'it is too late',
}

const tellSkipped = (slot: string, { reason, by }: Skipped): void => {
  // A client that is gone has no label any more.
  const runner = by?.label === undefined ? '' : ` (${by.label})`
  say(`skipped ${quoted(slot)}: ${WHY[reason]}${runner}`)
}

const gripOf = (name: string, run: SlotRun): Grip => ({
  env: learnedOfSlot(name, run),
  signal: run.signal,
  remaining: () => run.remaining(),
})

/** ms. For so long the end of a slot may still be stored. */
const STORED = 60_000

/** Runs the work if this process claims the slot. */
export const inSlot =
  ({ name, slotAt, retry, retention, skipped, quiet }: OnceOptions): Occupy =>
  async (client, stop, work) => {
    const slots = asUsage(() => client.slots(name, { retention }))
    const slot = slotAt(await Promise.race([slots.now(), whenStopped(stop)]))
    const result = await slots
      .run(slot, { retry, signal: stop }, async (run) => {
        // Without `done` the slot is left as if this process had died: closing the client releases its lock, and another process may take over.
        const over = await work(gripOf(name, run)).catch(async (error: unknown) => {
          await closed(client)
          throw error
        })
        if (!over.done) await closed(client)
        if (over.code !== 0) throw new CommandFailed(over.code)
      })
      .catch((error: unknown) => {
        throw usageOf(error)
      })
    if (result.outcome === 'ran') {
      // If Redis is away, the end may not be stored yet, and another machine would take this one for dead.
      await closed(client, STORED)
      return 0
    }
    if (result.outcome === 'failed') return codeOf(result.error)
    if (!quiet) tellSkipped(slot, result)
    return skipped
  }

const codeOf = (error: unknown): number => {
  if (error instanceof CommandFailed) return error.code
  throw error
}
