import { hash } from 'node:crypto'
import type { Client } from '../../api/client.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import { clientOf, keyedDeadlines, keyedGrants, keyedQueue, keyedSets } from '../../keys.js'
import { fieldOf } from '../../sync/keyed-lock/field-of-key.js'
import type { Family } from './family.js'
import type { LineKeys, SimKind } from './sim-kind.js'
import { fieldsOf } from './exclusive-kinds.js'

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

/** Locks of several keys of a group at once. */
export const KEYED_LOCKS: Family = { name: 'keyed', kinds: KEYED_KINDS, scripts: KEYED, strangers: false, told: true }
