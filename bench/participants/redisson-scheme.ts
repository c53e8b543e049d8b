import { randomUUID } from 'node:crypto'
import { Redis } from 'ioredis'
import { fairCall, fairDeadlines, fairQueue } from '#src/keys.js'
import { versionOf } from '../base/paths.js'
import type { Held, Participant } from './participant.js'

/** What is overdue at the head of the line goes; the time is the client's. */
const PRUNE = `
local lock, queue, deadlines = KEYS[1], KEYS[2], KEYS[3]
local owner, now = ARGV[1], tonumber(ARGV[2])
while true do
  local head = redis.call('LINDEX', queue, 0)
  local deadline = head and redis.call('ZSCORE', deadlines, head)
  if not deadline or tonumber(deadline) > now then break end
  redis.call('ZREM', deadlines, head)
  redis.call('LPOP', queue)
end`

/** Nil: held. Else the ms until it is worth while to ask again. */
const ACQUIRE = `${PRUNE}
local lease, allowance = ARGV[3], tonumber(ARGV[4])
local head = redis.call('LINDEX', queue, 0)
if redis.call('EXISTS', lock) == 0 and (not head or head == owner) then
  redis.call('LPOP', queue)
  redis.call('ZREM', deadlines, owner)
  for _, other in ipairs(redis.call('ZRANGE', deadlines, 0, -1)) do
    redis.call('ZINCRBY', deadlines, -allowance, other)
  end
  redis.call('HSET', lock, owner, 1)
  redis.call('PEXPIRE', lock, lease)
  return nil
end
if redis.call('ZSCORE', deadlines, owner) then
  return math.max(0, redis.call('PTTL', lock))
end
local tail = redis.call('LINDEX', queue, -1)
local score = tail and redis.call('ZSCORE', deadlines, tail)
local left = score and tonumber(score) - now or redis.call('PTTL', lock)
redis.call('ZADD', deadlines, left + allowance + now, owner)
redis.call('RPUSH', queue, owner)
return left`

const RELEASE = `${PRUNE}
local channel = ARGV[3]
if redis.call('HDEL', lock, owner) == 0 then return nil end
local head = redis.call('LINDEX', queue, 0)
if head then redis.call('PUBLISH', channel .. head, '0') end
return 1`

/** One that may have the lock, with a channel of its own. */
interface Owner {
  readonly id: string
  subscribed: boolean
  calls: number
  wake: () => void
}

/** Until somebody calls, or for so long; negative: without limit. */
const called = (owner: Owner, ms: number): Promise<void> =>
  new Promise((resolve) => {
    if (owner.calls > 0 || ms === 0) resolve()
    else {
      const timer = ms > 0 ? setTimeout(resolve, ms) : undefined
      owner.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    }
  })

/** One client: its owners, and how they take and free a lock. */
class Scheme {
  readonly #client: Redis
  readonly #ear: Redis
  readonly #lease: number
  readonly #allowance: number
  readonly #keeps: boolean
  readonly #id = randomUUID()
  readonly #idle = new Map<string, Owner[]>()
  readonly #owners = new Map<string, Owner>()
  #count = 0

  constructor(url: string, { lease, allowance, keeps }: SchemeOptions) {
    this.#client = new Redis(url)
    this.#ear = new Redis(url)
    this.#lease = lease
    this.#allowance = allowance
    this.#keeps = keeps
    this.#client.defineCommand('take', { numberOfKeys: 3, lua: ACQUIRE })
    this.#client.defineCommand('free', { numberOfKeys: 3, lua: RELEASE })
    this.#ear.on('message', (channel: string) => {
      const owner = this.#owners.get(channel)
      if (owner === undefined) return
      owner.calls++
      owner.wake()
    })
  }

  #owner(key: string): Owner {
    const owner = { id: `${this.#id}:${(this.#count += 1)}`, subscribed: false, calls: 0, wake: () => undefined }
    this.#owners.set(fairCall(key, owner.id), owner)
    return owner
  }

  /** Before an owner sleeps; what was told before that is not heard, and so it asks again. */
  async #subscribe(key: string, owner: Owner): Promise<void> {
    await this.#ear.subscribe(fairCall(key, owner.id))
    owner.subscribed = true
  }

  #unsubscribe(key: string, owner: Owner): void {
    if (this.#keeps || !owner.subscribed) return
    owner.subscribed = false
    void this.#ear.unsubscribe(fairCall(key, owner.id))
  }

  async acquire(key: string): Promise<Held> {
    const { take, free } = this.#client as unknown as Record<string, (...args: unknown[]) => Promise<number | null>>
    const keys = [key, fairQueue(key), fairDeadlines(key)]
    const idle = this.#idle.get(key) ?? []
    this.#idle.set(key, idle)
    const owner = idle.pop() ?? this.#owner(key)
    if (this.#keeps && !owner.subscribed) await this.#subscribe(key, owner)
    for (;;) {
      owner.calls = 0
      const left = await take!.call(this.#client, ...keys, owner.id, Date.now(), this.#lease, this.#allowance)
      if (left === null) break
      if (owner.subscribed) await called(owner, left)
      else await this.#subscribe(key, owner)
    }
    this.#unsubscribe(key, owner)
    return {
      release: async () => {
        await free!.call(this.#client, ...keys, owner.id, Date.now(), fairCall(key, ''))
        idle.push(owner)
      },
    }
  }

  close(): void {
    this.#client.disconnect()
    this.#ear.disconnect()
  }
}

interface SchemeOptions {
  readonly lease: number
  /** How long each is let be silent in the line, ms. */
  readonly allowance: number
  /** Whether an owner keeps its subscription for its next turn. */
  readonly keeps: boolean
}

export const openScheme = (url: string, options: Partial<SchemeOptions> = {}) => {
  const scheme = new Scheme(url, { lease: 30_000, allowance: 300_000, keeps: false, ...options })
  return {
    lock: (_kind: unknown, key: string) => ({ acquire: () => scheme.acquire(key) }),
    troubles: () => 0,
    intact: () => true,
    close: () => {
      scheme.close()
    },
  }
}

const participant = (name: string, keeps: boolean, setup: string): Participant => ({
  name,
  family: 'scheme',
  variant: keeps,
  file: 'bench/participants/redisson-scheme.ts',
  setup: `the same steps as Redisson's fair lock, in our own words, through ioredis with default options; renews nothing; ${setup}`,
  kinds: ['fairLock'],
  waits: true,
  memory: false,
  renews: false,
  keyOf: (key) => key,
  direct: [],
  version: () => versionOf('node_modules/ioredis'),
  open: (url, lease) => openScheme(url, { keeps, ...(lease !== undefined && { lease }) }),
})

/**
 * How Redisson's fair lock works since 3.46, with no library between: who frees it calls the next one, who then takes it.
 * As Redisson does, each one who waits subscribes, asks again, and unsubscribes when it has the lock.
 */
export const redissonScheme = participant("Redisson's scheme", false, 'subscribes anew for each wait, as Redisson does')

/** Kinder than Redisson: an owner need not ask a second time before it sleeps. */
export const redissonSchemeKept = participant(
  "Redisson's scheme, subscriptions kept",
  true,
  'keeps its subscriptions, as Redisson does not',
)
