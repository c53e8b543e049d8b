import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import type { HistoryEvent, Violation, WorldEvent } from 'holdfast/testing'
import { checkHistory } from 'holdfast/testing'
import { Redis } from 'ioredis'
import { RECOVERY } from '../../soak/settings.js'
import { seeded } from '../../../support/random.js'
import { startRedis } from '../../../support/redis-server.js'
import { hearCalls, lastFacts } from './last-facts.js'
import { fairQueue } from './names.js'
import { now } from './redisson.js'
import { LEASE, NAME, SOAKED, type Soaked } from './soak-kinds.js'
import { ALLOWANCE, Seat } from './soak-seats.js'
import { callsOf, type Life } from './work-history.js'

/** A moment comes each so many ms; of a hundred moments so many bring a fault. */
const MOMENT = 300
/** How long a process stands still at most: longer than a lease, and than a trial. */
const STOPPED = 5000
const FAULTS = [
  ['kill', 'node', 5],
  ['stop', 'node', 3],
  ['kill', 'java', 1.5],
] as const
/** Its allowance, from the next poll of ours on; all of ours may be stopped just then. */
const DEAD_HEAD = ALLOWANCE + 1000 + STOPPED + RECOVERY

/** How long what the dead left may stay after the last visit, ms: a hold has a lease, a turn is kept for less than 3 s. */
const REMAINS = 2 * LEASE + 2000

export interface SoakOptions {
  readonly kind: Soaked
  /** What part of the visits reads, where that can be. */
  readonly reads?: number | undefined
  readonly seconds: number
  readonly seed: number
  /** How many processes of each side. */
  readonly java: number
  readonly node: number
  /** Whether Redisson's are killed too. */
  readonly killJava: boolean
}

export interface Outcome extends SoakOptions {
  readonly lives: readonly Life[]
  readonly history: readonly HistoryEvent[]
  readonly faults: ReadonlyMap<string, number>
  readonly violations: readonly Violation[]
  /** Keys that stay on the server. */
  readonly left: readonly string[]
  readonly mishaps: readonly string[]
  /** What was known at last of those who did not come to an end. */
  readonly facts: readonly string[]
  /** Of the fair lock: for how long a dead waiter of Redisson's was the head of its queue at most while it was free, ms. */
  readonly deadHead: number | undefined
}

/** Lets faults happen until the time is over. */
const disturb = async (seats: readonly Seat[], end: number, random: () => number, world: WorldEvent[]) => {
  const counts = new Map<string, number>()
  const going: Promise<void>[] = []
  for (; now() < end; await sleep(MOMENT)) {
    let draw = 100 * random()
    const fault = FAULTS.find(([, , share]) => (draw -= share) < 0)
    if (fault === undefined) continue
    const [what, side] = fault
    const among = seats.filter((seat) => seat.side === side)
    const seat = among[Math.floor(random() * among.length)]
    if (seat === undefined) continue
    counts.set(`${what} ${side}`, (counts.get(`${what} ${side}`) ?? 0) + 1)
    const ms = random() < 0.5 ? 50 + 450 * random() : 500 + (STOPPED - 500) * random()
    going.push(what === 'kill' ? seat.kill() : seat.stop(ms, world))
  }
  await Promise.all(going)
  return counts
}

/** While the lock is free and the head of the queue a dead one of Redisson's, all wait: for how long at most. */
const watchDeadHeads = async (redis: Redis, seats: readonly Seat[], world: WorldEvent[], over: () => boolean) => {
  const note = 'a dead waiter of Redisson’s is the head of the queue'
  let [from, last, since, longest]: [number | undefined, string | null, number, number] = [undefined, null, 0, 0]
  for (; !over(); await sleep(20)) {
    const at = now()
    const [[, head], [, held]] = (await redis.multi().lindex(fairQueue(NAME), 0).exists(NAME).exec()) as [
      unknown,
      unknown,
    ][] as [[unknown, string | null], [unknown, number]]
    const dead = seats
      .flatMap(({ lives }) => lives)
      .find(({ client, diedAt }) => diedAt !== undefined && head?.startsWith(`${client}:`))
    if (dead !== undefined && held === 0) {
      from ??= at
      if (head !== last) [last, since] = [head, at]
      longest = Math.max(longest, at - since)
    } else if (from !== undefined) {
      world.push({ at: from, to: now() + RECOVERY, what: 'trouble', note })
      from = undefined
    }
  }
  return longest
}

/** All that the server knows. */
const stateOf = async (redis: Redis): Promise<string[]> => {
  const told: string[] = [
    `server time ${(await redis.time()).join('.')}, channels ${(await redis.pubsub('CHANNELS', '*')).join(' ')}`,
  ]
  for (const key of (await redis.keys('*')).sort()) {
    const type = await redis.type(key)
    const content =
      type === 'list'
        ? await redis.lrange(key, 0, -1)
        : type === 'zset'
          ? await redis.zrange(key, 0, '-1', 'WITHSCORES')
          : type === 'hash'
            ? await redis.hgetall(key)
            : await redis.get(key)
    told.push(`${key} (${await redis.pttl(key)} ms): ${JSON.stringify(content)}`)
  }
  return told
}

/** What stays on the server when everybody has gone, and one more has been there. */
const leftovers = async (redis: Redis, url: string, kind: Soaked): Promise<string[]> => {
  const before = await stateOf(redis)
  const client = await connect({ url, presence: false })
  try {
    await SOAKED[kind].sweep(client)
  } catch (error) {
    return [String(error), ...before.map((line) => `before: ${line}`), ...(await stateOf(redis))]
  } finally {
    await client.close()
  }
  const keys = async (): Promise<string[]> =>
    (await redis.keys('*')).filter((key) => !key.startsWith('redisson_unlock_latch:'))
  for (const end = now() + REMAINS; now() < end && (await keys()).length > 0;) await sleep(50)
  return (await keys()).length === 0 ? [] : stateOf(redis)
}

/** Processes of both sides take one lock, and some are killed and stopped. */
export const mixedSoak = async (options: SoakOptions): Promise<Outcome> => {
  const { kind, reads, seconds, seed, java, node } = options
  const server = await startRedis()
  const { url } = server
  const redis = new Redis(url)
  const world: WorldEvent[] = []
  const end = now() + 1000 * seconds
  const sides = [...Array<'java'>(java).fill('java'), ...Array<'node'>(node).fill('node')]
  const seats = sides.map((side, index) => new Seat({ url, kind, reads, index, side, seed: 1000 * seed, end }))
  const calls = await hearCalls(redis, NAME)
  const facts: string[] = []
  const look: Parameters<Seat['end']>[1] = async (life, pid) => {
    facts.push(...(await lastFacts(redis, NAME, calls.at, { ...life, pid })))
  }
  let over = false
  const watching = kind === 'fair' ? watchDeadHeads(redis, seats, world, () => over) : undefined
  try {
    await Promise.all(seats.map((seat) => seat.begin()))
    const faulty = options.killJava ? seats : seats.filter((seat) => seat.side === 'node')
    const faults = await disturb(faulty, end, seeded(seed), world)
    await Promise.all(seats.map((seat) => seat.end(60_000, look)))
    over = true
    const deadHead = await watching
    const lives = seats.flatMap((seat) => seat.lives)
    const history = [...lives.flatMap((life) => callsOf(life, NAME, LEASE)), ...world]
    const violations = checkHistory(history, { forgottenAfter: SOAKED[kind].forgottenAfter })
    const late =
      deadHead !== undefined && deadHead > DEAD_HEAD
        ? [`a dead waiter of Redisson’s stopped all for ${deadHead.toFixed(0)} ms`]
        : []
    const mishaps = [
      ...seats.flatMap((seat) => seat.mishaps),
      ...lives.flatMap((life) => strangeRefusals(life, world)),
      ...late,
    ]
    const left = await leftovers(redis, url, kind)
    return { ...options, deadHead, lives, history, faults, violations, left, mishaps, facts }
  } finally {
    over = true
    for (const seat of seats) await seat.end(0)
    calls.stop()
    redis.disconnect()
    await server.stop()
  }
}

const EXPECTED = ['timeout', 'abort']
/** Who stood still when it was granted the lock reads of it when that is over. */
const LATE = /^LockLostError: .* before the server's answer came$/

const strangeRefusals = ({ who, events }: Life, world: readonly WorldEvent[]): string[] =>
  events.flatMap(({ at, event, reason = '' }) => {
    if (event !== 'refused' || EXPECTED.includes(reason)) return []
    const troubled = world.some(({ process, at: from, to }) => process === who && from <= at && at <= to)
    return troubled && LATE.test(reason) ? [] : [`${who}: ${reason}`]
  })
