/** ms. How long a call that was aborted or has timed out waits for an answer in progress, so that it leaves nothing behind when it rejects. */
export const GRACE = 50
