/** How long an aborted call waits for the reply that is on its way, so as to leave nothing behind when it rejects. */
export const GRACE = 50
