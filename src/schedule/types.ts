import type { Clock } from '../base/clock.js'
import type { SlotResult, SlotRun } from '../api/slots.js'

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
