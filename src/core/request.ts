import { onAbort } from './abort.js'
import type { Clock } from './clock.js'
import type { UnitOfWork } from './owner.js'
import type { Terms } from './tenure.js'

/** What a caller asks of a gate. */
export interface Request {
  readonly owner: UnitOfWork
  /** The caller named the owner: it may ask for the same lock elsewhere. */
  readonly explicit: boolean
  readonly reentrant: boolean
  readonly terms: Terms
  /** ms; 0: one try, Infinity: no limit. */
  readonly wait: number
  readonly signal: AbortSignal | undefined
  /** The last trouble met while waiting. */
  trouble?: unknown
}

/** How long an aborted call waits for the reply that is on its way, so as to leave nothing behind when it rejects. */
export const GRACE = 50

/**
 * A step that cannot be called back: when the signal fires meanwhile, what it brings is undone, and the caller hears of
 * the abort when that is done or the grace is over.
 */
export const abortable = async <T>(
  step: Promise<T>,
  signal: AbortSignal | undefined,
  clock: Clock,
  undo: (brought: T) => Promise<unknown>,
): Promise<T> => {
  if (signal === undefined) return step
  const finished = step.then(async (brought) => {
    if (!signal.aborted) return brought
    await undo(brought)
    throw signal.reason
  })
  let unlisten: (() => void) | undefined
  const aborted = new Promise<never>((_resolve, reject) => {
    unlisten = onAbort(signal, () => {
      clock.setTimer(() => {
        reject(signal.reason)
      }, GRACE)
    })
  })
  try {
    return await Promise.race([finished, aborted])
  } finally {
    unlisten?.()
    finished.catch(() => undefined)
  }
}
