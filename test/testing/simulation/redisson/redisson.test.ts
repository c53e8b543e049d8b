import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { decode } from '#src/engine/memory/driver.js'
import { type Bytes, toBytes, toText } from '#src/engine/memory/reply.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import type { Script } from '#src/lua/script.js'
import * as generated from '#src/testing/simulation/redisson/scripts.gen.js'
import { generate, REDISSON } from '../../../../scripts/build-lua.mjs'

type Value = string | readonly string[] | readonly (readonly [string, string])[]

interface Step {
  readonly step: string
  readonly reply?: unknown
  readonly given?: { readonly keys: readonly string[]; readonly args: readonly string[] }
  readonly keys: readonly { readonly key: string; readonly type: string; readonly value: Value; readonly ttl: number }[]
  readonly messages: readonly string[]
}

const recorded = JSON.parse(readFileSync('interop/fixtures/fair-4.7.0.json', 'utf8')) as {
  readonly scenarios: Readonly<Record<string, readonly Step[]>>
}
const KEYS: Readonly<Record<string, string>> = {
  KEY: 'N',
  QUEUE: 'redisson_lock_queue:{N}',
  SCORES: 'redisson_lock_timeout:{N}',
}
const CHANNEL = 'redisson_lock__channel:{N}'
/** The recording ran on a loaded machine, and its figures are rounded to a second, or to 100 ms. */
const FAR = 1600
const NEAR = 350

/** What our script answers, as the caller in Java sees it. */
const ACTIONS: Readonly<Record<string, readonly [script: Script, seen: (reply: unknown) => unknown]>> = {
  ask: [generated.redissonAcquire, (reply) => reply],
  try: [generated.redissonTry, (reply) => reply === 1],
  leave: [generated.redissonCancel, () => null],
  unlock: [generated.redissonUnlock, (reply) => (reply === null ? { error: 'IllegalMonitorStateException' } : null)],
  force: [generated.redissonForceRelease, (reply) => reply === 1],
}

const near = (actual: unknown, expected: unknown): boolean => {
  if (typeof actual !== 'number' || typeof expected !== 'number')
    return JSON.stringify(actual) === JSON.stringify(expected)
  // -2, -1 and 0 are words, not times.
  if (Math.min(Math.abs(actual), Math.abs(expected)) <= 2) return actual === expected
  return Math.abs(actual - expected) <= (Math.abs(expected) < 5000 ? NEAR : FAR)
}

/** One scenario, step by step, by our scripts on the embedded server. */
class Replay {
  readonly #clock = virtualClock()
  readonly #server = new MemoryServer(this.#clock)
  #messages: string[] = []
  #latches = 0

  constructor() {
    const hear = { message: (channel: Bytes, payload: Bytes) => this.#messages.push(toText(channel + ' ' + payload)) }
    for (const owner of 'ABCDE') this.#server.pubsub.subscribe(hear, toBytes(`${CHANNEL}:${owner}`), 'plain')
  }

  #do(...argv: readonly string[]): unknown {
    const reply = this.#server.execute(argv.map(toBytes))
    return decode(reply, false)
  }

  /** Differences, as text. */
  async play({ step, reply, given, keys, messages }: Step): Promise<string[]> {
    const wrong: string[] = []
    const answer = await this.#take(step, given)
    if (reply !== undefined && !near(answer, reply))
      wrong.push(`reply ${JSON.stringify(answer)}, not ${JSON.stringify(reply)}`)
    const heard = this.#messages.splice(0)
    if (heard.join() !== messages.join()) wrong.push(`told ${heard.join()}, not ${messages.join()}`)
    const there = (this.#do('KEYS', '*') as string[]).sort()
    if (there.join() !== keys.map(({ key }) => key).join()) wrong.push(`keys ${there.join()}`)
    for (const { key, type, value, ttl } of keys) {
      if (!near(this.#do('PTTL', key), ttl))
        wrong.push(`${key} expires in ${String(this.#do('PTTL', key))}, not ${ttl}`)
      wrong.push(...this.#compare(key, type, value))
    }
    return wrong.map((what) => `${step}: ${what}`)
  }

  async #take(step: string, given: Step['given']): Promise<unknown> {
    const [who = '', what = '', ...rest] = step.split(' ')
    if (who === 'sleep') return this.#clock.advance(Number(what))
    if (who === 'server') return this.#do(what, ...rest.map((word) => KEYS[word] ?? word))
    if (what === 'delete') return this.#do('DEL', ...Object.values(KEYS)) !== 0
    const [script, seen] = ACTIONS[what] as (typeof ACTIONS)[string]
    assert.ok(given !== undefined)
    const latch = given.keys.find((key) => key.endsWith('<request>'))?.replace('<request>', String(this.#latches++))
    const words = given.keys.map((key) => (key.endsWith('<request>') ? (latch as string) : key))
    const args = given.args.map((arg) =>
      arg === '<latch ms>' ? '18000' : arg.startsWith('now') ? String(this.#clock.now()) : arg,
    )
    const reply = this.#do('EVAL', script.text, String(words.length), ...words, ...args)
    if (latch !== undefined) this.#do('DEL', latch)
    return seen(reply)
  }

  #compare(key: string, type: string, value: Value): string[] {
    if (type === 'list') {
      const line = (this.#do('LRANGE', key, '0', '-1') as string[]).join()
      return line === String(value) ? [] : [`the line is ${line}, not ${String(value)}`]
    }
    const flat = (
      type === 'zset' ? this.#do('ZRANGE', key, '0', '-1', 'WITHSCORES') : this.#do('HGETALL', key)
    ) as string[]
    const expected = new Map(value as readonly (readonly [string, string])[])
    if (flat.length !== 2 * expected.size) return [`${key} has ${flat.join()}`]
    return flat.flatMap((member, i) => {
      if (i % 2 === 1) return []
      const [actual, due] = [flat[i + 1] as string, expected.get(member) ?? 'nothing']
      const same = due.startsWith('now')
        ? near(Number(actual) - this.#clock.now(), Number(due.slice(3)))
        : actual === due
      return same ? [] : [`${member} has ${actual} in ${key}, not ${due}`]
    })
  }
}

void describe("the simulator's Redisson does what the real one was seen to do", () => {
  for (const [title, steps] of Object.entries(recorded.scenarios)) {
    void it(title, async () => {
      const replay = new Replay()
      for (const step of steps) assert.deepEqual(await replay.play(step), [])
    })
  }

  void it('the committed scripts are what the .lua files give', () => {
    const file = readFileSync('src/testing/simulation/redisson/scripts.gen.ts', 'utf8')
    assert.equal(file, generate(process.cwd(), REDISSON))
  })
})
