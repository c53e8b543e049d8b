import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'

const tagged = (name: string): string => (name.includes('{') ? name : `{${name}}`)
/** Of what is holdfast's alone. */
const own = (name: string): string => (name.includes('{') ? `${name}!` : `{${name}}`)

/** Where releases of the plain lock are told. A fair lock's waiter listens there under its own owner: `<channel>:<owner>`. */
export const lockChannel = (name: string): string => `redisson_lock__channel:${tagged(name)}`

/** Who waits for a fair lock, in order. */
export const fairQueue = (name: string): string => `redisson_lock_queue:${tagged(name)}`

/** Until when each of them may be silent. */
export const fairDeadlines = (name: string): string => `redisson_lock_timeout:${tagged(name)}`

/** Where a client of ours hears that one of its waiters was granted a fair lock. */
export const grantChannel = (name: string, client: string): string => `holdfast_grant:${own(name)}:${client}`

const subscribers = async (redis: Redis, channels: readonly string[]): Promise<number[]> => {
  const reply = (await redis.pubsub('NUMSUB', ...channels)) as (string | number)[]
  return channels.map((_, index) => Number(reply[2 * index + 1]))
}

/** Where both kinds of semaphore tell of permits. */
export const semaphoreChannel = (name: string): string => `redisson_sc:${tagged(name)}`

export const latchChannel = (name: string): string => `redisson_countdownlatch__channel__{${name}}`

/** How many clients listen there. */
export const listenersOf = async (redis: Redis, channel: string): Promise<number> =>
  (await subscribers(redis, [channel]))[0] ?? 0

/** How many wait: ours in their line, Redisson's by its channel. The first of ours listens there, too, while a Redisson holds the lock. */
const waiting = async (redis: Redis, name: string, line: string, channel: string): Promise<number> => {
  const [places, holders, listening] = await Promise.all([
    redis.llen(line),
    redis.hkeys(name),
    listenersOf(redis, channel),
  ])
  const isTheirs = holders.some((holder) => /:\d{1,9}(?::write)?$/.test(holder))
  return places + listening - (places > 0 && isTheirs ? 1 : 0)
}

/** How many wait for a plain lock. */
export const linedListeners = (redis: Redis, name: string): Promise<number> =>
  waiting(redis, name, `holdfast_line:${own(name)}`, lockChannel(name))

/** How many wait for keys of a group. */
export const keyedListeners = async (redis: Redis, name: string): Promise<number> => {
  const [places, fields, listening] = await Promise.all([
    redis.llen(`holdfast_keyed_line:${own(name)}`),
    redis.hkeys(name),
    listenersOf(redis, lockChannel(name)),
  ])
  const isTheirs = fields.some((field) => /:\d{1,9}:lock_count$/.test(field))
  return places + listening - (places > 0 && isTheirs ? 1 : 0)
}

/** How many wait for either side of a read-write lock. */
export const readWriteListeners = (redis: Redis, name: string): Promise<number> =>
  waiting(redis, name, `holdfast_rwlock_queue:${own(name)}`, `redisson_rwlock:${tagged(name)}`)

/** How many stand in a fair lock's queue and would hear that it is their turn. */
export const fairListeners = async (redis: Redis, name: string): Promise<number> => {
  const owners = await redis.lrange(fairQueue(name), 0, -1)
  const heard = await Promise.all(
    owners.map((owner) =>
      subscribers(redis, [`${lockChannel(name)}:${owner}`, grantChannel(name, owner.slice(0, 36))]),
    ),
  )
  return heard.filter((counts) => counts.some((count) => count > 0)).length
}

/**
 * Ours begins its work on the word of whoever freed a lock, and stays in the line until it has confirmed that, a
 * moment later. Redisson's head leaves the queue of a fair lock when it takes the lock.
 */
export const confirmed = async (redis: Redis, name: string): Promise<void> => {
  const end = performance.now() + 10_000
  for (;;) {
    const ours = ['line', 'keyed_line', 'rwlock_queue'].map((line) => `holdfast_${line}:${own(name)}`)
    const lines = [fairQueue(name), ...ours]
    // Of a group the owners are the values.
    const [holders, ...places] = await Promise.all([
      redis.hgetall(name).then((hash) => Object.entries(hash).flat()),
      ...lines.map((line) => redis.lrange(line, 0, -1)),
    ])
    const onTrial = holders.find((holder) => places.flat().includes(holder))
    if (onTrial === undefined) return
    if (performance.now() > end) throw new Error(`${onTrial} holds '${name}' and has not confirmed it`)
    await sleep(5)
  }
}

/** Waits until so many stand in a fair lock's queue. */
export const queued = async (redis: Redis, name: string, length: number): Promise<void> => {
  const end = performance.now() + 20_000
  while ((await redis.llen(fairQueue(name))) < length) {
    if (performance.now() > end) throw new Error(`no queue of ${length} for '${name}'`)
    await sleep(2)
  }
}
