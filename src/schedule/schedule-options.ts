import type { Clock } from '../base/clock.js'
import type { SlotResult, SlotRun } from '../api/slots.js'

/** Options of `schedule`. */
export interface ScheduleOptions {
  /**
   * A pattern as in a crontab: minute, hour, day of the month, month, day of the week. A sixth field in front of them is the second. The patterns are those of
   * croner.
   */
  readonly cron: string
  /** An IANA time zone such as `'Europe/Berlin'`. Default: `'UTC'`, so that all machines have the same slots, wherever they are. */
  readonly timezone?: string | undefined
  /**
   * What happens to slots that were missed because no process ran: `'latest'` runs the newest of them, `'none'` runs none. All others are reported to `onMissed`.
   * Default `'none'`.
   */
  readonly catchUp?: 'none' | 'latest' | undefined
  /** A slot that is late by more than this many ms is missed. Must be less than the retention. Default 60 000. */
  readonly grace?: number | undefined
  /** As for `slots.run`: how often a slot may run again if its process has died. Default 0. */
  readonly retry?: number | undefined
  /** As for `slots.run`: after how many ms another process can take over. Default: the client's `watchdog`. */
  readonly lease?: number | undefined
  /** As for `client.slots`: how long the server remembers a slot, ms. Default: 7 days. */
  readonly retention?: number | undefined
  /** Ends the schedule, as `stop` does. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** Receives the final result of each slot, on every machine. Default: a warning of the process for work that failed, or whose process died. */
  readonly onResult?: ((result: SlotResult<unknown>, slot: Date) => void) | undefined
  /** Receives slots that no process ran, and none will run: the newest 100 at most. Each is reported to one process. Default: a warning of the process. */
  readonly onMissed?: ((slots: readonly Date[]) => void) | undefined
  /**
   * Receives the error if the server refused, once for each trouble. While the server is away, the schedule asks it again and reports nothing. Default: a warning
   * of the process.
   */
  readonly onError?: ((error: unknown) => void) | undefined
  /** For tests: `virtualClock()` of `holdfast/testing`. Default: the system's clock. */
  readonly clock?: Clock | undefined
}

/** One run of a scheduled slot. Your work receives it. */
export interface ScheduledRun extends SlotRun {
  /** When the slot was due. */
  readonly due: Date
}

/** A schedule. It goes on until you stop it, or the client closes. */
export interface Schedule extends AsyncDisposable {
  /** The next slot. `undefined`: there are no more, or the schedule was stopped. */
  readonly next: Date | undefined
  /** Starts no more slots. Resolves when the work that runs here has settled. */
  stop(): Promise<void>
}
