import type { Logger } from '../api/monitoring.js'
import { plainMessage } from '../plain-text.js'
import { tell } from '../thrown.js'

const ignore = (): void => undefined
export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** A logger that throws, or whose promise rejects, must not stop what goes on in the background. Whatever it is given is one line. */
export const guarded = (logger: Logger): Logger => {
  const quiet =
    (level: keyof Logger) =>
    (message: string, details?: unknown): void => {
      // There is nobody left to tell what it throws.
      tell(
        () => (logger[level] as (...args: unknown[]) => unknown).call(logger, plainMessage(message), details),
        ignore,
      )
    }
  return { debug: quiet('debug'), info: quiet('info'), warn: quiet('warn'), error: quiet('error') }
}
