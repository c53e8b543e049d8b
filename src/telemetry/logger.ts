import type { Client } from '../api/client.js'
import { systemClock } from '../base/clock.js'
import { checkFlag, checkMethods, checkOptions, show } from '../check-arguments.js'
import { logCalls } from './call-log.js'
import { ClientLog } from './client-log.js'
import { type Stop, stopOf } from './events.js'
import { type AnyLogger, type Level, LEVELS, writerOf } from './log-style.js'

export type { Stop } from './events.js'
export type { AnyLogger, Level } from './log-style.js'

/** What is logged. */
export interface LogOptions {
  /** Nothing below this is logged, whatever level the logger has. Default: `info`, and `debug` with `calls`. */
  readonly level?: Level | undefined
  /** Also logs the end of each call and of each hold, at `debug`. Default false. */
  readonly calls?: boolean | undefined
}

const check = (given: LogOptions | undefined) => {
  const { calls = false, level = calls ? 'debug' : 'info' } = checkOptions(given, ['level', 'calls'])
  checkFlag(calls, 'calls')
  if (!LEVELS.includes(level)) throw new TypeError(`level must be one of ${LEVELS.join(', ')}, not ${show(level)}`)
  return { calls, level }
}

/**
 * Logs what an operator wants to know about these clients: losses, doubts, deadlocks and a server that is away at `warn`, connections at `info`, errors
 * in the background at `error`. The logger is pino, winston or the console; any other is called like winston, with the message first. Returns a
 * function that stops that.
 */
export const log = (clients: Client | readonly Client[], logger: AnyLogger, options?: LogOptions): Stop => {
  const all = Array.isArray(clients) ? (clients as readonly Client[]) : [clients as Client]
  all.forEach((client, index) => {
    checkMethods(client, `clients[${index}]`, ['on', 'off', 'health', 'close'])
  })
  const { calls, level } = check(options)
  const write = writerOf(logger, level)
  const logged = new Set(all.map(({ id }) => id))
  const stopCalls = calls ? logCalls(logged, write) : () => undefined
  const ended = (id: string) => () => {
    logged.delete(id)
    if (logged.size === 0) stopCalls()
  }
  const logs = all.map((client) => new ClientLog(client, write, systemClock, ended(client.id)))
  return stopOf(...logs.map((one) => () => one.stop()), stopCalls)
}
