import { Redis } from 'ioredis'
import { requirePeer, versionOf } from '../base/paths.js'
import type { Participant } from './participant.js'

interface Redlock {
  lock(resource: string, ttl: number): Promise<{ unlock(): Promise<unknown> }>
  on(event: 'clientError', listener: (error: Error) => void): void
}

type RedlockClass = new (clients: readonly Redis[], settings: object) => Redlock

/** README, "Configuration": as many attempts as it takes, `retryDelay` as short as a timer goes, with as much jitter. */
const SETTINGS = { retryCount: -1, retryDelay: 1, retryJitter: 1 }

export const redlock4: Participant = {
  name: 'redlock 4',
  family: 'redlock 4',
  variant: true,
  file: 'bench/participants/redlock-4.ts',
  setup: 'lock and unlock, on ioredis, one server; ttl 30 s, retryCount -1, retryDelay and retryJitter 1 ms',
  kinds: ['lock'],
  waits: true,
  memory: false,
  // One calls extend oneself.
  renews: false,
  keyOf: (name) => name,
  direct: [],
  version: () => versionOf('bench/peers/node_modules/redlock4'),
  open(url, lease = 30_000) {
    const client = new Redis(url)
    const redlock = new (requirePeer('redlock4') as RedlockClass)([client], SETTINGS)
    redlock.on('clientError', () => undefined)
    return {
      lock: (_kind, key) => ({
        async acquire() {
          const lock = await redlock.lock(key, lease)
          return { release: () => lock.unlock() }
        },
      }),
      troubles: () => 0,
      intact: () => true,
      close: () => client.disconnect(),
    }
  },
}
