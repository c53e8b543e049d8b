import type { Kept } from './kept.js'
import type { WaitOptions } from './wait-options.js'

/**
 * Lets all waiters through when it has been counted down often enough. A latch that is not set is open. Each step that counts down is done once, even if its
 * answer is lost: then the client asks for it again. In Redisson: RCountDownLatch.
 */
export interface CountDownLatch extends Kept {
  /** Closes the latch. `false`: it is already closed, and stays as it is. */
  trySetCount(count: number): Promise<boolean>
  /** Counts down by one, and resolves to the count that is left. Does nothing if the latch is open. */
  countDown(): Promise<number>
  /** The count that is left; 0: the latch is open. */
  count(): Promise<number>
  /**
   * Waits until the latch is open: `true`. If it does not open within `wait`: `false`. If the signal aborts, the call rejects with its reason. A waiter reads the
   * count after a message: if a latch is open for only a moment and is then set again, the waiter may not notice.
   */
  wait(options?: WaitOptions): Promise<boolean>
  /** Deletes the latch, which lets all waiters through. */
  delete(): Promise<boolean>
}
