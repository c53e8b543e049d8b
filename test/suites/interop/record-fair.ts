/**
 * Writes down what the real Redisson's fair lock does: `node .build/test/suites/interop/record-fair.js [version…]`
 * → interop/fixtures/fair-<version>.json. Times are ms from the step on, rounded (a comparison needs a
 * tolerance of some hundred ms all the same); owners are A, B, C… Of the scripts only what they are given, write and tell.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { format } from 'prettier'
import { startRedis } from '../../support/redis-server.js'
import { INTEROP, VERSIONS } from './support/build.js'
import { SCENARIOS } from './support/fair-scenarios.js'
import { JavaError } from './support/java-process.js'
import { keySpace, labelled } from './support/key-space.js'
import { stepsOf } from './support/programs.js'
import { type JavaLock, type Redisson, startRedisson } from './support/redisson.js'
import { type Command, monitored, Spy } from './support/spy.js'

const MS = 'MILLISECONDS'
const NAME = 'N'
const KEYS: Readonly<Record<string, string>> = {
  KEY: NAME,
  QUEUE: `redisson_lock_queue:{${NAME}}`,
  SCORES: `redisson_lock_timeout:{${NAME}}`,
}
const READS = ['exists', 'hexists', 'lindex', 'zscore', 'pttl', 'lrange', 'get', 'llen', 'hget']
/** Its expiry holds a random part. */
const LATCH_TIME = /^(1[6-9]|20)\d{3}$/
const threadOf = (label: string): number => label.charCodeAt(0) - 'A'.charCodeAt(0) + 1

/** As exact as a loaded machine allows: what is long to a second, what is short to 100 ms, what is small not at all. */
const round = (ms: number): number => {
  if (Math.abs(ms) <= 100) return ms
  const step = Math.abs(ms) < 10_000 ? 100 : 1000
  return Math.round(ms / step) * step
}

/** Instants become `now+ms`. */
const rounded = (value: number): number | string => {
  if (value < 1e12) return round(value)
  const since = Math.round((value - Date.now()) / 100) * 100
  return `now${since < 0 ? '' : '+'}${round(since) + 0}`
}

const roundedText = (text: string): string => (/^-?\d+(\.\d+)?$/.test(text) ? String(rounded(Number(text))) : text)

const roundedAll = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(roundedAll)
  if (typeof value === 'number') return rounded(value)
  return typeof value === 'string' ? roundedText(value) : value
}

type Scored = readonly [owner: string, score: string]

/** Who is only some ms apart stands in the alphabet's order. */
const sorted = (scored: readonly Scored[]): Scored[] => {
  const ms = (score: string): number => Number(score.replace('now', ''))
  return [...scored].sort(([a, x], [b, y]) => ms(x) - ms(y) || (a < b ? -1 : 1))
}

type Ask = (lock: JavaLock, thread: number, [wait, lease]: readonly number[]) => Promise<unknown>

const asking =
  (version: string, command: string): Ask =>
  (lock, thread, [wait = -1, lease = 30_000]) =>
    lock.call('tryLockInnerAsync', [...(version === '3.8.1' ? [] : [wait]), lease, MS, thread, command])

const actions = (version: string): Record<string, Ask> => ({
  ask: asking(version, 'EVAL_LONG'),
  try: asking(version, 'EVAL_NULL_BOOLEAN'),
  leave: (lock, thread, [wait = -1]) =>
    lock.call('acquireFailedAsync', version === '3.8.1' ? [thread] : [wait, MS, thread]),
  unlock: (lock, thread) => lock.unlock(thread),
  force: (lock) => lock.forceUnlock(),
  delete: (lock) => lock.call('deleteAsync', []),
})

const replyOf = async (promise: Promise<unknown>): Promise<unknown> => {
  try {
    return roundedAll(await promise)
  } catch (error) {
    if (!(error instanceof JavaError)) throw error
    return { error: error.type }
  }
}

class Recorder {
  readonly #labels: Map<string, string>
  readonly #actions: Record<string, Ask>

  constructor(
    readonly redis: Redis,
    readonly spy: Spy,
    readonly redisson: Redisson,
  ) {
    this.#actions = actions(redisson.version)
    this.#labels = new Map(['A', 'B', 'C', 'D', 'E'].map((label) => [`${redisson.id}:${threadOf(label)}`, label]))
  }

  #named(word: string): string {
    const label = KEYS[word]
    if (label !== undefined) return label
    return /^[A-E]$/.test(word) ? `${this.redisson.id}:${threadOf(word)}` : word
  }

  async #do(step: string): Promise<unknown> {
    const [who = '', what = '', ...rest] = step.split(' ')
    if (who === 'sleep') return sleep(Number(what))
    if (who === 'server') return this.redis.call(what, ...rest.map((word) => this.#named(word)))
    return this.#actions[what]?.(this.redisson.fair(NAME), threadOf(who), rest.map(Number))
  }

  /** What the scripts wrote, and what they were given: the keys and the arguments. */
  #told(commands: readonly Command[]): { given: unknown; writes: string[] } {
    const told = (words: readonly string[]): string[] =>
      words.map((word, index) => {
        if (words.at(-1) === word && LATCH_TIME.test(word) && index > 3) return '<latch ms>'
        return roundedText(labelled(word, this.#labels).replace(/[0-9a-f]{32}/, '<request>'))
      })
    const call = commands.find(({ words: [name = ''] }) => name.startsWith('eval'))?.words.slice(2)
    const count = Number(call?.[0])
    const given = call && { keys: told(call.slice(1, count + 1)), args: told(call.slice(count + 1)) }
    const writes = commands.filter(({ source, words: [name = ''] }) => source === 'lua' && !READS.includes(name))
    return { given, writes: writes.map(({ words }) => told(words).join(' ')) }
  }

  async #step(step: string): Promise<unknown> {
    let reply: unknown
    const commands = await monitored(this.redis, async () => {
      reply = await replyOf(this.#do(step))
    })
    const keys = (await keySpace(this.redis, this.#labels)).map(({ key, type, value, ttl }) => {
      const shown = roundedAll(value)
      return { key, type, value: type === 'zset' ? sorted(shown as Scored[]) : shown, ttl: rounded(ttl) }
    })
    const messages = (await this.spy.take()).map((message) => labelled(message, this.#labels))
    return {
      step,
      ...(step.startsWith('sleep') ? {} : { reply: reply ?? null, ...this.#told(commands) }),
      keys,
      messages,
    }
  }

  async record(): Promise<Record<string, unknown>> {
    const scenarios: Record<string, unknown> = {}
    for (const [title, program] of Object.entries(SCENARIOS)) {
      await this.redis.flushall()
      await this.spy.take()
      const steps: unknown[] = []
      for (const step of stepsOf(program)) steps.push(await this.#step(step))
      scenarios[title] = steps
    }
    return scenarios
  }
}

const recordVersion = async (version: string): Promise<void> => {
  const server = await startRedis()
  const redis = new Redis(server.url)
  const spy = await Spy.start(redis, server.url)
  const redisson = await startRedisson({ url: server.url, version })
  try {
    const scenarios = await new Recorder(redis, spy, redisson).record()
    const folder = join(INTEROP, 'fixtures')
    mkdirSync(folder, { recursive: true })
    const text = await format(JSON.stringify({ version, scenarios }), { parser: 'json', printWidth: 120 })
    writeFileSync(join(folder, `fair-${version}.json`), text)
  } finally {
    await redisson.kill()
    spy.end()
    redis.disconnect()
    await server.stop()
  }
}

const wanted = process.argv.slice(2)
for (const version of wanted.length > 0 ? wanted : VERSIONS) await recordVersion(version)
