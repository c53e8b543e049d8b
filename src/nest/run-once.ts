import type { SlotResult } from '../api/slots.js'
import { dateAt } from '../base/clock.js'
import { checkOptions, checkWords, show } from '../check-arguments.js'
import { type Cron, cronOf } from '../schedule/cron.js'
import { withRun } from './current.js'
import { readMetadata, writeMetadata } from './metadata.js'
import { type AsyncMethodDecorator, type Call, wrapMethod } from './wrap-method.js'

/** Options of `@RunOnce`. */
export interface RunOnceOptions {
  /** When the method is due, for croner. Default: the pattern of `@Cron` at the same method. */
  readonly cron?: string | undefined
  /** An IANA time zone. Default: `timeZone` of `@Cron`, else `UTC` with `cron`, else the time zone of the process, as `@Cron` has it. */
  readonly timezone?: string | undefined
  /** As for `slots.run`: how often a slot may run again if its process has died. Default 0. */
  readonly retry?: number | undefined
  /** As for `slots.run`: after how many ms another process can take over. Default: the client's `watchdog`. */
  readonly lease?: number | undefined
  /** As for `client.slots`: how long the server remembers a slot, ms. Default: 7 days. */
  readonly retention?: number | undefined
  /** The name of the client. Default: the client without a name. */
  readonly client?: string | undefined
}

const KNOWN = ['cron', 'timezone', 'retry', 'lease', 'retention', 'client']
/** The key under which @nestjs/schedule notes what `@Cron` was given. */
const NOTED = 'SCHEDULE_CRON_OPTIONS'

interface Pattern {
  readonly cron: string
  readonly timezone: string
}

const localZone = (): string => new Intl.DateTimeFormat().resolvedOptions().timeZone

/** What is noted at a method of `@RunOnce`. */
export interface RunOnceNote {
  readonly client: string | undefined
  /** Rejects if the method has no pattern, or a wrong one. */
  check(): Promise<unknown>
}

const NOTE = Symbol.for('holdfast.nest.run-once')

export const runOnceNoteOf = (method: object): RunOnceNote | undefined =>
  readMetadata(NOTE, method) as RunOnceNote | undefined

/** What `@Cron` noted at the method: at our wrapper, or at the one that a decorator between the two has put around it. */
const notedAt = (target: object, key: string | symbol, wrapper: object): Record<string, unknown> => {
  const outermost: unknown = Object.getOwnPropertyDescriptor(target, key)?.value
  const found = [wrapper, outermost].filter((one): one is object => typeof one === 'function')
  return (found.map((one) => readMetadata(NOTED, one)).find((noted) => noted !== undefined) ?? {}) as Record<
    string,
    unknown
  >
}

/** The pattern of the `@Cron` at the same method. */
const patternOf = ({ cron, timezone }: RunOnceOptions, noted: Record<string, unknown>): Pattern => {
  if (cron !== undefined) return { cron, timezone: timezone ?? 'UTC' }
  const { cronTime, timeZone, utcOffset } = noted
  if (typeof cronTime !== 'string')
    throw new TypeError(
      `@RunOnce needs a pattern: give it cron, or put @Cron with a pattern at the method; it has ${show(cronTime)}`,
    )
  if (utcOffset !== undefined) throw new TypeError('@RunOnce knows no utcOffset: give @Cron a timeZone')
  return { cron: cronTime, timezone: timezone ?? (typeof timeZone === 'string' ? timeZone : localZone()) }
}

/** The slot nearest to now. A timer may be early or late by the server's clock, each process's by its own amount. */
const nearest = (cron: Cron, now: number): Date => {
  const [before = -Infinity] = cron.before(now, 1)
  const next = cron.next(now) ?? Infinity
  return dateAt(now - before <= next - now ? before : next)
}

const valueOf = (result: SlotResult<unknown>): unknown => {
  if (result.outcome === 'failed') throw result.error
  return result.outcome === 'ran' ? result.value : undefined
}

/**
 * Runs a method of `@Cron` in one of all processes, once for each time that it is due: `@Cron('0 0 2 * * *') @RunOnce('nightly')`. In the other processes, the call
 * resolves to `undefined`. Needs the package croner. Inside, `currentRun()` is the run.
 */
export const RunOnce = (name: string, options: RunOnceOptions = {}): AsyncMethodDecorator<[]> => {
  checkWords(name, 'name')
  const read = checkOptions(options, KNOWN) as RunOnceOptions
  const { retry, lease, retention, client } = read
  const once = async ({ client: on, run }: Call, cron: Promise<Cron>): Promise<unknown> => {
    const slots = on.slots(name, { retention })
    const due = nearest(await cron, await slots.now())
    // As text: a Date is refused while it is early.
    return valueOf(await slots.run(due.toISOString(), { retry, lease }, (its) => withRun(its, run)))
  }
  return (target, key, descriptor) => {
    let cron: Promise<Cron> | undefined
    const cronOfMethod = async (wrapper: object): Promise<Cron> => {
      const pattern = patternOf(read, notedAt(target, key, wrapper))
      return (cron ??= cronOf(pattern.cron, pattern.timezone))
    }
    wrapMethod('RunOnce', { target, key, descriptor, client }, (call) => once(call, cronOfMethod(call.wrapper)))
    const wrapper = descriptor.value as object
    const note: RunOnceNote = { client, check: () => cronOfMethod(wrapper) }
    writeMetadata(NOTE, note, wrapper)
  }
}
