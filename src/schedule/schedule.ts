import type { Client } from '../api/client.js'
import { dateAt, systemClock } from '../base/clock.js'
import { ClosedError } from '../errors.js'
import {
  checkFunction,
  checkLease,
  checkMethods,
  checkName,
  checkOptions,
  checkRetry,
  checkSignal,
  checkWait,
  show,
} from '../check-arguments.js'
import { type Cron, cronOf } from './cron.js'
import { DueSlots } from './due-slots.js'
import type { Schedule, ScheduledRun, ScheduleOptions } from './schedule-options.js'

/** The same as for `client.slots`, ms. */
const RETENTION = 604_800_000

const KNOWN = [
  ...['cron', 'timezone', 'catchUp', 'grace', 'retry', 'lease', 'retention', 'signal'],
  ...['onResult', 'onMissed', 'onError', 'clock'],
]

const check = (options: ScheduleOptions): ScheduleOptions => {
  const checked = checkOptions(options, KNOWN)
  const { cron, catchUp, grace, retry, lease, retention = RETENTION, signal, ...rest } = checked
  const { onResult, onMissed, onError } = rest
  if (typeof cron !== 'string') throw new TypeError(`cron must be a pattern such as '0 2 * * *', not ${show(cron)}`)
  if (!([undefined, 'none', 'latest'] as unknown[]).includes(catchUp))
    throw new TypeError(`catchUp must be 'none' or 'latest', not ${show(catchUp)}`)
  checkLease(retention, 'retention')
  if (grace !== undefined && checkWait(grace, 'grace') >= retention)
    throw new RangeError(`grace must be less than the retention of ${retention} ms, after which slots are forgotten`)
  if (retry !== undefined) checkRetry(retry)
  if (lease !== undefined) checkLease(lease)
  if (signal !== undefined) checkSignal(signal, 'signal')
  for (const [name, listener] of Object.entries({ onResult, onMissed, onError }))
    if (listener !== undefined) checkFunction(listener, name)
  return { ...checked, cron }
}

/**
 * Runs `work` at each slot of a schedule, in one of all processes that have the same schedule. The server's clock decides when a slot is due. Rejects if the
 * pattern or the time zone is wrong, or if croner is not installed.
 */
export const schedule = async (
  client: Pick<Client, 'slots' | 'closing'>,
  name: string,
  wanted: ScheduleOptions,
  work: (run: ScheduledRun) => unknown,
): Promise<Schedule> => {
  checkMethods(client, 'client', ['slots'])
  checkName(name)
  const options = check(wanted)
  checkFunction(work, 'work')
  const { retention = RETENTION, timezone = 'UTC', clock = systemClock } = options
  const cron: Cron = await cronOf(options.cron, timezone)
  if (client.closing.aborted) throw new ClosedError(name)
  const slots = client.slots(name, { retention })
  const rounds = new DueSlots({ name, slots, cron, clock, options, retention, work })
  const stop = (): Promise<void> => rounds.stop()
  // The user's signal first: if its getters throw, no listener is left at `client.closing`.
  const signals = [...(options.signal === undefined ? [] : [options.signal]), client.closing]
  for (const signal of signals) {
    if (signal.aborted) void stop()
    else signal.addEventListener('abort', () => void stop(), { once: true, signal: rounds.stopping })
  }
  rounds.start()
  return {
    get next() {
      const { next } = rounds
      return next === undefined || rounds.stopping.aborted ? undefined : dateAt(next)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}
