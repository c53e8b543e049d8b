import { traceOf } from '../thrown.js'

const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
const PATIENCE = 500

export interface Guarded {
  /** Restores the terminal; must be safe to call twice. */
  readonly restore: () => void
  /** Releases what is held; the process does not wait long for it. */
  readonly stop: () => Promise<unknown>
}

/** Restores the terminal, however the process ends. Call the function that it returns when all is over. */
export const restoreTerminal = ({ restore, stop }: Guarded): (() => void) => {
  let ending = false
  const end = (code: number): void => {
    restore()
    if (ending) process.exit(code)
    ending = true
    const leave = (): never => process.exit(code)
    setTimeout(leave, PATIENCE)
    stop().then(leave, leave)
  }
  const onSignal = (signal: NodeJS.Signals): void => end(SIGNALS[signal as keyof typeof SIGNALS])
  const onError = (error: unknown): void => {
    restore()
    process.stderr.write(`holdfast: ${traceOf(error)}\n`)
    end(1)
  }
  const signals = Object.keys(SIGNALS) as (keyof typeof SIGNALS)[]
  for (const signal of signals) process.on(signal, onSignal)
  process.on('uncaughtException', onError)
  process.on('exit', restore)
  return () => {
    for (const signal of signals) process.off(signal, onSignal)
    process.off('uncaughtException', onError)
    process.off('exit', restore)
  }
}
