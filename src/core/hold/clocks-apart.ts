/**
 * How far the monotonic clock and the wall clock may differ. While a machine is suspended, the monotonic clock stands still, and with it
 * every timer; the wall clock may be set.
 */

/** ms. The two clocks are compared this often while anything is held. */
export const COMPARED_EVERY = 1000
/** ms. Beyond this, between two comparisons, the wall clock was not just corrected a little: the machine was suspended. */
export const SLIP = 5
/** ms. Beyond this, between two comparisons, every hold is checked. */
export const JUMP = 250
/** ms. Beyond this, since the server's last answer about a hold, we trust neither clock until it has answered again. */
export const CLOCKS_APART = 1000
