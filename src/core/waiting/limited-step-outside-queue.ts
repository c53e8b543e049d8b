import { onAbort, reasonOf } from '../../base/abort.js'
import { type Clock, limitAnswers, type Timer } from '../../base/clock.js'
import { GRACE } from './grace-after-wait-ends.js'
import type { Patience } from './acquire-request.js'

/** The wait ended before the step did. */
export const LATE = Symbol('late')

/**
 * Limits a step that cannot be cancelled. If the signal fires or the wait ends meanwhile, the result of the step is undone, and
 * the call settles when that is done, or after `GRACE`.
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
    /** Settles the call, once the wait has ended. */
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
