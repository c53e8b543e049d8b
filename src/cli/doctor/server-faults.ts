import { CLOCK_OFF, type Probe } from '../../probe.js'
import type { Code } from './codes.js'
import type { Finding } from './finding.js'
import type { Server } from './server.js'

/** The part of maxmemory from which on it counts as nearly full. */
const NEARLY_FULL = 0.9
/** ms of the median. */
const SLOW = 100
/** s. A replica sends a sign of life each second. */
const BEHIND = 10

/** What is found, and the commands that help, without the program. Undefined: nothing is. */
type Found = readonly [what: string, ...run: readonly string[]] | undefined

type Check = (server: Server, probe: Probe) => Found

const numberIn = ({ info }: Server, field: string): number => Number(info.get(field) ?? 0)

const isNode = ({ info }: Server): boolean => info.get('redis_mode') === 'cluster'

const eviction: Check = ({ info }) => {
  const policy = info.get('maxmemory_policy')
  if (policy === undefined || policy === 'noeviction') return undefined
  return [`maxmemory-policy is ${policy}`, 'CONFIG SET maxmemory-policy noeviction']
}

const memory: Check = (server) => {
  const [used, most] = [numberIn(server, 'used_memory'), numberIn(server, 'maxmemory')]
  if (most === 0 || used < NEARLY_FULL * most) return undefined
  return [`${Math.round((used / most) * 100)} % of maxmemory are used`, 'INFO memory', '--bigkeys']
}

const persistence: Check = ({ info, config }) => {
  if (info.get('aof_enabled') !== '0') return undefined
  const save = config.get('save')
  const snapshots = save === undefined ? '' : save === '' ? ', and no snapshots' : ', only snapshots'
  return [`the server has no append-only file${snapshots}`, 'CONFIG SET appendonly yes']
}

const fsync: Check = ({ info, config }) => {
  if (info.get('aof_enabled') !== '1' || config.get('appendfsync') !== 'no') return undefined
  return ['appendfsync is no: the operating system decides when to write', 'CONFIG SET appendfsync everysec']
}

const SAVES = ['aof_last_write_status', 'aof_last_bgrewrite_status', 'rdb_last_bgsave_status'] as const

const disk: Check = ({ info }) => {
  const failed = SAVES.filter((field) => (info.get(field) ?? 'ok') !== 'ok')
  return failed.length === 0
    ? undefined
    : [failed.map((field) => `${field} is ${info.get(field)}`).join(', '), 'INFO persistence']
}

const replica: Check = ({ info }) => {
  if (info.get('role') !== 'slave') return undefined
  return [`the server is a replica of ${info.get('master_host')}:${info.get('master_port')}`]
}

const oneNode: Check = (server, { cluster }) =>
  isNode(server) && !cluster
    ? ['the server is a node of a cluster, and the client treats it as the only server']
    : undefined

/** `slave0:ip=…,port=…,state=…,offset=…,lag=…` */
const isBehind = (line: string): boolean =>
  !/\bstate=online\b/.test(line) || Number(/\blag=(\d+)/.exec(line)?.[1] ?? 0) > BEHIND

const replicaLines = ({ info }: Server): readonly string[] =>
  [...info].filter(([field]) => /^slave\d+$/.test(field)).map(([, line]) => line)

const replicas: Check = (server) => {
  const all = replicaLines(server)
  const late = all.filter(isBehind)
  if (late.length === 0) return undefined
  return [
    `${late.length} of ${all.length} replicas are not online, or more than ${BEHIND} s behind: ${late.join(' ')}`,
    'INFO replication',
  ]
}

const replicasUnawaited: Check = (server, { awaitsReplicas }) =>
  awaitsReplicas || replicaLines(server).length === 0
    ? undefined
    : [`the server has replicas (${replicaLines(server).length}), and this client does not wait for them`]

const clock: Check = ({ clockOff = 0 }) => {
  if (Math.abs(clockOff) <= CLOCK_OFF) return undefined
  return [
    `the clock of the server is ${Math.abs(clockOff)} ms ${clockOff > 0 ? 'ahead of' : 'behind'} this machine's`,
    'TIME',
  ]
}

const latency: Check = ({ latency: times }) =>
  times === undefined || times.median <= SLOW
    ? undefined
    : [`a ping takes ${Math.round(times.median)} ms (median)`, 'SLOWLOG GET 10', '--latency']

const CHECKS: readonly (readonly [Code, Check])[] = [
  ['eviction', eviction],
  ['memory', memory],
  ['persistence', persistence],
  ['fsync', fsync],
  ['disk', disk],
  ['replica', replica],
  ['one-node', oneNode],
  ['replicas', replicas],
  ['replicas-unawaited', replicasUnawaited],
  ['clock', clock],
  ['latency', latency],
]

/** What is wrong with one master. */
export const serverFaults = (server: Server, probe: Probe): readonly Finding[] => {
  const { name: about, cli, refused } = server
  const found = CHECKS.flatMap(([code, check]): readonly Finding[] => {
    const [what, ...run] = check(server, probe) ?? []
    return what === undefined ? [] : [{ code, about, what, run: run.map((words) => `${cli} ${words}`) }]
  })
  return [...refused, ...found]
}

/** What is wrong with the client itself. */
export const clientFaults = (probe: Probe): readonly Finding[] => {
  const about = probe.address
  const unsharded: Finding = { code: 'messages', about, what: 'sharded pub/sub is not used' }
  return [
    ...(probe.cluster && !probe.sharded ? [unsharded] : []),
    ...probe.otherWarnings.map((what): Finding => ({ code: 'setting', about, what })),
  ]
}
