import type { LockKind } from './lock.contract.js'

const channel = (name: string): string =>
  name.includes('{') ? `redisson_lock__channel:${name}` : `redisson_lock__channel:{${name}}`

/** The table: each row is held to the whole contract, on every engine. */
export const kinds: readonly LockKind[] = [
  { name: 'lock', reentrant: true, make: (client, name) => client.lock(name), channel },
  { name: 'nonReentrantLock', reentrant: false, make: (client, name) => client.nonReentrantLock(name), channel },
  { name: 'fencedLock', reentrant: true, fenced: true, make: (client, name) => client.fencedLock(name), channel },
  { name: 'fairLock', reentrant: true, fair: true, make: (client, name) => client.fairLock(name), channel },
  {
    name: 'nonReentrantFairLock',
    reentrant: false,
    fair: true,
    make: (client, name) => client.nonReentrantFairLock(name),
    channel,
  },
]
