import { checkFlag, checkKnown, checkLease, checkTimeout, readOnce, show } from '../check-arguments.js'
import { type Clock, systemClock } from '../base/clock.js'
import { ConfigError } from '../errors.js'
import type { Borrowed } from './borrowed-client.js'
import type { Place } from './url.js'

/** How holds are renewed. */
export interface WatchdogOptions {
  /** The lease of holds that are acquired without one, ms. It is renewed when a third of it is over. Default 30 000. */
  readonly lease?: number | undefined
  /**
   * If true, a thread with a connection of its own renews the holds whenever the event loop of your process is blocked. Bundlers must build
   * `holdfast/renewal-thread` as a file of its own; pass its URL here if it is not beside the bundle. Default false.
   */
  readonly thread?: boolean | URL | undefined
  /** For how long the event loop may be blocked, ms. After that the thread renews nothing more, and other processes get the locks. Default 300 000. */
  readonly maxBlocked?: number | undefined
}

/** The thread that renews holds while the event loop is blocked. */
export interface ThreadSettings {
  /** Undefined: beside the code that starts it. */
  readonly file: URL | undefined
  readonly maxBlocked: number
}

const KNOWN: readonly (keyof WatchdogOptions)[] = ['lease', 'thread', 'maxBlocked']
const USUAL_LEASE = 30_000
const USUALLY_BLOCKED = 300_000

export const watchdogOf = (
  wanted: unknown = USUAL_LEASE,
): { readonly watchdog: number; readonly thread: ThreadSettings | undefined } => {
  if (typeof wanted !== 'object' || wanted === null || Array.isArray(wanted))
    return { watchdog: checkLease(wanted, 'watchdog'), thread: undefined }
  checkKnown(wanted, KNOWN)
  const { lease = USUAL_LEASE, thread = false, maxBlocked } = readOnce(wanted as WatchdogOptions, KNOWN)
  if (!(thread instanceof URL)) checkFlag(thread, 'watchdog.thread', 'true, false or the URL of its file')
  if (maxBlocked !== undefined) checkTimeout(maxBlocked, 'watchdog.maxBlocked')
  if (maxBlocked !== undefined && thread === false)
    throw new ConfigError(
      `watchdog.maxBlocked (${show(maxBlocked)}) needs watchdog.thread: without the thread, a blocked event loop renews nothing`,
    )
  const watchdog = checkLease(lease, 'watchdog.lease')
  if (maxBlocked !== undefined && maxBlocked < watchdog)
    throw new RangeError(`watchdog.maxBlocked must be at least the lease (${watchdog}), not ${show(maxBlocked)}`)
  const most = maxBlocked ?? Math.max(USUALLY_BLOCKED, watchdog)
  return {
    watchdog,
    thread: thread === false ? undefined : { file: thread === true ? undefined : thread, maxBlocked: most },
  }
}

/** Throws if a thread could not connect as this one does. */
export const checkThread = (place: Place | Borrowed, clock: Clock): void => {
  if (place.engine === 'memory')
    throw new ConfigError(
      "watchdog.thread needs a server: 'memory:' is in the thread that is blocked, so no other thread can renew its locks",
    )
  if ('connection' in place)
    throw new ConfigError(
      'watchdog.thread needs a url or a file: a connection of your own cannot be used by another thread',
    )
  if (place.endpoint.natMap !== undefined)
    throw new ConfigError(
      'watchdog.thread cannot be used with the natMapper of a file: it is a function, and another thread cannot call it',
    )
  if (clock !== systemClock) throw new ConfigError('watchdog.thread needs the clock of the system: omit `clock`')
}
