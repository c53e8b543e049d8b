import { type ClosedError, LockLostError } from '../../errors.js'
import type { Hold } from '../../api/hold.js'

export interface UsedHold extends Hold {
  /** Set if its client was closed while this was held. */
  readonly closed: ClosedError | undefined
  /** The server said that the hold was not ours any more. */
  readonly taken: boolean
}

/** Runs the work of a `using`. It never starts without the lock, and is always followed by a release; an error of the work takes precedence. */
export const whileHeld = async <T>(client: { working: number }, hold: UsedHold, work: () => Promise<T>): Promise<T> => {
  // The event loop may have stood still between the grant and this tick.
  if (hold.remaining() === 0) {
    await hold.release()
    throw new LockLostError(hold.name, 'it ended before the work began')
  }
  let result: T
  client.working++
  try {
    result = await work()
  } catch (error) {
    await hold.release()
    throw error
  } finally {
    client.working--
  }
  if (hold.closed !== undefined) throw hold.closed
  const { state } = hold
  const freed = await hold.release()
  // If the work ended while the hold was certain, it was safe, even if the server does not answer the release.
  if (!freed && (state === 'lost' || ((state === 'held' || state === 'uncertain') && hold.taken))) {
    throw new LockLostError(hold.name, 'it ended before the work did', { cause: hold.signal.reason, result })
  }
  return result
}
