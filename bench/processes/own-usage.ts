import { setImmediate as turn } from 'node:timers/promises'

/** CPU time of this process so far, µs. */
export const cpu = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Bytes that this process has in use; it needs --expose-gc. */
export const heap = async (): Promise<number> => {
  // What this turn has left behind is no part of it.
  await turn()
  globalThis.gc!()
  globalThis.gc!()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
