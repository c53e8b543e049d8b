import type { Client } from '../../api/client.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import { clientOf, fairDeadlines, fairQueue, grantChannel, lineDeadlines, lineGrants, lineQueue } from '../../keys.js'
import type { Family } from './family.js'
import type { LineKeys, SimKind } from './sim-kind.js'

export const FAIR_LINE: LineKeys = {
  queue: fairQueue,
  deadlines: fairDeadlines,
  grants: (name, wire) => `${grantChannel(name)}:${clientOf(wire)}`,
}

/** What a hash on the server has. */
export const fieldsOf = (redis: MemoryServer, name: string): [field: string, value: string][] => {
  const value = redis.database.get(name)
  return value?.type === 'hash' ? [...value.fields] : []
}

const hashFields = (redis: MemoryServer, name: string): string[] => fieldsOf(redis, name).map(([field]) => field)

const PLAIN = ['acquire', 'ask', 'confirm', 'set-level', 'release', 'pass', 'renew', 'force-release']
  .map((script) => `lock/${script}`)
  .concat('lock/inspect')

const FENCED = [
  ...['acquire', 'set-level', 'pass'].map((script) => `fenced-lock/${script}`),
  ...['ask', 'confirm', 'release', 'force-release', 'renew'].map((script) => `lock/${script}`),
  'lock/inspect',
]

const SPIN = [
  ...['acquire', 'release', 'inspect', 'force-release'].map((script) => `spin-lock/${script}`),
  ...['set-level', 'pass', 'renew'].map((script) => `lock/${script}`),
]

const FAIR = [
  ...['try', 'enqueue', 'poll', 'confirm', 'leave', 'force-release'].map((script) => `fair-lock/${script}`),
  ...['set-level', 'renew', 'pass', 'inspect'].map((script) => `lock/${script}`),
]

/** An expiry by a multi-lock is for calm histories: it may shorten a lease that is another's by then, whoever that is. */
const REDISSON = ['acquire', 'try', 'cancel', 'unlock', 'force-release', 'renew'].map((script) => `redisson/${script}`)

const PLAIN_LINE: LineKeys = {
  queue: lineQueue,
  deadlines: lineDeadlines,
  grants: (name, wire) => `${lineGrants(name)}:${clientOf(wire)}`,
}

/** First come, first served among processes. */
const PLAIN_KINDS: readonly SimKind[] = [
  {
    name: 'lock',
    reentrant: true,
    open: (client, name) => client.lock(name),
    holders: hashFields,
    fair: true,
    line: PLAIN_LINE,
  },
  {
    name: 'nonReentrantLock',
    reentrant: false,
    open: (client, name) => client.nonReentrantLock(name),
    holders: hashFields,
    fair: true,
    line: PLAIN_LINE,
  },
]

const FAIR_KINDS: readonly SimKind[] = [
  {
    name: 'fairLock',
    reentrant: true,
    open: (client, name) => client.fairLock(name),
    holders: hashFields,
    fair: true,
  },
  {
    name: 'nonReentrantFairLock',
    reentrant: false,
    open: (client, name) => client.nonReentrantFairLock(name),
    holders: hashFields,
    fair: true,
  },
]

const FENCED_KINDS: readonly SimKind[] = [
  {
    name: 'fencedLock',
    reentrant: true,
    fenced: true,
    open: (client, name) => client.fencedLock(name),
    holders: hashFields,
    fair: true,
    line: PLAIN_LINE,
  },
]

const SPIN_KINDS: readonly SimKind[] = [
  {
    name: 'spinLock',
    reentrant: true,
    patience: 150,
    open: (client, name) => client.spinLock(name),
    holders: hashFields,
    fair: false,
  },
]

/** By the rules of older Redissons, also of different ones on one lock; the dead are not waited for as long as theirs are. */
const CLASSIC_KINDS: readonly SimKind[] = (['3.8', '3.17'] as const).map((redisson) => ({
  name: `fairLock of ${redisson}`,
  reentrant: true,
  open: (client: Client, name: string) => client.fairLock(name),
  holders: hashFields,
  fair: true,
  // A hand-over may drop who lives, and who lives finds out when it asks again.
  patience: 1100,
  options: { redisson, fairWaiterTimeout: 3000 },
}))

const CLASSIC = [
  ...['ask', 'leave', 'force-release'].map((script) => `classic-fair-lock/${script}`),
  ...['lock/inspect', 'lock/set-level', 'lock/renew'],
]

/** Locks that one owner has at a time. */
export const LOCKS: readonly Family[] = [
  { name: 'plain', kinds: PLAIN_KINDS, scripts: PLAIN, strangers: false, told: true },
  { name: 'fair', kinds: FAIR_KINDS, scripts: FAIR, strangers: false, told: true },
  { name: 'mixed', kinds: FAIR_KINDS, scripts: [...FAIR, ...REDISSON], strangers: true, told: true },
  { name: 'fenced', kinds: FENCED_KINDS, scripts: FENCED, strangers: false, told: true },
  { name: 'spin', kinds: SPIN_KINDS, scripts: SPIN, strangers: false, told: false },
  { name: 'classic', kinds: CLASSIC_KINDS, scripts: CLASSIC, strangers: false, told: true },
]
