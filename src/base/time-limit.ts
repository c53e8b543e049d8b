import type { Clock } from './clock.js'

/** The result of the step, or `undefined` if it takes longer. A later result or error is ignored. */
export const within = async <T>(clock: Clock, ms: number, step: Promise<T>): Promise<T | undefined> => {
  let cancel: (() => void) | undefined
  const over = new Promise<undefined>((resolve) => {
    const timer = clock.setTimer(() => resolve(undefined), ms)
    cancel = () => timer.cancel()
  })
  step.catch(() => undefined)
  try {
    return await Promise.race([step, over])
  } finally {
    cancel?.()
  }
}
