import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientOptions } from 'holdfast'
import {
  type Actor,
  type Compared,
  FAIR,
  FENCED,
  keyed,
  listened,
  NON_REENTRANT,
  NON_REENTRANT_FAIR,
} from '../support/actors.js'
import { PLAIN } from '../support/actors.js'
import type { Arena } from '../support/arena.js'
import { LATCH, PERMITS, SEMAPHORE } from '../support/counts.js'
import { READ_WRITE } from '../support/read-write.js'
import { now, type RedissonOptions } from '../support/redisson.js'
import { topic } from '../support/topic.js'

/** Something that one waits for and another brings. */
export interface Waking {
  readonly title: string
  readonly both: Compared
  /** Redisson's, where it is not that of texts. */
  readonly codec?: RedissonOptions['codec']
  /** By who frees: what there is before, and what wakes. */
  readonly before: readonly string[]
  readonly wakes: string
  /** By who waits: until it has it, and how it is given back. */
  readonly waits: string
  readonly after: readonly string[]
  /** Redisson wakes those of its threads that sleep at that moment. One that listens, and is about to sleep, sleeps until the lease is over. */
  readonly wakesSleepers?: boolean
}

const ofLock = (title: string, both: Compared): Waking => ({
  ...{ title, both, before: ['lock'], wakes: 'unlock', waits: 'lock', after: ['unlock'] },
})

const ofTopic = (title: string, codec: 'json' | 'string'): Waking => ({
  ...{ title, codec, both: topic(codec), before: [], wakes: 'publish', waits: 'hear', after: [] },
})

const behind = (title: string, held: 'read' | 'write', waited: 'read' | 'write'): Waking => ({
  title,
  both: READ_WRITE,
  ...{ before: [`${held}Lock`], wakes: `${held}Unlock`, waits: `${waited}Lock`, after: [`${waited}Unlock`] },
  wakesSleepers: held === 'write',
})

export const WAKINGS: readonly Waking[] = [
  ofLock('lock', PLAIN),
  ofLock('non-reentrant lock', NON_REENTRANT),
  ofLock('fenced lock', FENCED),
  ofLock('fair lock', FAIR),
  ofLock('non-reentrant fair lock', NON_REENTRANT_FAIR),
  ofLock('keys of a group', keyed('a', 'b')),
  behind('writer behind a reader', 'read', 'write'),
  behind('reader behind a writer', 'write', 'read'),
  behind('writer behind a writer', 'write', 'write'),
  {
    title: 'semaphore: released',
    both: SEMAPHORE,
    ...{ before: ['trySetPermits 1', 'acquire 1'], wakes: 'release 1', waits: 'acquire 1', after: ['delete'] },
  },
  {
    title: 'semaphore: added',
    both: SEMAPHORE,
    ...{ before: ['trySetPermits 0'], wakes: 'addPermits 2', waits: 'acquire 2', after: ['delete'] },
  },
  {
    title: 'permit with an id',
    both: PERMITS,
    ...{ before: ['trySetPermits 1', 'acquire'], wakes: 'release 0', waits: 'acquire', after: ['release 1', 'delete'] },
  },
  {
    title: 'latch',
    both: LATCH,
    ...{ before: ['trySetCount 1'], wakes: 'countDown', waits: 'await', after: [] },
  },
  ofTopic('topic, JsonJacksonCodec', 'json'),
  ofTopic('topic, StringCodec', 'string'),
]

const run = (actor: Actor, name: string, step: string): Promise<unknown> => {
  const [operation = '', ...args] = step.split(' ')
  return actor.run(name, operation, args.map(Number))
}

const ROUNDS = 15

/** Most threads sleep that long after they listen, ms. */
const ASLEEP = 300

/**
 * Who waits is woken by the other side's release. A message takes below a millisecond; what a loaded machine takes may be hundreds, and
 * once in a while seconds. Where no message came, ours have it at their next poll, most often after a second, and Redisson's when the lease
 * is over: after 20 s or more.
 */
const MEDIAN = 300
const MOST = 10_000

/** One who frees, and one who waits. */
export type Pair = readonly [frees: Actor, waits: Actor]

/** ms from the release until the waiter has it, in their order; without the longest, where Redisson itself may miss one. */
export const latencies = async (redis: Arena['redis'], waking: Waking, [frees, waits]: Pair): Promise<number[]> => {
  const { title, both, before, wakes, waits: waiting, after } = waking
  const mayMiss = waking.wakesSleepers === true && waits.side === 'java'
  const found: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `${title} ${frees.side} ${waits.side} ${round}`
    for (const step of before) await run(frees, name, step)
    const had = run(waits, name, waiting).then(() => now())
    await listened(() => both.listeners(redis, name), 1)
    if (mayMiss) await sleep(ASLEEP)
    const from = now()
    await run(frees, name, wakes)
    found.push((await had) - from)
    for (const step of after) await run(waits, name, step)
  }
  return found.sort((a, b) => a - b).slice(0, mayMiss ? -1 : undefined)
}

export const DIRECTIONS = [
  ['java', 'java'],
  ['java', 'node'],
  ['node', 'java'],
  ['node', 'node'],
] as const

type Told = (direction: (typeof DIRECTIONS)[number], median: number, most: number) => void

/** Each direction is told, and was in time. */
export const inTime =
  (t: TestContext): Told =>
  ([frees, waits], median, most) => {
    t.diagnostic(`${frees} → ${waits}: ${median.toFixed(2)} ms (median), ${most.toFixed(1)} ms (most)`)
    assert.ok(median < MEDIAN && most < MOST, `${frees} → ${waits}: ${median}, ${most}`)
  }

/** In each direction; `told` gets who frees and who waits, the median and the most. */
export const everyDirection = async (
  { java, redis, url }: Pick<Arena, 'java' | 'redis' | 'url'>,
  waking: Waking,
  ours: ClientOptions,
  told: Told,
): Promise<void> => {
  const pair = async (): Promise<Record<Actor['side'], Actor>> => ({
    java: waking.both.java(await java.another({ url, codec: waking.codec })),
    node: await waking.both.node(url, ours),
  })
  const [holders, waiters] = [await pair(), await pair()]
  try {
    for (const direction of DIRECTIONS) {
      const found = await latencies(redis, waking, [holders[direction[0]], waiters[direction[1]]])
      told(direction, found[Math.floor(ROUNDS / 2)] ?? NaN, found.at(-1) ?? NaN)
    }
  } finally {
    for (const actor of [holders, waiters].flatMap((side) => Object.values(side))) await actor.close()
    await redis.flushall()
  }
}
