import { randomUUID } from 'node:crypto'
import { requirePeer, versionOf } from '../base/paths.js'
import type { Participant } from './participant.js'

interface NodeRedisson {
  getLock(name: string, clientId: string): { lock(): Promise<void>; unlock(): Promise<void> }
  quit(): Promise<void>
}

type NodeRedissonClass = new (config: object) => NodeRedisson

/** Its README: a lock without a lease has a watchdog. Locks of one client id are one owner, so each caller has its own. */
export const nodeRedisson: Participant = {
  name: 'node-redisson',
  family: 'node-redisson',
  file: 'bench/participants/node-redisson.ts',
  setup:
    'getLock with a client id for each owner, lock and unlock; all defaults: a watchdog, 30 s, messages by pub/sub',
  kinds: ['lock'],
  waits: true,
  memory: false,
  renews: true,
  keyOf: (name) => name,
  // The DEL that it sends after each release is not counted: its script calls one too.
  direct: [],
  version: () => versionOf('bench/peers/node_modules/node-redisson'),
  open(url, lease = 30_000) {
    const { hostname, port } = new URL(url)
    const { Redisson } = requirePeer('node-redisson') as { Redisson: NodeRedissonClass }
    const redisson = new Redisson({
      redis: { options: { host: hostname, port: Number(port) } },
      lockWatchdogTimeout: BigInt(lease),
    })
    return {
      lock: (_kind, key) => ({
        async acquire() {
          const lock = redisson.getLock(key, randomUUID())
          await lock.lock()
          return { release: () => lock.unlock() }
        },
      }),
      troubles: () => 0,
      intact: () => true,
      close: () => redisson.quit(),
    }
  },
}
