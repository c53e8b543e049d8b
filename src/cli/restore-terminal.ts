import { traceOf } from '../thrown.js'
import { codeOfSignal } from './exit-code.js'

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const
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
  const onSignal = (signal: NodeJS.Signals): void => end(codeOfSignal(signal))
  const onError = (error: unknown): void => {
    restore()
    process.stderr.write(`holdfast: ${traceOf(error)}\n`)
    end(1)
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  process.on('uncaughtException', onError)
  process.on('exit', restore)
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
    process.off('uncaughtException', onError)
    process.off('exit', restore)
  }
}
