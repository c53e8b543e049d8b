import { Redis } from 'ioredis'
import { requirePeer, versionOf } from '../base/paths.js'
import type { Held, Participant } from './participant.js'

/** What is used of it. */
interface Mutex extends Held {
  readonly isAcquired: boolean
  acquire(): Promise<void>
}

interface RedisSemaphore {
  Mutex: new (client: Redis, key: string, options: object) => Mutex
  Semaphore: new (client: Redis, key: string, limit: number, options: object) => Mutex
}

/**
 * README of redis-semaphore, sections "Mutex" and "Semaphore": one such object per owner; `lockTimeout` as long as our lease,
 * `acquireTimeout` without limit, `retryInterval` as short as a timer goes: it polls, and polls soonest that way; or longer, where a
 * scenario says so, since polls of very many clients leave no time for anything else.
 * `refreshInterval` is left as it is, 0.8 of the lease.
 * The README says nothing of ioredis' auto-pipelining, which helps whoever sends much at once: both are measured.
 */
const redisSemaphoreWith = (name: string, enableAutoPipelining: boolean): Participant => ({
  name,
  family: 'redis-semaphore',
  variant: enableAutoPipelining,
  file: 'bench/participants/redis-semaphore.ts',
  setup: `Mutex, or Semaphore, on ioredis${enableAutoPipelining ? ' with enableAutoPipelining' : ''}; lockTimeout 30 s, retryInterval 1 ms (its README, "Mutex"), in P longer`,
  kinds: ['lock', 'semaphore'],
  waits: true,
  memory: false,
  renews: true,
  keyOf: (name) => `mutex:${name}`,
  // SET … NX to acquire; its scripts call GET and DEL.
  direct: ['set'],
  version: () => versionOf('bench/peers/node_modules/redis-semaphore'),
  async open(url, lockTimeout = 30_000, retryInterval = 1) {
    const { Mutex, Semaphore } = requirePeer('redis-semaphore') as RedisSemaphore
    const client = new Redis(url, { enableAutoPipelining })
    // Connected, as ours is when it is open.
    await client.ping()
    let troubles = 0
    const options = { acquireTimeout: Infinity, retryInterval, lockTimeout, onLockLost: () => troubles++ }
    return {
      lock: (kind, key, places = 1) => ({
        async acquire() {
          const mutex =
            kind === 'semaphore' ? new Semaphore(client, key, places, options) : new Mutex(client, key, options)
          await mutex.acquire()
          return mutex
        },
      }),
      troubles: () => troubles,
      intact: (held) => (held as Mutex).isAcquired,
      close: () => client.disconnect(),
    }
  },
})

export const redisSemaphore = redisSemaphoreWith('redis-semaphore', false)
export const redisSemaphorePipelined = redisSemaphoreWith('redis-semaphore, auto-pipelining', true)
