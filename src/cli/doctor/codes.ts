import { plainText } from '../../plain-text.js'
import { UsageError } from '../usage-error.js'

/** What can be found. */
interface Fault {
  /** For the help. */
  readonly help: string
  /** Why it matters. */
  readonly why: string
  /** What to do. */
  readonly todo: string
  /** The section of the documentation about it, from the folder of the package. */
  readonly see: string
}

const TRUST = 'docs/guide.md#trust'
const REPLICAS = 'docs/connections.md#replicas'
const RIGHTS = 'SECURITY.md#a-user-who-may-do-no-more'
const FREE = 'docs/operations.md#free-it'

const FAULTS = {
  eviction: {
    help: 'the server may evict locks',
    why: 'When memory is short, the server deletes locks that are held. Another client then acquires them, and both work. A fencing token may begin at 1 again.',
    todo: 'Set the policy to noeviction, in redis.conf as well, and give locks a server of their own if the others are a cache.',
    see: TRUST,
  },
  memory: {
    help: 'memory is nearly full',
    why: 'When memory is full, the server refuses writes (OOM), and no lock can be acquired or renewed.',
    todo: 'Raise maxmemory, or delete what is not needed.',
    see: 'docs/operations.md#why-nobody-gets-it',
  },
  persistence: {
    help: 'no append-only file',
    why: 'After a restart, the server has forgotten locks that are still held, and fencing tokens continue from the last snapshot, or from 1.',
    todo: 'Switch the append-only file on, in redis.conf as well.',
    see: 'docs/guide.md#fenced-locks',
  },
  fsync: {
    help: 'appendfsync is no',
    why: 'If the machine crashes, what the server wrote since the last fsync, often half a minute, is lost: locks that are held, and the newest fencing tokens.',
    todo: 'Set appendfsync to everysec or always, in redis.conf as well.',
    see: 'docs/guide.md#fenced-locks',
  },
  disk: {
    help: 'the server could not save',
    why: 'After a failed save, the server may refuse all writes (MISCONF), and no lock can be acquired or renewed.',
    todo: 'Look at the log of the server, and at the space on its disk.',
    see: 'docs/operations.md#why-nobody-gets-it',
  },
  replica: {
    help: 'the server is a replica',
    why: 'A replica refuses every lock (READONLY).',
    todo: 'Connect to its master, or through its sentinels.',
    see: 'docs/connections.md#sentinel',
  },
  'one-node': {
    help: 'a cluster, but not a cluster URL',
    why: 'The client sees one node only. It refuses names that belong to other nodes (MOVED).',
    todo: 'Use a URL that begins with redis+cluster: or rediss+cluster:.',
    see: 'docs/connections.md#cluster',
  },
  replicas: {
    help: 'replicas that are behind or away',
    why: 'After a failover to such a replica, locks that are held are forgotten. If no replica confirms, acquisitions reject with ReplicationError.',
    todo: 'Look at the log of the replica, and at the network between the two.',
    see: REPLICAS,
  },
  'replicas-unawaited': {
    help: 'acquisitions do not wait for replicas',
    why: 'A failover can forget a lock that was just acquired, and give it to a second client.',
    todo: 'Leave replicas.sync (checkLockSyncedSlaves) at true.',
    see: REPLICAS,
  },
  messages: {
    help: 'no sharded messages in a cluster',
    why: 'A release reaches only those who listen at the same node. Other waiters notice it when they poll, up to a second later.',
    todo: 'Allow PUBSUB SHARDNUMSUB (Redis 7 or Valkey), and do not set sharded to false.',
    see: 'docs/connections.md#cluster',
  },
  clock: {
    help: 'a clock is wrong',
    why: 'Leases count by the clock of the server. If a wrong clock is corrected in one step, leases end too early or too late.',
    todo: 'Let NTP slew both clocks.',
    see: TRUST,
  },
  latency: {
    help: 'the server answers slowly',
    why: 'Each acquisition and each hand-over between processes takes at least this long.',
    todo: 'Look for slow commands and for the way between this machine and the server.',
    see: 'docs/operations.md#why-nobody-gets-it',
  },
  rights: {
    help: 'the user lacks commands',
    why: 'Calls that need these commands reject with NOPERM, or a part of the library does not work.',
    todo: 'Give the user one of the ACL lines of SECURITY.md.',
    see: RIGHTS,
  },
  labels: {
    help: 'the user may not write labels',
    why: 'Clients of this user leave no label, and their locks are not in holdfast ls.',
    todo: 'Allow the keys of labels.',
    see: RIGHTS,
  },
  unseen: {
    help: 'the server refused a question',
    why: 'What it would have shown is not examined.',
    todo: 'Allow it, or run holdfast doctor as another user.',
    see: RIGHTS,
  },
  setting: {
    help: 'a setting of this client',
    why: 'The client works, but not as the configuration says.',
    todo: 'Change the configuration; holdfast config check FILE shows all of it.',
    see: 'docs/configuration.md',
  },
  'no-answer': {
    help: 'a master of the cluster does not answer',
    why: 'Locks that belong to it can be neither acquired nor released, and their holders lose them when the leases end. Unless cluster-require-full-coverage is no, the other masters refuse all locks as well.',
    todo: 'Start it again, or let one of its replicas take over (CLUSTER FAILOVER FORCE), if the other masters say that it failed. Whether it can be reached, and what they say:',
    see: 'docs/operations.md#a-master-of-a-cluster-does-not-answer',
  },
  'unreadable-label': {
    help: 'a label that cannot be read',
    why: 'A label shows that a client is alive. Nobody can tell whether this one is, so its hold is not reported as that of a dead client.',
    todo: 'Look at the key of the label. If another program has written there, look again after a third of a lease, 10 s by default: a client that is alive overwrites it.',
    see: 'docs/operations.md#who-holds-it',
  },
  'dead-holder': {
    help: 'a dead client holds a lock for long',
    why: 'Nobody else gets the lock until the lease is over. The client has shown no sign of life for a lease: it has ended, is paused, or is cut off. Or it has detached the hold, and nobody has adopted it.',
    todo: 'Make sure that the process has ended. Then release the lock:',
    see: FREE,
  },
  'unknown-holder': {
    help: 'a client without a label holds a lock for long',
    why: 'Calls wait for this lock, and nothing shows that its holder is alive. The client ended within a second of its acquisition, or it never writes a label (presence: false).',
    todo: 'Find the process. If it has ended, release the lock:',
    see: FREE,
  },
  deadlock: {
    help: 'clients that hold and wait crosswise',
    why: 'If the calls that wait are those that hold, none of them goes on until a lease ends or a call times out. Leases that are renewed do not end.',
    todo: 'Look at them with holdfast tree, and at these processes.',
    see: 'docs/operations.md#why-nobody-gets-it',
  },
  'long-wait': {
    help: 'a call waits for long, and the holder lives',
    why: 'The process of the holder is alive. That does not show that its work goes on: it may take long, hang, or wait for something itself. Or all is well: a process that stands by with lock.using waits for long, too.',
    todo: 'Look at the process of the holder, and at what it waits for (holdfast tree). Do not release the lock while that process works. If processes stand by for this lock, use an election, which is not reported, or --ignore long-wait. To see the whole line:',
    see: 'docs/operations.md#why-nobody-gets-it',
  },
  'dead-place': {
    help: 'places of dead clients in a line',
    why: 'They hold nobody up, and the next client that comes removes them. But processes died while they waited.',
    todo: 'Find out why they died. There is nothing to remove.',
    see: 'docs/operations.md#which-processes-wait',
  },
  'no-expiry': {
    help: 'a lock without an expiry',
    why: 'If its holder dies, it stays locked for ever. No client of holdfast or Redisson leaves a lock so: another program removed the expiry.',
    todo: 'If the holder has ended, release the lock:',
    see: 'docs/operations.md#why-nobody-gets-it',
  },
  'scan-unfinished': {
    help: 'the scan took too long',
    why: 'Locks that are only found by a scan are not examined.',
    todo: 'Give it more time with --within.',
    see: 'docs/command-line.md#holdfast-doctor-what-endangers-locks-here',
  },
} as const satisfies Readonly<Record<string, Fault>>

export type Code = keyof typeof FAULTS

export const CODES = Object.keys(FAULTS) as readonly Code[]

export const faultOf = (code: Code): Fault => FAULTS[code]

/** A line of the help for each. */
export const codesHelp = (): string => CODES.map((code) => `  ${code.padEnd(18)}  ${FAULTS[code].help}\n`).join('')

/** Those of `--ignore`: a list with commas. */
export const codesIn = (text: string | undefined): ReadonlySet<Code> =>
  new Set(
    (text ?? '').split(',').flatMap((word) => {
      const wanted = word.trim()
      if (text === undefined) return []
      const code = CODES.find((one) => one === wanted)
      if (code !== undefined) return code
      throw new UsageError(`there is no finding "${plainText(wanted)}"; the findings are ${CODES.join(', ')}`)
    }),
  )
