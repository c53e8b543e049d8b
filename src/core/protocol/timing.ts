/** The times that several rooms, and the scripts, have to agree on. */

/** How long the server lets somebody have a lock who was granted it and has not confirmed; the scripts have it too. */
export const TRIAL = 3000

/** Whoever waits asks at least so often, ms: a lost message costs a poll, and no living waiter is taken for dead. */
export const POLL = TRIAL / 3

/** How long what the server granted may go from hand to hand here before other processes get their turn, ms. */
export const PASS_TIME = 58

/** By how much a hold counts as lost before the server gives it away; the server counts in whole milliseconds. */
export const marginOf = (lease: number): number => Math.min(Math.max(lease / 20, 1), 500)
