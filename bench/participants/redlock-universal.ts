import { Redis } from 'ioredis'
import { requirePeer, versionOf } from '../base/paths.js'
import type { Participant } from './participant.js'

interface Lock {
  acquire(): Promise<unknown>
  release(handle: unknown): Promise<unknown>
}

interface RedlockUniversal {
  readonly IoredisAdapter: new (client: Redis) => object
  createLock(options: object): Lock
}

const OLDEST_NODE = 22

/**
 * README, "Simple Lock": it polls, so `retryDelay` is as short as a timer goes, and it tries as often as it takes.
 */
const RETRIES = { retryAttempts: 1_000_000_000, retryDelay: 1 }

export const redlockUniversal: Participant = {
  name: 'redlock-universal',
  family: 'redlock-universal',
  file: 'bench/participants/redlock-universal.ts',
  setup: 'createLock with IoredisAdapter, acquire and release; ttl 30 s, retryAttempts without end, retryDelay 1 ms',
  missing: `needs Node ${OLDEST_NODE}`,
  kinds: ['lock'],
  waits: true,
  memory: false,
  renews: false,
  keyOf: (name) => name,
  // SET … NX; its scripts call GET and DEL.
  direct: ['set'],
  version: () =>
    Number(process.versions.node.split('.')[0]) < OLDEST_NODE
      ? undefined
      : versionOf('bench/peers/node_modules/redlock-universal'),
  open(url, ttl = 30_000) {
    const { IoredisAdapter, createLock } = requirePeer('redlock-universal') as RedlockUniversal
    const client = new Redis(url)
    const adapter = new IoredisAdapter(client)
    return {
      lock: (_kind, key) => {
        const lock = createLock({ adapter, key, ttl, ...RETRIES })
        return {
          async acquire() {
            const handle = await lock.acquire()
            return { release: () => lock.release(handle) }
          },
        }
      },
      troubles: () => 0,
      intact: () => true,
      close: () => client.disconnect(),
    }
  },
}
