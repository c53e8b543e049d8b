import type { Link } from '../engine/link.js'
import type { Clock } from './clock.js'
import { replicasIn } from './replicas.js'

/** What is known of the server; everything is optional, for it may refuse to say. */
export interface ServerFacts {
  readonly version: string | undefined
  /** Whether releases are told by SPUBLISH, as Redisson decides it. */
  readonly sharded: boolean
  /** How many replicas the server has; undefined: it cannot have any, or would not say. */
  readonly replicas: number | undefined
  /** What is unsafe about this server, in words. */
  readonly warnings: readonly string[]
  /** What can take fencing tokens back: only who uses them needs to know. */
  readonly fencing: readonly string[]
}

/** How far a clock may be off before it is worth a warning. */
const CLOCK_OFF = 1000

export const readFacts = async (link: Link, clock: Clock): Promise<ServerFacts> => {
  const before = clock.now()
  const [info, time, shards] = await Promise.all([
    link.command(['INFO'], { route: '' }).catch(() => ''),
    link.command(['TIME'], { route: '' }).catch(() => undefined),
    link.cluster ? link.command(['PUBSUB', 'SHARDNUMSUB']).then(yes, no) : false,
  ])
  const fields = readInfo(typeof info === 'string' ? info : '')
  const warnings: string[] = []
  const policy = fields.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') warnings.push(evicting(policy))
  if (fields.get('role') === 'slave') warnings.push('the server is a replica: it refuses every lock (READONLY)')
  if (fields.get('redis_mode') === 'cluster' && !link.cluster) warnings.push(ONE_NODE)
  if (link.cluster && !shards) warnings.push(UNCOUNTED)
  const off = clockOff(time, before, clock.now())
  if (Math.abs(off) > CLOCK_OFF) {
    warnings.push(`the server's clock is ${Math.abs(off)} ms ${off > 0 ? 'ahead of' : 'behind'} this machine's`)
  }
  return {
    replicas: replicasIn(String(info)),
    version: fields.get('redis_version'),
    sharded: shards,
    warnings,
    fencing: rewinding(fields),
  }
}

const ONE_NODE =
  'the server is a node of a cluster, connected to as if it were alone: it refuses the names of other nodes (MOVED); ' +
  'connect by redis+cluster:'
const UNCOUNTED =
  'the cluster has no sharded pub/sub: a release knows only of those who listen at its own node, so that others may wait for a poll'

const yes = (): boolean => true
const no = (): boolean => false

const evicting = (policy: string): string =>
  policy.startsWith('volatile')
    ? `maxmemory-policy is ${policy}: when memory is short the server evicts keys that expire, and locks are such keys`
    : `maxmemory-policy is ${policy}: when memory is short the server evicts any key, locks among them`

/** The counter of a fenced lock never expires: what can lose it is eviction of any key, or a restart. */
const rewinding = (fields: ReadonlyMap<string, string>): string[] => {
  const policy = fields.get('maxmemory_policy') ?? ''
  const evicted = policy.startsWith('allkeys')
    ? [`maxmemory-policy is ${policy}: a fencing counter that the server evicts begins at 1 again`]
    : []
  const forgotten =
    fields.get('aof_enabled') === '0'
      ? ['the server keeps no append-only file: when it restarts, fencing tokens go back to its last snapshot, or to 1']
      : []
  return [...evicted, ...forgotten]
}

/** ms that the server is ahead, after allowing for the time that its answer took. */
const clockOff = (time: unknown, before: number, after: number): number => {
  if (!Array.isArray(time)) return 0
  const server = Number(time[0]) * 1000 + Math.floor(Number(time[1]) / 1000)
  if (server > after) return server - after
  return server < before ? server - before : 0
}

const readInfo = (text: string): Map<string, string> => {
  const fields = new Map<string, string>()
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1))
  }
  return fields
}
