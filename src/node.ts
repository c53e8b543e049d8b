import { constants } from 'node:os'
import type { Client } from './api/client.js'
import { systemClock } from './base/clock.js'
import { checkClose, checkMethods, show } from './check-arguments.js'

/** How a signal closes a client. */
export interface ShutdownOptions {
  /** How many ms running work may take to finish, as for `client.close`. Default 10 000. */
  readonly drain?: number | undefined
  /** With `false`, whatever is still held then stays until its lease ends. Default true. */
  readonly release?: boolean | undefined
}

type Closing = Pick<Client, 'close'>

/** The exit code that a shell reports for a process that this signal ended. */
const codeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/** In a container the process may have id 1. A signal does not end such a process by default. */
const endBy = (signal: NodeJS.Signals): void => {
  if (process.pid === 1) process.exit(codeOf(signal))
  process.kill(process.pid, signal)
  systemClock.setTimer(() => process.exit(codeOf(signal)), 200)
}

/** No process can listen to these. */
const UNHEARD: readonly string[] = ['SIGKILL', 'SIGSTOP']

const checkSignals = (signals: readonly string[]): void => {
  const isList: boolean = Array.isArray(signals)
  if (!isList) throw new TypeError(`signals must be an array, such as ['SIGTERM', 'SIGINT'], not ${show(signals)}`)
  const stranger = signals.find((signal) => !Object.hasOwn(constants.signals, signal))
  if (stranger !== undefined) throw new TypeError(`signals must be names such as 'SIGTERM', not ${show(stranger)}`)
  const unheard = signals.find((signal) => UNHEARD.includes(signal))
  if (unheard !== undefined)
    throw new TypeError(`signals must not contain ${show(unheard)}, because no process can listen to it`)
}

/**
 * Closes the clients and ends the process when it receives one of these signals. At the first signal, the clients drain and close,
 * and then the process ends as that signal would have ended it. A second signal ends it at once. Other listeners of the signal are
 * called as usual. If there are any, they have to end the process: only the exit code is set. The function that it returns removes
 * the listeners.
 */
export const shutdownOn = (
  clients: Closing | readonly Closing[],
  signals: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'],
  options: ShutdownOptions = {},
): (() => void) => {
  const all = Array.isArray(clients) ? (clients as readonly Closing[]) : [clients as Closing]
  all.forEach((client, index) => {
    checkMethods(client, `clients[${index}]`, ['close'])
  })
  checkSignals(signals)
  const { drain = 10_000, release } = checkClose(options)
  // A signal that is named twice would count as a second signal.
  const names = new Set(signals)
  let closing = false
  const off = (): void => {
    for (const signal of names) process.off(signal, onSignal)
  }
  const onSignal = (signal: NodeJS.Signals): void => {
    const again = closing
    closing = true
    if (again) {
      off()
      if (process.listenerCount(signal) > 0) process.exit(codeOf(signal))
      endBy(signal)
      return
    }
    void Promise.allSettled(all.map((client) => client.close({ drain, release }))).then(() => {
      off()
      if (process.listenerCount(signal) > 0) process.exitCode ??= codeOf(signal)
      else endBy(signal)
    })
  }
  for (const signal of names) process.on(signal, onSignal)
  return off
}
