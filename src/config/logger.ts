import type { Logger } from '../api/monitoring.js'
import { plainMessage } from '../plain-text.js'
import { tell } from '../thrown.js'

const ignore = (): void => undefined
export const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

/** If a logger throws, or its promise rejects, background work must go on. Every message to it is one line. */
export const guarded = (logger: Logger): Logger => {
  const quiet =
    (level: keyof Logger) =>
    (message: string, details?: unknown): void => {
      // There is no place left to report its error.
      tell(
        () => (logger[level] as (...args: unknown[]) => unknown).call(logger, plainMessage(message), details),
        ignore,
      )
    }
  return { debug: quiet('debug'), info: quiet('info'), warn: quiet('warn'), error: quiet('error') }
}
