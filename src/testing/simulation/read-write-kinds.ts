import type { Client } from '../../api/client.js'
import type { MemoryServer } from '../../engine/memory/server.js'
import { clientOf, readWriteDeadlines, readWriteGrants, readWriteQueue } from '../../keys.js'
import type { Family } from './family.js'
import type { LineKeys, SimKind } from './sim-kind.js'
import { fieldsOf } from './exclusive-kinds.js'

const WRITE = ':write'

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
  ...['read-under-write', 'read-set-level', 'read-pass', 'read-renew', 'write-pass'],
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

export const READ_WRITE_LOCKS: readonly Family[] = [
  { name: 'read-write', kinds: READ_WRITE_KINDS, scripts: READ_WRITE, strangers: false, told: true },
  { name: 'fair-read-write', kinds: FAIR_READ_WRITE_KINDS, scripts: READ_WRITE, strangers: false, told: true },
]
