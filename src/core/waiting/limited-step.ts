import { onAbort, reasonOf } from '../../base/abort.js'
import { type Clock, limitAnswers, type Timer } from '../../base/clock.js'
import { GRACE } from './leaving-grace.js'
import type { Patience } from './request.js'

/** The wait was over before the step was. */
export const LATE = Symbol('late')

/**
 * A step that cannot be called back: when the signal fires or the wait ends meanwhile, what it brings is undone, and the
 * caller hears of it when that is done or the grace is over.
 */
export const limitedStep = async <T>(
  step: Promise<T>,
  { signal, wait }: Patience,
  clock: Clock,
  undo: (brought: T) => Promise<unknown>,
): Promise<T | typeof LATE> => {
  const limited = wait > 0 && wait !== Infinity
  if (signal === undefined && !limited) return step
  let over: (() => T | typeof LATE) | undefined
  const timers: Timer[] = []
  const finished = step.then(
    async (brought) => {
      if (over === undefined) return brought
      await undo(brought)
      return over()
    },
    (error: unknown) => {
      if (over === undefined) throw error
      return over()
    },
  )
  let unlisten: (() => void) | undefined
  const ended = new Promise<T | typeof LATE>((resolve, reject) => {
    const end = (how: () => T | typeof LATE): void => {
      over ??= how
      const settle = (): void => {
        try {
          resolve(how())
        } catch (reason) {
          reject(reason)
        }
      }
      timers.push(clock.setTimer(settle, GRACE))
    }
    if (limited)
      timers.push(
        limitAnswers(
          clock,
          () => {
            end(() => LATE)
          },
          wait,
        ),
      )
    const rejectWith = (reason: unknown): void => {
      end(() => {
        throw reason
      })
    }
    try {
      if (signal !== undefined) {
        unlisten = onAbort(signal, () => {
          rejectWith(reasonOf(signal))
        })
      }
    } catch (error) {
      rejectWith(error)
    }
  })
  ended.catch(() => undefined)
  try {
    return await Promise.race([finished, ended])
  } finally {
    unlisten?.()
    for (const timer of timers) timer.cancel()
    finished.catch(() => undefined)
  }
}
