import { onAbort, reasonOf } from '../base/abort.js'
import type { Clock } from '../base/clock.js'

/** How long one attempt to connect may take. */
export interface ConnectLimits {
  /** ms */
  readonly limit: number
  readonly signal?: AbortSignal | undefined
}

/** Rejects if the time is over, or the signal aborts, before the step is done. */
export const withinLimits = async <T>(clock: Clock, { limit, signal }: ConnectLimits, step: Promise<T>): Promise<T> => {
  let end = (): void => undefined
  const over = new Promise<never>((_resolve, reject) => {
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
    return await Promise.race([step, over])
  } finally {
    end()
  }
}
