import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { LineProtocol } from '#src/core/protocol/line-protocol.js'
import { NOT_HELD } from '#src/core/protocol/lock-protocol.js'
import { fairLock } from '#src/sync/fair-lock/fair-lock.js'
import type { Options, World } from '../../support/engines.js'

export type Mode = NonNullable<Options['redisson']>

/** What the real Redisson did, step by step: see `interop/README.md`. */
export interface Step {
  readonly step: string
  readonly reply?: unknown
  readonly keys: readonly { readonly type: string; readonly value: unknown; readonly ttl: number }[]
  readonly messages: readonly string[]
}

export type Recording = Readonly<Record<string, readonly Step[]>>

export const recording = (version: string): Recording => {
  const text = readFileSync(join(process.cwd(), `interop/fixtures/fair-${version}.json`), 'utf8')
  return (JSON.parse(text) as { scenarios: Recording }).scenarios
}

/** What can be seen after a step: times are ms from then on. */
export interface Seen {
  readonly step: string
  readonly reply: unknown
  readonly holders: Readonly<Record<string, number>>
  readonly ttl: number
  readonly queue: readonly string[]
  readonly deadlines: Readonly<Record<string, number>>
  readonly messages: readonly string[]
}

const OWNERS = ['A', 'B', 'C', 'D', 'E']

/** Our client does not ask the server for it. */
const NOT_ASKED = 'not asked'

const numbers = (pairs: readonly (readonly [string, string])[]): Record<string, number> =>
  Object.fromEntries(pairs.map(([owner, value]) => [owner, Number(value.replace('now', ''))]))

/** What Redisson's step looked like. */
export const recorded = ({ step, reply, keys, messages }: Step): Seen => {
  const found = (type: string): Step['keys'][number] | undefined => keys.find((entry) => entry.type === type)
  const [hash, list, zset] = [found('hash'), found('list'), found('zset')]
  return {
    step,
    reply,
    holders: numbers((hash?.value ?? []) as [string, string][]),
    ttl: hash?.ttl ?? -2,
    queue: (list?.value ?? []) as string[],
    deadlines: numbers((zset?.value ?? []) as [string, string][]),
    messages,
  }
}

const pairsOf = (flat: unknown): [string, string][] => {
  const words = (flat as string[] | string[][]).flat()
  return words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? ''] as [string, string]] : []))
}

/** A caller whose wait is Redisson's `wait`: -1 is no limit. */
const waitOf = (wait: number | undefined): number => (wait === undefined || wait < 0 ? Infinity : wait)

/** The steps of a recording, done by our scripts as our clients would run them. */
export class Replay {
  readonly #world: World
  readonly #keys: Readonly<Record<string, string>> & Record<'KEY' | 'QUEUE' | 'SCORES', string>
  readonly #protocol: LineProtocol
  readonly #heard: [channel: string, payloads: string[]][] = []
  #marks: string[] = []

  constructor(world: World, redisson: Mode) {
    this.#world = world
    const key = world.id
    this.#keys = { KEY: key, QUEUE: `redisson_lock_queue:{${key}}`, SCORES: `redisson_lock_timeout:{${key}}` }
    const run = (script: { text: string }, keys: readonly string[], args: readonly (string | number | Uint8Array)[]) =>
      world.raw('EVAL', script.text, keys.length, ...keys, ...args.map(String)) as Promise<never>
    const runner = {
      run,
      take: run,
      publishCommand: 'PUBLISH',
      countsAll: true,
      mayBeCounted: () => false,
      fleet: { redisson, fairWaiterTimeout: redisson === '3.8' ? 5000 : ALLOWANCE, watchdog: 30_000 },
    }
    this.#protocol = fairLock.protocol(runner, key) as LineProtocol
  }

  async listen(): Promise<void> {
    for (const owner of OWNERS) {
      const channel = this.#protocol.callOf?.(owner) as string
      this.#heard.push([`redisson_lock__channel:{N}:${owner}`, await this.#world.messages(channel)])
    }
    this.#marks = await this.#world.messages(`mark:${this.#keys.KEY}`)
  }

  async #holds(owner: string): Promise<number> {
    return Number(await this.#world.raw('HGET', this.#keys.KEY, owner))
  }

  async #waits(owner: string): Promise<boolean> {
    return (await this.#world.raw('ZSCORE', this.#keys.SCORES, owner)) !== null
  }

  async #ask(owner: string, wait: number, lease: number): Promise<number | null> {
    const held = await this.#holds(owner)
    if (held > 0) {
      await this.#protocol.setLevel(owner, held + 1, lease)
      return null
    }
    const asker = { owner, lease, wait }
    const { states, left } = await this.#protocol.poll([asker], 0)
    if (states[0] === 'held') return null
    if (states[0] !== 'gone') return left
    const joined = await this.#protocol.enqueue([asker], Number.MAX_SAFE_INTEGER)
    return joined.states[0] === 'held' ? null : joined.left
  }

  /** Who waits has nothing to give back, and our client knows it. */
  async #unlock(owner: string): Promise<unknown> {
    const [held, waits] = [await this.#holds(owner), await this.#waits(owner)]
    if (held === 0 && waits) return NOT_ASKED
    if (held > 1) await this.#protocol.setLevel(owner, held - 1, 30_000)
    else if ((await this.#protocol.release(owner)) === NOT_HELD) return undefined
    return null
  }

  /** Only a fresh owner tries, so one that waits already asks again. */
  async #try(owner: string, wait: number, lease: number): Promise<boolean> {
    if (await this.#waits(owner)) return (await this.#ask(owner, wait, lease)) === null
    return (await this.#protocol.acquire(owner, lease)) === null
  }

  async #do(step: string): Promise<unknown> {
    const [who = '', what = '', ...rest] = step.split(' ')
    const [wait, lease = 30_000] = rest.map(Number)
    if (who === 'sleep') return this.#world.pass(Number(what))
    if (who === 'server') await this.#world.raw(what, ...rest.map((word) => this.#named(word)))
    const actions: Readonly<Record<string, () => Promise<unknown>>> = {
      ask: () => this.#ask(who, waitOf(wait), lease),
      try: () => this.#try(who, waitOf(wait), lease),
      leave: async () => {
        if ((await this.#holds(who)) === 0) await this.#protocol.leave({ owner: who, lease, wait: waitOf(wait) })
        return null
      },
      unlock: () => this.#unlock(who),
      force: () => this.#protocol.forceRelease(),
      delete: async () => {
        await this.#world.raw('DEL', ...Object.values(this.#keys))
      },
    }
    return actions[what]?.()
  }

  #named(word: string): string {
    return this.#keys[word] ?? word
  }

  /** Messages come over another connection, in order. */
  async #messages(): Promise<string[]> {
    await this.#world.raw('PUBLISH', `mark:${this.#keys.KEY}`, 'here')
    while (this.#marks.length === 0) await this.#world.pass(1)
    this.#marks.length = 0
    return this.#heard.flatMap(([channel, payloads]) => payloads.splice(0).map((text) => `${channel} ${text}`))
  }

  async step(step: string): Promise<Seen> {
    const { raw } = this.#world
    const reply = await this.#do(step)
    const { KEY, QUEUE, SCORES } = this.#keys
    const [time, hash, ttl, queue, zset] = await Promise.all([
      raw('TIME') as Promise<[string, string]>,
      raw('HGETALL', KEY),
      raw('PTTL', KEY),
      raw('LRANGE', QUEUE, 0, -1) as Promise<string[]>,
      raw('ZRANGE', SCORES, 0, -1, 'WITHSCORES'),
    ])
    const now = Number(time[0]) * 1000 + Number(time[1]) / 1000
    const deadlines = Object.fromEntries(pairsOf(zset).map(([owner, score]) => [owner, Number(score) - now]))
    const messages = await this.#messages()
    return { step, reply, holders: numbers(pairsOf(hash)), ttl: Number(ttl), queue, deadlines, messages }
  }

  async clear(): Promise<void> {
    await this.#world.raw('DEL', ...Object.values(this.#keys))
    await this.#messages()
  }
}

/** How far two times may be apart: the recording is rounded, and was made on a busy machine. */
const near = (a: number, b: number): boolean =>
  a === b || Math.abs(a - b) <= (Math.min(Math.abs(a), Math.abs(b)) < 10_000 ? 450 : 2500)

type Times = Readonly<Record<string, number>>

const eachTime = (a: Times, b: Times, test: (a: number, b: number) => boolean): boolean =>
  Object.keys(a).sort().join() === Object.keys(b).sort().join() &&
  Object.entries(a).every(([owner, ms]) => test(ms, b[owner] ?? NaN))

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null)

type Comparison = Partial<Readonly<Record<keyof Seen, (expected: Seen, actual: Seen) => boolean>>>

const STATE: Comparison = {
  holders: (a, b) => same(a.holders, b.holders),
  ttl: (a, b) => near(a.ttl, b.ttl),
  queue: (a, b) => same(a.queue, b.queue),
}

/** As that Redisson, to the message and the millisecond. */
const EXACT: Comparison = {
  ...STATE,
  reply: (a, b) =>
    typeof a.reply === 'number' && typeof b.reply === 'number' ? near(a.reply, b.reply) : same(a.reply, b.reply),
  deadlines: (a, b) => eachTime(a.deadlines, b.deadlines, near),
  messages: (a, b) => same(a.messages, b.messages),
}

/** Redisson's fairLockWaitTimeout, ms. */
const ALLOWANCE = 300_000

/** Who is called has a whole allowance from then on. */
const isCalled = (seen: Seen, ms: number): boolean =>
  seen.ttl === -2 && ms === seen.deadlines[String(seen.queue[0])] && (ms > ALLOWANCE || near(ms, ALLOWANCE))

/**
 * By our own rules: nobody counts as gone earlier than Redisson lets him, but who is called and does not come; while it is
 * free the head may be called again, and need not be by who has nothing to give back.
 */
const OURS: Comparison = {
  ...STATE,
  reply: (a, b) => (typeof a.reply === 'number' && typeof b.reply === 'number') || same(a.reply, b.reply),
  deadlines: (a, b) =>
    eachTime(a.deadlines, b.deadlines, (theirs, ours) => ours > theirs || near(theirs, ours) || isCalled(b, ours)),
  messages: (a, b) => {
    const again = b.ttl === -2 ? [`redisson_lock__channel:{N}:${b.queue[0]} 0`] : []
    const due = b.reply === undefined ? [] : a.messages
    return due.every((m) => b.messages.includes(m)) && b.messages.every((m) => [...a.messages, ...again].includes(m))
  },
}

/** What of the two is not the same, as text. */
export const differences = (expected: Seen, actual: Seen, mode: Mode): string[] => {
  const { reply, messages, ...state } = mode === '4' ? OURS : EXACT
  const told = { ...(actual.reply === undefined ? {} : { reply }), messages }
  const parts = Object.entries({ ...state, ...(actual.reply === NOT_ASKED ? {} : told) }) as [
    keyof Seen,
    NonNullable<typeof reply>,
  ][]
  const wrong = parts.filter(([, holds]) => !holds(expected, actual))
  return wrong.map(
    ([part]) => `'${actual.step}': ${part} ${JSON.stringify(expected[part])}, but ${JSON.stringify(actual[part])}`,
  )
}
