import process from 'node:process'

/** A monotonic clock that shows the same in all threads of a process, ms. */
// eslint-disable-next-line no-restricted-properties -- the clock of `base` counts from the start of a thread
export const ticks = (): number => Number(process.hrtime.bigint()) / 1e6
