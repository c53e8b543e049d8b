import type { Client } from '../../client.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import type { Lock } from '../../types.js'

/** A kind of lock in the simulation: one row is all that a new one needs. */
export interface SimKind {
  readonly name: string
  /** Its scripts, each a point where faults are counted. */
  readonly scripts: readonly string[]
  readonly reentrant: boolean
  /** Its holds have fencing tokens. */
  readonly fenced?: boolean
  open(client: Client, name: string): Lock
  /** Who has it on the server now, by wire owner; `undefined` where the server keeps none. */
  holders(redis: MemoryServer, name: string): readonly string[]
  /** Who waits for it on the server, in order; those who were granted it and have not confirmed stand there too. */
  line?(redis: MemoryServer, name: string): readonly string[]
}

const hashFields = (redis: MemoryServer, name: string): string[] => {
  const value = redis.database.get(name)
  return value?.type === 'hash' ? [...value.fields.keys()] : []
}

const PLAIN = ['acquire', 'set-level', 'release', 'pass', 'renew', 'inspect', 'force-release'].map((s) => `lock/${s}`)

const FENCED = [
  ...['acquire', 'set-level', 'pass', 'inspect'].map((script) => `fenced-lock/${script}`),
  ...['release', 'renew', 'force-release'].map((script) => `lock/${script}`),
]

const waiting = (redis: MemoryServer, name: string): readonly string[] => {
  const value = redis.database.get(`redisson_lock_queue:{${name}}`)
  return value?.type === 'list' ? value.items : []
}

const FAIR = [
  ...['try', 'enqueue', 'poll', 'confirm', 'leave', 'force-release', 'inspect'].map((script) => `fair-lock/${script}`),
  ...['set-level', 'renew', 'pass'].map((script) => `lock/${script}`),
]

/** Kinds on the same keys meet one another in one history. */
export const FAMILIES: readonly (readonly SimKind[])[] = [
  [
    { name: 'lock', scripts: PLAIN, reentrant: true, open: (client, name) => client.lock(name), holders: hashFields },
    {
      name: 'nonReentrantLock',
      scripts: PLAIN,
      reentrant: false,
      open: (client, name) => client.nonReentrantLock(name),
      holders: hashFields,
    },
  ],
  [
    {
      name: 'fairLock',
      scripts: FAIR,
      reentrant: true,
      open: (client, name) => client.fairLock(name),
      holders: hashFields,
      line: waiting,
    },
    {
      name: 'nonReentrantFairLock',
      scripts: FAIR,
      reentrant: false,
      open: (client, name) => client.nonReentrantFairLock(name),
      holders: hashFields,
      line: waiting,
    },
  ],
  [
    {
      name: 'fencedLock',
      scripts: FENCED,
      reentrant: true,
      fenced: true,
      open: (client, name) => client.fencedLock(name),
      holders: hashFields,
    },
  ],
]

/** Each family has as many numbers as anybody can try. */
const NUMBERS = 1_000_000_000

/** Which kinds the history of this number is about. */
export const familyOf = (seed: number): readonly SimKind[] =>
  FAMILIES[Math.floor(seed / NUMBERS) % FAMILIES.length] as readonly SimKind[]

/** The n-th history of all: the families take turns. */
export const seedOf = (n: number): number => Math.floor(n / FAMILIES.length) + (n % FAMILIES.length) * NUMBERS
