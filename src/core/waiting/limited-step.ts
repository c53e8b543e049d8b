import { onAbort, reasonOf } from '../../base/abort.js'
import { type Clock, limitAnswers, type Timer } from '../../base/clock.js'
import type { Patience } from './request.js'

/** How long an aborted call waits for the reply that is on its way, so as to leave nothing behind when it rejects. */
export const GRACE = 50

/** The wait was over before the step was. */
export const LATE = Symbol('late')

/**
 * A step that cannot be called back: when the signal fires or the wait ends meanwhile, what it brings is undone, and the
 * caller hears of it when that is done or the grace is over.
 */
export const limitedStep = <T>(
  step: Promise<T>,
  { signal, wait }: Patience,
  clock: Clock,
  undo: (brought: T) => Promise<unknown>,
): Promise<T | typeof LATE> => {
  const limited = wait > 0 && wait !== Infinity
  if (signal === undefined && !limited) return step
  return new Promise((resolve, reject) => {
    /** How to tell the caller, once the wait is over. */
    let over: (() => void) | undefined
    const ends: (() => void)[] = []
    const settle = (tell: () => void): void => {
      for (const end of ends) end()
      tell()
    }
    const until = (timer: Timer): void => void ends.push(() => timer.cancel())
    const end = (tell: () => void): void => {
      over ??= tell
      until(clock.setTimer(() => settle(tell), GRACE))
    }
    if (limited) until(limitAnswers(clock, () => end(() => resolve(LATE)), wait))
    try {
      if (signal !== undefined) ends.push(onAbort(signal, () => end(() => reject(reasonOf(signal)))))
    } catch (error) {
      end(() => reject(error))
    }
    const brought = async (what: T): Promise<void> => {
      if (over !== undefined) await undo(what)
      settle(over ?? (() => resolve(what)))
    }
    step
      .then(brought, (error: unknown) => settle(over ?? (() => reject(error))))
      .catch((error: unknown) => settle(() => reject(error)))
  })
}
