import type { Lock } from 'holdfast'
import type { Client } from '../../support/engines.js'
import type { LockKind } from './lock.contract.js'
import { keyedLockLines, readLockLines, spinLockLines } from './lock/lines.js'

const channel = (name: string): string =>
  name.includes('{') ? `redisson_lock__channel:${name}` : `redisson_lock__channel:{${name}}`

const fair = (client: Client, name: string): Lock => client.fairLock(name)

/** By the rules of older Redissons; 3.16 has those of 3.17. */
const classic = (['3.8', '3.17'] as const).map((redisson) => ({
  ...{ name: `fairLock of ${redisson}`, reentrant: true, fair: true, make: fair, channel },
  options: { redisson },
}))

/** The table: each row is held to the whole contract. */
export const kinds: readonly LockKind[] = [
  { name: 'lock', reentrant: true, whole: true, make: (client, name) => client.lock(name), channel },
  { name: 'nonReentrantLock', reentrant: false, make: (client, name) => client.nonReentrantLock(name), channel },
  { name: 'fencedLock', reentrant: true, fenced: true, make: (client, name) => client.fencedLock(name), channel },
  {
    ...{ name: 'spinLock', reentrant: true, patience: 150, lines: spinLockLines, channel },
    make: (client, name) => client.spinLock(name),
  },
  { name: 'fairLock', reentrant: true, whole: true, fair: true, make: fair, channel },
  {
    name: 'nonReentrantFairLock',
    reentrant: false,
    fair: true,
    make: (client, name) => client.nonReentrantFairLock(name),
    channel,
  },
  ...classic,
  {
    ...{ name: 'keyedLock', reentrant: true, keys: ['a', 'b'], lines: keyedLockLines, channel },
    make: (client, name) => client.keyedLock(name, ['b', 'a']),
  },
  ...(['multiLock', 'redLock'] as const).map((name) => ({
    ...{ name, reentrant: true, several: true, patience: 150, channel },
    make: (client: Client, of: string) => client[name](client.lock(of)),
  })),
  {
    name: 'readWriteLock.read',
    whole: true,
    reentrant: true,
    mode: 'read',
    make: (client, name) => client.readWriteLock(name).read,
    lines: readLockLines,
    channel: (name) => (name.includes('{') ? `redisson_rwlock:${name}` : `redisson_rwlock:{${name}}`),
  },
  {
    name: 'readWriteLock.write',
    whole: true,
    reentrant: true,
    mode: 'write',
    make: (client, name) => client.readWriteLock(name).write,
    channel: (name) => (name.includes('{') ? `redisson_rwlock:${name}` : `redisson_rwlock:{${name}}`),
  },
  ...(['read', 'write'] as const).map((mode) => ({
    name: `fairReadWriteLock.${mode}`,
    queues: true,
    // It goes the ways of the fair lock and of the other read-write lock.
    reentrant: true,
    mode,
    make: (client: Client, name: string) => client.readWriteLock(name, { fair: true })[mode],
    channel: (name: string) => (name.includes('{') ? `redisson_rwlock:${name}` : `redisson_rwlock:{${name}}`),
  })),
]

/** So that no test file takes too long: each has a part of the table, and all of them have it all. */
export type Group = 'whole' | 'read-write' | 'by script'

const groupOf = ({ mode, whole }: LockKind): Group =>
  mode !== undefined ? 'read-write' : whole === true ? 'whole' : 'by script'

export const kindsOf = (group: Group): readonly LockKind[] => kinds.filter((kind) => groupOf(kind) === group)
