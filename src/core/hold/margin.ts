/** By how much a hold counts as lost before the server gives it away; the server counts in whole milliseconds. */
export const marginOf = (lease: number): number => Math.min(Math.max(lease / 20, 1), 500)
