import { hash } from 'node:crypto'
import type { Client } from '../../api/client.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import {
  clientOf,
  fairDeadlines,
  keyedDeadlines,
  keyedGrants,
  keyedQueue,
  keyedSets,
  lineDeadlines,
  lineGrants,
  lineQueue,
  fairQueue,
  grantChannel,
  readWriteDeadlines,
  readWriteGrants,
  readWriteQueue,
} from '../../keys.js'
import { fieldOf } from '../../sync/keyed-lock/fields.js'
import { COUNTS } from './counts.js'
import { EXPIRABLE_LINE, PERMITS, PermitsAsLock } from './permits.js'
import { permitsHeld, permitsMade, permitsMissing, permitsOnTrial } from './permits.js'
import type { LineKeys, SimKind } from './kind.js'
import type { Family } from './family.js'

export const FAIR_LINE: LineKeys = {
  queue: fairQueue,
  deadlines: fairDeadlines,
  grants: (name, wire) => `${grantChannel(name)}:${clientOf(wire)}`,
}

const hashFields = (redis: MemoryServer, name: string): string[] => {
  const value = redis.database.get(name)
  return value?.type === 'hash' ? [...value.fields.keys()] : []
}

const PLAIN = ['acquire', 'ask', 'confirm', 'set-level', 'release', 'pass', 'renew', 'force-release']
  .map((script) => `lock/${script}`)
  .concat('fair-lock/inspect')

const FENCED = [
  ...['acquire', 'set-level', 'pass'].map((script) => `fenced-lock/${script}`),
  ...['ask', 'confirm', 'release', 'force-release', 'renew'].map((script) => `lock/${script}`),
  'fair-lock/inspect',
]

const SPIN = [
  ...['acquire', 'release', 'inspect', 'force-release'].map((script) => `spin-lock/${script}`),
  ...['set-level', 'pass', 'renew'].map((script) => `lock/${script}`),
]

const FAIR = [
  ...['try', 'enqueue', 'poll', 'confirm', 'leave', 'force-release', 'inspect'].map((script) => `fair-lock/${script}`),
  ...['set-level', 'renew', 'pass'].map((script) => `lock/${script}`),
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

const WRITE = ':write'

const fieldsOf = (redis: MemoryServer, name: string): [owner: string, value: string][] => {
  const value = redis.database.get(name)
  return value?.type === 'hash' ? [...value.fields] : []
}

const level = (name: string, owner: string, i: number): string => `{${name}}:${owner}:rwlock_timeout:${i}`

/** In its last millisecond a read has no time left, though its key is still there: its lock need not outlast it. */
const timeOf = ({ database }: MemoryServer, name: string, owner: string): 'left' | 'none left' | 'over' => {
  const key = level(name, owner, 1)
  if (database.get(key) === undefined) return 'over'
  return (database.expiry(key) ?? Infinity) > database.now() ? 'left' : 'none left'
}

const ownersOf = (redis: MemoryServer, name: string): string[] =>
  fieldsOf(redis, name)
    .map(([owner]) => owner)
    .filter((owner) => owner !== 'mode')

/** Who writes, and who reads and is alive. */
const readersAndWriters = (redis: MemoryServer, name: string): string[] =>
  ownersOf(redis, name).filter((owner) => owner.endsWith(WRITE) || timeOf(redis, name, owner) === 'left')

const endingReaders = (redis: MemoryServer, name: string): string[] =>
  ownersOf(redis, name).filter((owner) => timeOf(redis, name, owner) === 'none left')

/** Redisson counts on all of it. */
const malformed = (redis: MemoryServer, name: string): string | undefined => {
  const { database } = redis
  const fields = fieldsOf(redis, name)
  if (fields.length === 0) return undefined
  const mode = new Map(fields).get('mode')
  const owners = fields.filter(([owner]) => owner !== 'mode')
  const writers = owners.filter(([owner]) => owner.endsWith(WRITE))
  if (mode !== 'read' && mode !== 'write') return `its mode is ${mode}`
  if (owners.length === 0) return 'nobody has it, and it is there'
  if (writers.length !== (mode === 'write' ? 1 : 0)) return `${writers.length} write, its mode is ${mode}`
  const lasts = database.expiry(name)
  if (lasts === undefined) return 'it has no expiry'
  for (const [owner, count] of owners) {
    if (owner.endsWith(WRITE)) continue
    const levels = Array.from({ length: Number(count) }, (_, i) => level(name, owner, i + 1))
    const alive = levels.filter((key) => database.get(key) !== undefined)
    if (alive.length !== 0 && alive.length !== levels.length) return `${owner} has ${alive.length} of ${count} levels`
    if (database.get(level(name, owner, levels.length + 1)) !== undefined) return `${owner} has a level too many`
    if (alive.some((key) => (database.expiry(key) ?? Infinity) > lasts)) return `a read of ${owner} outlasts it`
  }
  return undefined
}

const READ_WRITE = [
  ...['acquire', 'ask', 'confirm', 'release', 'force-release', 'inspect'],
  ...['read-under', 'read-set-level', 'read-pass', 'read-renew', 'write-pass'],
]
  .map((script) => `read-write-lock/${script}`)
  .concat(['lock/set-level', 'lock/renew'])

const READ_WRITE_LINE: LineKeys = {
  queue: readWriteQueue,
  deadlines: readWriteDeadlines,
  grants: (name, wire) => `${readWriteGrants(name)}:${clientOf(wire)}${wire.endsWith(WRITE) ? WRITE : ''}`,
}

const READ_WRITE_KINDS: readonly SimKind[] = [
  {
    name: 'readWriteLock',
    reentrant: true,
    shared: true,
    open: (client, name, shared) => client.readWriteLock(name)[shared ? 'read' : 'write'],
    channel: (name) => `redisson_rwlock:{${name}}`,
    holders: readersAndWriters,
    ending: endingReaders,
    malformed,
    fair: true,
    line: READ_WRITE_LINE,
  },
]

const FAIR_READ_WRITE_KINDS: readonly SimKind[] = READ_WRITE_KINDS.map((kind) => ({
  ...kind,
  name: 'fairReadWriteLock',
  open: (client: Client, name: string, shared: boolean) =>
    client.readWriteLock(name, { fair: true })[shared ? 'read' : 'write'],
}))

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
  ...['fair-lock/inspect', 'lock/set-level', 'lock/renew'],
]

const SEMAPHORES = ['acquire', 'ask', 'leave', 'pass', 'release', 'renew', 'extend', 'retract', 'count'].map(
  (script) => `permit-semaphore/${script}`,
)

const SEMAPHORE_KINDS: readonly SimKind[] = [
  {
    name: 'permitSemaphore',
    reentrant: false,
    permits: PERMITS,
    open: (client, name) => new PermitsAsLock(client, name),
    channel: (name) => `redisson_sc:{${name}}`,
    make: permitsMade,
    holders: permitsHeld,
    malformed: permitsMissing,
    onTrial: permitsOnTrial,
    fair: false,
    permitsLine: EXPIRABLE_LINE,
  },
]

/** Two keys for each set, of which they share one: so all of them exclude one another. */
const KEYED_SETS = ['b', 'c'].map((own) => ['a', own])
const ALL_KEYS = ['a', 'b', 'c']
/** Asked for after each thing that happens: the hash takes longer than all else there. */
const FIELDS: ReadonlyMap<string, string> = new Map(ALL_KEYS.map((key) => [key, fieldOf(key)]))
const fieldAt = (key: string): string => FIELDS.get(key) as string

const holderOf = (redis: MemoryServer, name: string, key: string): string | undefined => {
  const fields = new Map(fieldsOf(redis, name))
  const owner = fields.get(fieldAt(key))
  const ends = Number(fields.get(`${fieldAt(key)}:${owner}:expire_time`))
  return ends > redis.clock.now() ? owner : undefined
}

const holdersOfKeys = (redis: MemoryServer, name: string): string[] => {
  const owners = ALL_KEYS.map((key) => holderOf(redis, name, key))
  return [...new Set(owners.filter((owner) => owner !== undefined))]
}

/** All of a set or nothing; and Redisson counts on what belongs to an owner. */
const malformedKeys = (redis: MemoryServer, name: string): string | undefined => {
  const fields = new Map(fieldsOf(redis, name))
  if (fields.size === 0) return undefined
  if (redis.database.expiry(name) === undefined) return 'it has no expiry'
  for (const key of ALL_KEYS) {
    const owner = fields.get(fieldAt(key))
    const own = [...fields.keys()].filter((field) => field.startsWith(`${fieldAt(key)}:`))
    const expected = owner === undefined ? 0 : 2
    if (own.length !== expected || own.some((field) => !field.startsWith(`${fieldAt(key)}:${owner}:`)))
      return `'${key}' is ${owner}'s, and there are ${own.join(', ')}`
  }
  for (const owner of holdersOfKeys(redis, name)) {
    const had = ALL_KEYS.filter((key) => holderOf(redis, name, key) === owner).join()
    if (!KEYED_SETS.some((set) => set.join() === had)) return `…${owner.slice(-6)} has only '${had}'`
  }
  return undefined
}

/** Which set it waits for stands beside the line. */
const KEYED_LINE: LineKeys = {
  queue: keyedQueue,
  deadlines: keyedDeadlines,
  grants: (name, wire, redis) => {
    const set = new Map(fieldsOf(redis, keyedSets(name))).get(wire) ?? ''
    return `${keyedGrants(name)}:${clientOf(wire)}:${hash('sha1', set, 'hex').slice(0, 16)}`
  },
}

const KEYED_KINDS: readonly SimKind[] = KEYED_SETS.map((set) => ({
  name: `keyedLock of ${set.join()}`,
  reentrant: true,
  // By force all keys are taken: what is left of a hold when one of them is, is for tests that know of it.
  open: (client: Client, name: string) => {
    const whole = client.keyedLock(name, ALL_KEYS)
    return Object.assign(client.keyedLock(name, set), { forceRelease: () => whole.forceRelease() })
  },
  holders: holdersOfKeys,
  malformed: malformedKeys,
  fair: true,
  line: KEYED_LINE,
}))

const KEYED = ['acquire', 'ask', 'confirm', 'set-level', 'release', 'pass', 'renew', 'inspect', 'force-release'].map(
  (script) => `keyed-lock/${script}`,
)

/** In the order of their numbers: a new one comes last, so that old numbers stay what they are. */
export const FAMILIES: readonly Family[] = [
  { name: 'plain', kinds: PLAIN_KINDS, scripts: PLAIN, strangers: false, told: true },
  { name: 'fair', kinds: FAIR_KINDS, scripts: FAIR, strangers: false, told: true },
  { name: 'mixed', kinds: FAIR_KINDS, scripts: [...FAIR, ...REDISSON], strangers: true, told: true },
  { name: 'fenced', kinds: FENCED_KINDS, scripts: FENCED, strangers: false, told: true },
  { name: 'spin', kinds: SPIN_KINDS, scripts: SPIN, strangers: false, told: false },
  { name: 'classic', kinds: CLASSIC_KINDS, scripts: CLASSIC, strangers: false, told: true },
  { name: 'read-write', kinds: READ_WRITE_KINDS, scripts: READ_WRITE, strangers: false, told: true },
  { name: 'fair-read-write', kinds: FAIR_READ_WRITE_KINDS, scripts: READ_WRITE, strangers: false, told: true },
  { name: 'semaphores', kinds: SEMAPHORE_KINDS, scripts: SEMAPHORES, strangers: false, told: true },
  { name: 'keyed', kinds: KEYED_KINDS, scripts: KEYED, strangers: false, told: true },
  ...COUNTS,
]

/** Each family has as many numbers as anybody can try. */
const NUMBERS = 1_000_000_000

/** What the history of this number is about. */
export const familyOf = (seed: number): Family => FAMILIES[Math.floor(seed / NUMBERS) % FAMILIES.length] as Family

/** The n-th history of all these families, which take turns. */
export const seedOf = (n: number, families = FAMILIES): number =>
  Math.floor(n / families.length) + FAMILIES.indexOf(families[n % families.length] as Family) * NUMBERS
