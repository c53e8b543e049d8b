import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { median } from '../base/stats.js'

/** What the server has done so far. */
export interface Reading {
  /** µs of CPU, all threads. */
  readonly cpu: number
  /** total_commands_processed, which counts the calls inside scripts too; without our own looking. */
  readonly commands: number
  /** Calls by the name of the command, those inside scripts too. */
  readonly calls: ReadonlyMap<string, number>
  /** Bytes that it uses now. */
  readonly memory: number
  /** How many connections it has accepted. */
  readonly connections: number
}

/** Of a server that has just been started. */
export const NOTHING: Reading = { cpu: 0, commands: 0, calls: new Map(), memory: 0, connections: 0 }

/** Of several servers together. */
const together = (readings: readonly Reading[]): Reading => {
  const sum = (key: 'cpu' | 'commands' | 'memory' | 'connections'): number =>
    readings.reduce((total, reading) => total + reading[key], 0)
  const calls = new Map<string, number>()
  for (const [name, count] of readings.flatMap((reading) => [...reading.calls])) {
    calls.set(name, (calls.get(name) ?? 0) + count)
  }
  return { cpu: sum('cpu'), commands: sum('commands'), memory: sum('memory'), connections: sum('connections'), calls }
}

const SCRIPTS = ['eval', 'evalsha', 'eval_ro', 'evalsha_ro', 'fcall', 'fcall_ro']

/** Commands that Redis refuses inside a script, or that only start one: each call is a request of a client. */
const NEVER_INSIDE = [
  ...SCRIPTS,
  ...['script', 'multi', 'exec', 'watch', 'unwatch'],
  ...['subscribe', 'unsubscribe', 'psubscribe', 'punsubscribe', 'ssubscribe', 'sunsubscribe'],
  ...['blpop', 'brpop', 'blmove', 'bzpopmin', 'bzpopmax', 'wait', 'client', 'hello', 'auth', 'select', 'reset'],
]

/** Of one server, or of all masters of a cluster. */
export class ServerMeter {
  readonly #clients: readonly Redis[]
  /** Our own commands on each of them. */
  #looks = 0

  constructor(...urls: readonly string[]) {
    this.#clients = urls.map((url) => new Redis(url))
  }

  get #first(): Redis {
    return this.#clients[0]!
  }

  async version(): Promise<string> {
    const info = await this.#first.info('server')
    const valkey = /valkey_version:(\S+)/.exec(info)?.[1]
    return valkey === undefined ? `Redis ${/redis_version:(\S+)/.exec(info)?.[1] ?? '?'}` : `Valkey ${valkey}`
  }

  /** ms of one round trip, the median of many; each after a pause, as a hand-over comes after a hold. */
  async trip(): Promise<number> {
    const trips: number[] = []
    for (let i = 0; i < 100; i++) {
      await sleep(2)
      const from = performance.now()
      await Promise.all(this.#clients.map((client) => client.ping()))
      trips.push(performance.now() - from)
    }
    this.#looks += trips.length
    return median(trips.slice(20))
  }

  async read(): Promise<Reading> {
    return together(await this.readEach())
  }

  async readEach(): Promise<Reading[]> {
    const infos = await Promise.all(this.#clients.map((client) => client.info('everything')))
    this.#looks++
    return infos.map((info) => readingOf(info, this.#looks))
  }

  /** What those before have left, and what belongs to processes that were killed. */
  async clear(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.flushall()))
  }

  end(): void {
    for (const client of this.#clients) client.disconnect()
  }
}

const readingOf = (info: string, looks: number): Reading => {
  const field = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? NaN)
  const calls = new Map<string, number>()
  for (const [, name = '', count] of info.matchAll(/^cmdstat_([^:|]+)[^:]*:calls=(\d+)/gm)) {
    calls.set(name, (calls.get(name) ?? 0) + Number(count))
  }
  return {
    cpu: (field('used_cpu_user') + field('used_cpu_sys')) * 1e6,
    commands: field('total_commands_processed') - looks,
    calls,
    memory: field('used_memory'),
    connections: field('total_connections_received'),
  }
}

const callsBetween = (before: Reading, after: Reading, names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + (after.calls.get(name) ?? 0) - (before.calls.get(name) ?? 0), 0)

/** How many of the commands between two readings clients have sent themselves. */
export const requestsBetween = (before: Reading, after: Reading, direct: readonly string[]): number =>
  callsBetween(before, after, new Set([...NEVER_INSIDE, ...direct]))

/** How many scripts have run. */
export const scriptsBetween = (before: Reading, after: Reading): number => callsBetween(before, after, SCRIPTS)
