import type { Client } from '../client.js'
import { type Clock, dateAt, systemClock } from '../core/clock.js'
import { ClosedError } from '../errors.js'
import {
  checkFunction,
  checkLease,
  checkMethods,
  checkName,
  checkOptions,
  checkSignal,
  checkWait,
  show,
} from '../options.js'
import type { SlotResult, SlotRun } from '../slot-types.js'
import { type Cron, cronOf } from './cron.js'
import { Rounds } from './rounds.js'

/** When a schedule is due, and what becomes of slots that are late. */
export interface ScheduleOptions {
  /** As in a crontab: minute, hour, day of the month, month, day of the week; a sixth field before them is the second. The patterns are croner's. */
  readonly cron: string
  /** An IANA time zone such as `'Europe/Berlin'`. Default: `'UTC'`, so that all machines have the same slots, wherever they stand. */
  readonly timezone?: string | undefined
  /**
   * What becomes of slots that were missed, because no process ran: `'latest'` runs the newest of them, `'none'` none. All others are reported by `onMissed`.
   * Default `'none'`.
   */
  readonly catchUp?: 'none' | 'latest' | undefined
  /** A slot that is late by more is missed, ms. Less than the retention. Default 60 000. */
  readonly grace?: number | undefined
  /** As for `slots.run`: how often a slot may be run again when its process has died. Default 0. */
  readonly retry?: number | undefined
  /** As for `slots.run`. Default: the client's `watchdog`. */
  readonly lease?: number | undefined
  /** As for `client.slots`. Default: 7 days. */
  readonly retention?: number | undefined
  /** Ends the schedule as `stop` does. */
  readonly signal?: AbortSignal | undefined
  /** The final result of each slot, on every machine. Default: work that failed, or whose process died, is a warning of the process. */
  readonly onResult?: ((result: SlotResult<unknown>, slot: Date) => void) | undefined
  /** Slots that nobody ran, and that nobody will: the newest 100 at most. Each is reported to one process. Default: a warning of the process. */
  readonly onMissed?: ((slots: readonly Date[]) => void) | undefined
  /** The server refused: once for each trouble. While it is away it is asked again, and nothing is reported. Default: a warning of the process. */
  readonly onError?: ((error: unknown) => void) | undefined
  /** For tests: `virtualClock()` of `holdfast/testing`. */
  readonly clock?: Clock | undefined
}

/** One run of a scheduled slot, given to its work. */
export interface ScheduledRun extends SlotRun {
  /** When the slot was due. */
  readonly due: Date
}

/** A schedule that goes on until it is stopped, or the client closes. */
export interface Schedule extends AsyncDisposable {
  /** The next slot. `undefined`: there is none any more. */
  readonly next: Date | undefined
  /** No slot is started any more. Resolves when the work that runs here has settled. */
  stop(): Promise<void>
}

/** That of `client.slots`, ms. */
const RETENTION = 604_800_000

const KNOWN = [
  ...['cron', 'timezone', 'catchUp', 'grace', 'retry', 'lease', 'retention', 'signal'],
  ...['onResult', 'onMissed', 'onError', 'clock'],
]

const check = (options: ScheduleOptions): void => {
  const { cron, catchUp, grace, retention = RETENTION, signal, ...rest } = checkOptions(options, KNOWN)
  const { onResult, onMissed, onError } = rest
  if (typeof cron !== 'string') throw new TypeError(`cron must be a pattern such as '0 2 * * *', not ${show(cron)}`)
  if (!([undefined, 'none', 'latest'] as unknown[]).includes(catchUp))
    throw new TypeError(`catchUp must be 'none' or 'latest', not ${show(catchUp)}`)
  checkLease(retention, 'retention')
  if (grace !== undefined && checkWait(grace, 'grace') >= retention)
    throw new RangeError(`grace must be less than the retention of ${retention} ms, after which slots are forgotten`)
  if (signal !== undefined) checkSignal(signal, 'signal')
  for (const [name, listener] of Object.entries({ onResult, onMissed, onError }))
    if (listener !== undefined) checkFunction(listener, name)
}

/**
 * Runs `work` at each slot of a schedule, in one of all processes that have the same schedule. Slots are judged by the server's clock. Rejects when the pattern or the time zone
 * is wrong, or croner is not installed.
 */
export const schedule = async (
  client: Pick<Client, 'slots' | 'closing'>,
  name: string,
  options: ScheduleOptions,
  work: (run: ScheduledRun) => unknown,
): Promise<Schedule> => {
  checkMethods(client, 'client', ['slots'])
  checkName(name)
  check(options)
  checkFunction(work, 'work')
  const { retention = RETENTION, timezone = 'UTC', clock = systemClock } = options
  const cron: Cron = await cronOf(options.cron, timezone)
  if (client.closing.aborted) throw new ClosedError(name)
  const slots = client.slots(name, { retention })
  const rounds = new Rounds({ name, slots, cron, clock, options, retention, work })
  const stop = (): Promise<void> => rounds.stop()
  const signals = [client.closing, ...(options.signal === undefined ? [] : [options.signal])]
  for (const signal of signals) {
    if (signal.aborted) void stop()
    else signal.addEventListener('abort', () => void stop(), { once: true, signal: rounds.stopping })
  }
  rounds.start()
  return {
    get next() {
      const next = rounds.next
      return next === undefined ? undefined : dateAt(next)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
