import { platform } from '#platform'
import type { Codec } from '../../api/codec.js'
import type { FlightRun } from '../../api/flight.js'
import { onAbort } from '../../base/abort.js'
import { within } from '../../base/scope.js'
import { written } from '../../codecs/value-as-text.js'
import { LONGEST_VALUE } from '../../script-times-and-limits.js'
import type { Runtime } from '../../core/client/runtime.js'
import type { GatedLock } from '../../core/gate/gated-lock.js'
import type { TenureHold } from '../../core/hold/hold.js'
import { LockLostError } from '../../errors.js'
import { integer } from '../../lua/reply-shape.js'
import { quoted } from '../../plain-text.js'
import { partOf, textOf } from '../../thrown.js'
import { persist } from '../election/final-errors.js'
import type { Ended } from './end-message.js'
import type { Outcome } from './flight-outcome.js'
import type { FlightRecord } from './flight-record.js'

/** How long it tries to claim a key, or to store how its computation ended, ms. */
const PATIENCE = 60_000
/** How many times a call computes, if it loses the lock each time. */
const TIMES = 5

export type Work = (run: FlightRun) => unknown

export interface ComputationOptions {
  readonly key: string
  readonly runtime: Runtime
  readonly lock: GatedLock
  readonly record: FlightRecord
  readonly codec: Codec
  readonly work: Work
  readonly lease: number | undefined
  /** How long the outcome is kept, ms. */
  readonly kept: number
  /** An older value exists, and a failure must not replace it. */
  readonly refreshes: boolean
}

/** What a computation tells those who wait for it, and hears from them. */
export interface Stages {
  /** Called just before the work runs. */
  readonly began: () => void
  /** Called each time the key could not be claimed, although another attempt follows. */
  readonly troubled: (trouble: unknown) => void
  /** Aborts when no caller wants the result any more. */
  readonly left: AbortSignal
  /** Called if the lock is lost while the work runs: its result will be refused. */
  readonly lost: () => void
  /** Called if the server is late to say whether it has the outcome, while the lock is certain: the call whose work it was need not wait for that. */
  readonly early: (outcome: Outcome) => void
}

/** What became of an outcome. */
interface Stored {
  /** The server has a value, and has told those who wait. */
  readonly told: boolean
  /** The caller can have it: the server has not refused it, and the lock was certain all the time. */
  readonly counts: boolean
}

const NOTHING: Promise<Stored> = Promise.resolve({ told: false, counts: false })

/** Runs the work of one call, for all callers that want the same result. */
export class Computation {
  readonly #options: ComputationOptions
  #lost = 0
  /** How the work ended, unless the server has refused that. */
  #unrefused: { readonly outcome: Outcome; readonly ended: Ended } | undefined
  /** Settles when the outcome was stored, or never will be. Until then, the lock is kept. */
  #storing = NOTHING

  constructor(options: ComputationOptions) {
    this.#options = options
  }

  /** What the server has may be what this computation stored, although the answer was lost. A token alone proves nothing: a server that lost its data gives it again. */
  ownOf({ token, state, form, data }: Ended): Outcome | undefined {
    const ours = this.#unrefused
    if (ours?.ended.token !== token || ours.ended.state !== state) return undefined
    return ours.ended.form === form && ours.ended.data === data ? ours.outcome : undefined
  }

  /** `undefined`: another process computes, or has computed since `after`. */
  async run(after: bigint, stages: Stages): Promise<Outcome | undefined> {
    const { lock, lease, runtime } = this.#options
    const hold = await lock.tryAcquire(lease === undefined ? undefined : { lease, renew: true })
    if (hold === undefined) return undefined
    this.#storing = NOTHING
    const unlisten = onAbort(hold.signal, () => this.#closed())
    try {
      const token = await this.#claim(hold, after, stages)
      if (token === undefined) return undefined
      stages.began()
      return await this.#whileHeld(hold, token, stages)
    } finally {
      unlisten()
      // No caller waits for the release.
      runtime.background.track(this.#storing.then(({ told }) => this.#release(hold, told)))
    }
  }

  async #whileHeld(hold: TenureHold, token: bigint, { lost, early }: Stages): Promise<Outcome | undefined> {
    const unlisten = onAbort(hold.signal, lost)
    try {
      return await this.#compute(hold, token, early)
    } finally {
      unlisten()
    }
  }

  async #release(hold: TenureHold, told: boolean): Promise<void> {
    await hold.release()
    if (!told) await this.#wake()
  }

  /** The client closes, and frees the lock: it sends that in this very tick. The work may go on, so this does not wait for it. */
  #closed(): void {
    const { runtime } = this.#options
    if (runtime.closed) runtime.background.track(Promise.resolve().then(() => this.#wake()))
  }

  /** Nothing has told those who wait that nobody computes any more: this makes them look. */
  async #wake(): Promise<void> {
    const { runtime, record, lock } = this.#options
    const command = [runtime.publishCommand, record.channel, '']
    await runtime.link.command(command, integer, { route: record.channel, target: lock.name }).catch(() => undefined)
  }

  /** Retries while the lock is certain. */
  async #claim(hold: TenureHold, after: bigint, { troubled, left }: Stages): Promise<bigint | undefined> {
    const { runtime, record } = this.#options
    const { clock } = runtime.options
    const last = clock.monotonic() + PATIENCE
    const until = (): number => (left.aborted ? 0 : Math.min(last, clock.monotonic() + hold.remaining()))
    const claim = async (): Promise<bigint | undefined> => {
      try {
        return await record.claim(hold.tenure.wire, after)
      } catch (error) {
        troubled(error)
        throw error
      }
    }
    const outcome = await persist(runtime, claim, until)
    if ('error' in outcome) throw outcome.error
    return hold.signal.aborted ? undefined : outcome.answer
  }

  async #compute(hold: TenureHold, token: bigint, early: Stages['early']): Promise<Outcome | undefined> {
    const { runtime, refreshes } = this.#options
    const [outcome, ended] = await this.#work(hold, token)
    const failed = 'error' in outcome
    if (failed && refreshes && !hold.signal.aborted) return outcome
    // Work that was stopped midway has not failed.
    if (!failed || !hold.signal.aborted) {
      const storing = this.#store(hold, outcome, ended)
      const stored = await runtime.releases.within(storing, undefined)
      if (stored?.counts === true) return outcome
      if (stored === undefined && !hold.signal.aborted) {
        early(outcome)
        if ((await storing).counts) return outcome
      }
    }
    // Another process computes the same key, or the key was forgotten: that outcome is newer.
    this.#lost++
    if (this.#lost === TIMES) throw new LockLostError(hold.name, `its lease ended before its work did, ${TIMES} times`)
    return undefined
  }

  #store(hold: TenureHold, outcome: Outcome, ended: Ended): Promise<Stored> {
    const { runtime, record, kept } = this.#options
    const ours = { outcome, ended }
    const store = async (): Promise<Stored> => {
      const until = runtime.options.clock.monotonic() + PATIENCE
      const told = await persist(runtime, () => record.finish(hold.tenure.wire, ended, kept), until)
      if ('error' in told) {
        runtime.fail(told.error, `could not store how the computation of ${quoted(hold.name)} ended`)
        return { told: false, counts: !hold.signal.aborted }
      }
      if (!told.answer && this.#unrefused === ours) this.#unrefused = undefined
      // A failure is not the last word for calls that retry. They cannot compute before the lock is free.
      return { told: told.answer && ended.state === 'value', counts: told.answer }
    }
    this.#unrefused = ours
    this.#storing = store()
    runtime.ends.add(hold.tenure.wire, this.#storing)
    return this.#storing
  }

  async #work(hold: TenureHold, token: bigint): Promise<[Outcome, Ended]> {
    const { key, lock, runtime, codec, work } = this.#options
    runtime.working++
    try {
      const value = await within(lock, hold, async () => work({ key, signal: hold.signal, token }))
      const text = written(codec, value, 'value')
      const bytes = platform.utf8Length(text.data)
      if (bytes > LONGEST_VALUE)
        throw new RangeError(
          `the value of ${quoted(lock.name)} is too long to share: it has ${bytes} bytes as text, and may have ${LONGEST_VALUE}`,
        )
      return [
        { value, age: 0, token, own: true },
        { state: 'value', token, ...text },
      ]
    } catch (error) {
      return [
        { error, own: true, token },
        { state: 'failed', token, form: 'text', data: failure(error) },
      ]
    } finally {
      runtime.working--
    }
  }
}

/** For other processes: the name of the error and its message, separated by a space. */
const failure = (error: unknown): string => {
  const name = partOf(error, 'name')
  return `${(typeof name === 'string' && name.replace(/[^\w.]/g, '').slice(0, 80)) || 'Error'} ${textOf(error)}`
}
