import type { Kept } from './kept.js'
import type { WaitOptions } from './wait-options.js'

/**
 * Opens for all who wait when it has been counted down often enough, Redisson's RCountDownLatch. One that is not set is open.
 * Counting down is done once, also when the answer is lost: it is asked for again.
 */
export interface CountDownLatch extends Kept {
  /** Closes it. `false`: it is closed already, and stays as it is. */
  trySetCount(count: number): Promise<boolean>
  /** One less; how many are left. Nothing happens where it is open. */
  countDown(): Promise<number>
  /** How many are left; 0: it is open. */
  count(): Promise<number>
  /**
   * `true` when it is open; `false` when it is not within `wait`. An abort rejects with the signal's reason. Who waits looks
   * at the count when told: a latch that was open for a moment only and is set anew may go unnoticed.
   */
  wait(options?: WaitOptions): Promise<boolean>
  /** Deletes it, which opens it for all who wait. */
  delete(): Promise<boolean>
}
