import { onAbort, reasonOf } from '../base/abort.js'
import type { Clock } from '../base/clock.js'

/** One try to connect. */
export interface Attempt {
  /** ms */
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

/** Rejects when its time is over, or its signal aborts, before the step is through. */
export const attempted = async <T>(clock: Clock, { limit, signal }: Attempt, step: Promise<T>): Promise<T> => {
  let end = (): void => undefined
  const given = new Promise<never>((_resolve, reject) => {
    const timer = clock.setTimer(() => {
      reject(new Error(`no answer within ${Math.round(limit)} ms`))
    }, limit)
    const abort = (): void => {
      reject(signal && reasonOf(signal))
    }
    const unlisten = signal && onAbort(signal, abort)
    end = () => {
      timer.cancel()
      unlisten?.()
    }
  })
  try {
    return await Promise.race([step, given])
  } finally {
    end()
  }
}
