import { onAbort, reasonOf } from './base/abort.js'
import type { Clock } from './base/clock.js'
import type { Settings } from './config/settings.js'
import { isTransient } from './core/server/transient-or-unsure-errors.js'
import type { ConnectLimits } from './engine/connect-limits.js'
import { textOf } from './thrown.js'

/** The first and the longest pause between two attempts, ms. */
const SOON = 50
const LATE = 2000

/** A setting is wrong, so another attempt would fail in the same way. */
const FOR_GOOD = /: ERR (?!max number of clients)|on this port|certificate/

/** Retries until it is connected, until an error comes that will not pass, or until the time is over. */
export const retryConnect = async <T>(
  settings: Pick<Settings, 'retry' | 'clock' | 'connectTimeout' | 'logger'>,
  connectOnce: (limits?: ConnectLimits) => Promise<T>,
): Promise<T> => {
  const { retry, clock, connectTimeout, logger } = settings
  if (retry === undefined) return connectOnce()
  const { timeout = Infinity, signal } = retry
  const until = clock.monotonic() + timeout
  let told: string | undefined
  for (let pause = SOON; ; pause = Math.min(2 * pause, LATE)) {
    signal?.throwIfAborted()
    const limit = Math.max(SOON, Math.min(connectTimeout, until - clock.monotonic()))
    try {
      return await connectOnce({ limit, signal })
    } catch (error) {
      const message = textOf(error)
      const left = until - clock.monotonic()
      if (left < SOON || !isTransient(error) || FOR_GOOD.test(message)) throw error
      if (message !== told) logger.warn(`${message}; retrying`)
      told = message
      // The last attempts come closer together, so that there is one just before the end.
      await sleep(clock, Math.min(pause * (0.75 + 0.5 * clock.random()), left / 2), signal)
    }
  }
}

const sleep = (clock: Clock, ms: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => {
      unlisten?.()
      resolve()
    }, ms)
    const unlisten =
      signal &&
      onAbort(signal, () => {
        timer.cancel()
        reject(reasonOf(signal))
      })
  })
