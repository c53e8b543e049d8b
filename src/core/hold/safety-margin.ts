/** How many ms before the server gives the lock away the hold counts as lost. At least 1, because the server counts whole milliseconds. */
export const marginOf = (lease: number): number => Math.min(Math.max(lease / 20, 1), 500)
