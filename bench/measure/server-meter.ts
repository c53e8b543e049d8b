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
}

const SCRIPTS = ['eval', 'evalsha', 'eval_ro', 'evalsha_ro', 'fcall', 'fcall_ro']

/** Commands that Redis refuses inside a script, or that only start one: each call is a request of a client. */
const NEVER_INSIDE = [
  ...SCRIPTS,
  ...['script', 'multi', 'exec', 'watch', 'unwatch'],
  ...['subscribe', 'unsubscribe', 'psubscribe', 'punsubscribe', 'ssubscribe', 'sunsubscribe'],
  ...['blpop', 'brpop', 'blmove', 'bzpopmin', 'bzpopmax', 'wait', 'client', 'hello', 'auth', 'select', 'reset'],
]

export class ServerMeter {
  readonly #client: Redis
  #looks = 0

  constructor(url: string) {
    this.#client = new Redis(url)
  }

  async version(): Promise<string> {
    const info = await this.#client.info('server')
    const valkey = /valkey_version:(\S+)/.exec(info)?.[1]
    return valkey === undefined ? `Redis ${/redis_version:(\S+)/.exec(info)?.[1] ?? '?'}` : `Valkey ${valkey}`
  }

  /** ms of one round trip, the median of many; each after a pause, as a hand-over comes after a hold. */
  async trip(): Promise<number> {
    const trips: number[] = []
    for (let i = 0; i < 100; i++) {
      await sleep(2)
      const from = performance.now()
      await this.#client.ping()
      trips.push(performance.now() - from)
    }
    this.#looks += trips.length
    return median(trips.slice(20))
  }

  async read(): Promise<Reading> {
    const info = await this.#client.info('everything')
    this.#looks++
    const field = (name: string): number => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(info)?.[1] ?? NaN)
    const calls = new Map<string, number>()
    for (const [, name = '', count] of info.matchAll(/^cmdstat_([^:|]+)[^:]*:calls=(\d+)/gm)) {
      calls.set(name, (calls.get(name) ?? 0) + Number(count))
    }
    const cpu = (field('used_cpu_user') + field('used_cpu_sys')) * 1e6
    return { cpu, commands: field('total_commands_processed') - this.#looks, calls }
  }

  /** What those before have left, and what belongs to processes that were killed. */
  async clear(): Promise<void> {
    await this.#client.flushall()
  }

  end(): void {
    this.#client.disconnect()
  }
}

const callsBetween = (before: Reading, after: Reading, names: Iterable<string>): number =>
  [...names].reduce((sum, name) => sum + (after.calls.get(name) ?? 0) - (before.calls.get(name) ?? 0), 0)

/** How many of the commands between two readings clients have sent themselves. */
export const requestsBetween = (before: Reading, after: Reading, direct: readonly string[]): number =>
  callsBetween(before, after, new Set([...NEVER_INSIDE, ...direct]))

/** How many scripts have run. */
export const scriptsBetween = (before: Reading, after: Reading): number => callsBetween(before, after, SCRIPTS)
