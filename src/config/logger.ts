import { isPromise } from '../check-options.js'
import type { Logger } from '../api/monitoring.js'

const ignore = (): void => undefined
export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** A logger that throws, or whose promise rejects, must not stop what goes on in the background. */
export const guarded = (logger: Logger): Logger => {
  const quiet =
    (level: keyof Logger) =>
    (message: string, details?: unknown): void => {
      try {
        isPromise((logger[level] as (...args: unknown[]) => unknown).call(logger, message, details))
      } catch {
        // There is nobody left to tell.
      }
    }
  return { debug: quiet('debug'), info: quiet('info'), warn: quiet('warn'), error: quiet('error') }
}
