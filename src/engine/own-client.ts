import { Cluster, Redis } from 'ioredis'
import type { IoredisClient, Node, Target } from './target.js'

export interface ConnectionOptions {
  readonly connectTimeout: number
  readonly commandTimeout: number
  /** Jitter of the reconnection, in [0, 1). */
  readonly random: () => number
}

type Address = Extract<Node, { readonly host: string }>

/** A client that queues nothing while offline and never sends a command twice. */
export const ownClient = (target: Target, connection: ConnectionOptions): IoredisClient => {
  const { nodes, username, password, database, tls } = target
  const { connectTimeout, random } = connection
  const options = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(tls && { tls: {} }),
    connectTimeout,
    protocol: 2 as const,
    lazyConnect: true,
    disableClientInfo: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: null,
    retryStrategy: (attempt: number) => pause(attempt) * (0.75 + 0.5 * random()),
  }
  if (target.topology === 'cluster') return clusterClient(nodes as Address[], options)
  const select = database !== undefined && { db: database }
  if (target.topology === 'sentinel') return sentinelClient(target, connection, { ...options, ...select })
  return lent(new Redis({ ...options, ...nodes[0], ...select }))
}

const pause = (attempt: number): number => Math.min(20 * 2 ** Math.min(attempt, 7), 2000)

/** What is used of ioredis is written down in one place, for the versions that callers bring too. */
const lent = (client: Redis | Cluster): IoredisClient => client as unknown as IoredisClient

/** Who is the master is asked at each connection. */
const sentinelClient = (
  { nodes, master = '', sentinelPassword, tls }: Target,
  { connectTimeout, commandTimeout }: ConnectionOptions,
  options: object,
): IoredisClient => {
  let found = false
  const client = new Redis({
    ...options,
    sentinels: nodes as Address[],
    name: master,
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
    // One that accepts and says nothing leaves time to ask the others.
    sentinelCommandTimeout: Math.ceil(connectTimeout / (nodes.length + 1)),
    // Whoever connects is told that none answers; later on they are asked until one does.
    sentinelRetryStrategy: (attempt: number) => (found ? pause(attempt) : null),
    // A sentinel that has not heard yet leads to the master of before: its role is looked at,
    enableReadyCheck: true,
    // a master that becomes a replica is left,
    reconnectOnError: ({ message }: Error) => message.includes('READONLY'),
    // and so is one that says nothing any more: another may be the master by now.
    socketTimeout: commandTimeout,
  })
  client.once('ready', () => (found = true))
  return lent(client)
}

const clusterClient = (nodes: readonly Address[], redisOptions: object): IoredisClient =>
  lent(
    new Cluster([...nodes], {
      redisOptions,
      lazyConnect: true,
      // Only what is meant for a node whose connection is being made waits for it; otherwise ioredis would reject it as cut.
      enableOfflineQueue: true,
      // What was sent and not answered is not sent again to another node.
      retryDelayOnFailover: 0,
      // A cluster that is down says so at once, and whoever asked decides; otherwise ioredis would ask on for it.
      retryDelayOnClusterDown: 0,
      shardedSubscribers: true,
    }),
  )
