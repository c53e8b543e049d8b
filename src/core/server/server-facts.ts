import type { Link } from '../../engine/link.js'
import { type Shape, digits, list, text, tuple } from '../../lua/reply-shape.js'
import type { Clock } from '../../base/clock.js'
import { replicasIn } from './replicas.js'
import { textOf } from '../../thrown.js'

/** What is known about the server. It may refuse to answer any of the questions. */
export interface ServerFacts {
  /** Whether releases are published with SPUBLISH, by the rule that Redisson follows. */
  readonly sharded: boolean
  /** How many replicas the server has; undefined: it cannot have any, or would not say. */
  readonly replicas: number | undefined
  /** What is unsafe about this server, in words. */
  readonly warnings: readonly string[]
  /** Settings that can make fencing tokens go back. Only users of tokens need to know. */
  readonly fencing: readonly string[]
}

/** ms. How far a clock may be off before it is worth a warning. */
export const CLOCK_OFF = 1000

/** `sharded`: what the user asked for, if anything. */
export const readFacts = async (link: Link, clock: Clock, sharded?: boolean): Promise<ServerFacts> => {
  const before = clock.now()
  const warnings: string[] = []
  const ask = <R>(argv: readonly string[], fits: Shape<R>, consequence: string): Promise<R | null> =>
    link.command(argv, fits, { route: '' }).catch((error: unknown) => {
      warnings.push(refused(argv, error, consequence))
      return null
    })
  const [info, time, shards] = await Promise.all([
    ask(['INFO'], text, UNSEEN),
    ask(['TIME'], tuple(digits, digits), 'holdfast cannot check whether its clock is wrong'),
    link.cluster && sharded === undefined ? ask(['PUBSUB', 'SHARDNUMSUB'], list, UNCOUNTED) : null,
  ])
  const fields = readInfo(info ?? '')
  const policy = fields.get('maxmemory_policy')
  if (policy !== undefined && policy !== 'noeviction') warnings.push(evicting(policy))
  if (fields.get('role') === 'slave')
    warnings.push('the server is a replica, which refuses every lock (READONLY): connect to its master')
  if (fields.get('redis_mode') === 'cluster' && !link.cluster) warnings.push(ONE_NODE)
  if (link.cluster && sharded === false) warnings.push(UNCOUNTED)
  const off = clockOff(time, before, clock.now())
  if (Math.abs(off) > CLOCK_OFF) {
    warnings.push(`the server's clock is ${Math.abs(off)} ms ${off > 0 ? 'ahead of' : 'behind'} this machine's`)
  }
  return {
    replicas: replicasIn(info ?? ''),
    sharded: link.cluster && (sharded ?? shards !== null),
    warnings,
    fencing: rewinding(fields),
  }
}

const UNSEEN =
  'holdfast cannot check whether it evicts keys, persists them, is a replica or belongs to a cluster, and does not wait for replicas'
const ONE_NODE =
  'the server is a node of a cluster, but the client connected to it as a single server: it refuses names that belong to other ' +
  'nodes (MOVED); use a redis+cluster: URL'
const UNCOUNTED =
  'sharded pub/sub is not used: a release knows only of listeners at its own node, and other waiters may wait for their next poll'

/** The warning if a question is refused. Nothing else follows from a refusal. */
export const refused = (argv: readonly string[], error: unknown, consequence: string): string =>
  `${argv.join(' ')} failed, so ${consequence}: ${textOf(error)}`

const evicting = (policy: string): string =>
  policy.startsWith('volatile')
    ? `maxmemory-policy is ${policy}: when memory is short, the server evicts keys that expire, such as locks; use noeviction`
    : `maxmemory-policy is ${policy}: when memory is short, the server evicts any key, including locks; use noeviction`

/** The counter of a fenced lock never expires. It can be lost by eviction of any key, or by a restart. */
const rewinding = (fields: ReadonlyMap<string, string>): string[] => {
  const policy = fields.get('maxmemory_policy') ?? ''
  const evicted = policy.startsWith('allkeys')
    ? [`maxmemory-policy is ${policy}: if the server evicts a fencing counter, it starts at 1 again`]
    : []
  const forgotten =
    fields.get('aof_enabled') === '0'
      ? [
          'the server has no append-only file: after a restart, fencing tokens continue from its last snapshot, or from 1',
        ]
      : []
  return [...evicted, ...forgotten]
}

/** How many ms the server's clock is ahead, allowing for the time that the answer took. */
export const clockOff = (time: readonly string[] | null, before: number, after: number): number => {
  if (time === null) return 0
  const server = Number(time[0]) * 1000 + Math.floor(Number(time[1]) / 1000)
  if (server > after) return server - after
  return server < before ? server - before : 0
}

export const readInfo = (text: string): Map<string, string> => {
  const fields = new Map<string, string>()
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1))
  }
  return fields
}
