import type { Client } from '../../client.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import type { Lock } from '../../types.js'

/** A kind of lock in the simulation: one row is all that a new one needs. */
export interface SimKind {
  readonly name: string
  /** Its scripts, each a point where faults are counted. */
  readonly scripts: readonly string[]
  readonly reentrant: boolean
  open(client: Client, name: string): Lock
  /** Who has it on the server now, by wire owner; `undefined` where the server keeps none. */
  holders(redis: MemoryServer, name: string): readonly string[]
}

const hashFields = (redis: MemoryServer, name: string): string[] => {
  const value = redis.database.get(name)
  return value?.type === 'hash' ? [...value.fields.keys()] : []
}

const PLAIN = ['acquire', 'set-level', 'release', 'pass', 'renew', 'inspect', 'force-release'].map((s) => `lock/${s}`)

export const KINDS: readonly SimKind[] = [
  { name: 'lock', scripts: PLAIN, reentrant: true, open: (client, name) => client.lock(name), holders: hashFields },
  {
    name: 'nonReentrantLock',
    scripts: PLAIN,
    reentrant: false,
    open: (client, name) => client.nonReentrantLock(name),
    holders: hashFields,
  },
]
