import { constants } from 'node:os'
import type { Client } from './api/client.js'
import { systemClock } from './base/clock.js'
import { checkClose, checkMethods, show } from './check-options.js'

/** How a client is closed by a signal. */
export interface ShutdownOptions {
  /** For how many ms running work may come to its end: see `client.close`. Default 10 000. */
  readonly drain?: number | undefined
  /** `false` leaves what is still held then to its lease. Default true. */
  readonly release?: boolean | undefined
}

type Closing = Pick<Client, 'close'>

/** What a shell reports for a process that was ended by this signal. */
const codeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/** A process in a container may be the first one there, which a signal does not end by default. */
const endBy = (signal: NodeJS.Signals): void => {
  if (process.pid === 1) process.exit(codeOf(signal))
  process.kill(process.pid, signal)
  systemClock.setTimer(() => process.exit(codeOf(signal)), 200)
}

/** No process hears of these. */
const UNHEARD: readonly string[] = ['SIGKILL', 'SIGSTOP']

const checkSignals = (signals: readonly string[]): void => {
  const isList: boolean = Array.isArray(signals)
  if (!isList) throw new TypeError(`signals must be an array such as ['SIGTERM', 'SIGINT'], not ${show(signals)}`)
  const stranger = signals.find((signal) => !Object.hasOwn(constants.signals, signal))
  if (stranger !== undefined) throw new TypeError(`signals must be names such as 'SIGTERM', not ${show(stranger)}`)
  const unheard = signals.find((signal) => UNHEARD.includes(signal))
  if (unheard !== undefined) throw new TypeError(`signals must not have ${show(unheard)}: no process can listen to it`)
}

/**
 * At the first of these signals the clients drain and close, and then the process ends as that signal would have ended it. A second
 * signal ends it at once. Other listeners of the signal are called as ever; while there are some, ending the process is left to
 * them, and only the exit code is set. What it returns takes the listeners away.
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
  // One that is named twice would count as a second signal.
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
