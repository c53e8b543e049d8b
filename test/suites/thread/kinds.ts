import type { Client, Hold, Lock, Permit } from 'holdfast'

/** A name for each kind whose holds the watchdog renews. */
export type KindName = 'lock' | 'fair' | 'fenced' | 'read' | 'write' | 'keyed' | 'multi' | 'permit'

export const KINDS: readonly KindName[] = ['lock', 'fair', 'fenced', 'read', 'write', 'keyed', 'multi', 'permit']

const locks: Readonly<Record<Exclude<KindName, 'permit'>, (client: Client) => Lock>> = {
  lock: (client) => client.lock('a lock'),
  fair: (client) => client.fairLock('a fair lock'),
  fenced: (client) => client.fencedLock('a fenced lock'),
  read: (client) => client.readWriteLock('read').read,
  write: (client) => client.readWriteLock('written').write,
  keyed: (client) => client.keyedLock('a group', ['one', 'two']),
  multi: (client) => client.multiLock(client.lock('first of two'), client.fairLock('second of two')),
}

const permitOf = async (client: Client): Promise<Permit> => {
  const permits = client.permitSemaphore('permits')
  await permits.trySetPermits(1)
  return permits.acquire({ renew: true })
}

const acquires = (kind: Exclude<KindName, 'permit'>) => (client: Client) => locks[kind](client).acquire()

export const acquireOf: Readonly<Record<KindName, (client: Client) => Promise<Hold | Permit>>> = {
  ...{ lock: acquires('lock'), fair: acquires('fair'), fenced: acquires('fenced'), read: acquires('read') },
  ...{ write: acquires('write'), keyed: acquires('keyed'), multi: acquires('multi'), permit: permitOf },
}

/** What cannot be had beside it. */
export const rivalOf: Readonly<Record<KindName, (client: Client) => Promise<Hold | Permit>>> = {
  ...acquireOf,
  read: (client) => client.readWriteLock('read').write.acquire(),
}
