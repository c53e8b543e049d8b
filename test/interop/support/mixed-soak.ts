import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import type { HistoryEvent, Violation, WorldEvent } from 'holdfast/testing'
import { checkHistory } from 'holdfast/testing'
import { Redis } from 'ioredis'
import { RECOVERY } from '../../soak/settings.js'
import { seeded } from '../../support/random.js'
import { startRedis } from '../../support/redis-server.js'
import { fairQueue } from './names.js'
import { now } from './redisson.js'
import { ALLOWANCE, LEASE, NAME, Seat, WORKERS } from './soak-seats.js'
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
/**
 * A process of ours that is stopped has the lock on trial for 3 s when its turn comes, for each of its workers if Redisson's
 * scripts are the first to see that the trial is over. What dead waiters of Redisson's cost is not counted in.
 */
const FORGOTTEN_AFTER = WORKERS * 3000 + 2 * LEASE + 3000

/** Its allowance, from the next poll of ours on; all of ours may be stopped just then. */
const DEAD_HEAD = ALLOWANCE + 1000 + STOPPED + RECOVERY

export interface SoakOptions {
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
  /** For how long a dead waiter of Redisson's was the head of a free lock's queue at most, ms. */
  readonly deadHead: number
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

/** What the dead left in the queue goes when somebody comes whose turn it would be. */
const leftovers = async (redis: Redis, url: string): Promise<string[]> => {
  const client = await connect({ url, presence: false })
  try {
    await client.fairLock(NAME).using({ wait: 60_000 }, () => undefined)
  } finally {
    await client.close()
  }
  await sleep(100)
  return (await redis.keys('*')).filter((key) => !key.startsWith('redisson_unlock_latch:'))
}

/** Processes of both sides take one fair lock, and some are killed and stopped. */
export const mixedSoak = async (options: SoakOptions): Promise<Outcome> => {
  const { seconds, seed, java, node } = options
  const server = await startRedis()
  const { url } = server
  const redis = new Redis(url)
  const world: WorldEvent[] = []
  const end = now() + 1000 * seconds
  const sides = [...Array<'java'>(java).fill('java'), ...Array<'node'>(node).fill('node')]
  const seats = sides.map((side, index) => new Seat({ url, index, side, seed: 1000 * seed, end }))
  let over = false
  const watching = watchDeadHeads(redis, seats, world, () => over)
  try {
    await Promise.all(seats.map((seat) => seat.begin()))
    const faulty = options.killJava ? seats : seats.filter((seat) => seat.side === 'node')
    const faults = await disturb(faulty, end, seeded(seed), world)
    await Promise.all(seats.map((seat) => seat.end(60_000)))
    over = true
    const deadHead = await watching
    const lives = seats.flatMap((seat) => seat.lives)
    const history = [...lives.flatMap((life) => callsOf(life, NAME, LEASE)), ...world]
    const violations = checkHistory(history, { forgottenAfter: FORGOTTEN_AFTER })
    const late = deadHead > DEAD_HEAD ? [`a dead waiter of Redisson’s stopped all for ${deadHead.toFixed(0)} ms`] : []
    const mishaps = [
      ...seats.flatMap((seat) => seat.mishaps),
      ...lives.flatMap((life) => strangeRefusals(life, world)),
      ...late,
    ]
    return { ...options, deadHead, lives, history, faults, violations, left: await leftovers(redis, url), mishaps }
  } finally {
    over = true
    for (const seat of seats) await seat.end(0)
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
