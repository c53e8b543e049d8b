import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { Clock } from '../../base/clock.js'
import type { Endpoint, Node, TlsOptions } from '../endpoint.js'
import type { IoredisClient } from './client-type.js'
import { GUARDED } from './parser-guard.js'
import { pauses, paused } from './reconnect-pauses.js'
import { connectorTo } from './replicated-connector.js'

export interface ConnectionOptions {
  readonly tls?: TlsOptions | undefined
  readonly connectTimeout: number
  readonly commandTimeout: number
  readonly clock: Clock
  /** Connects to a cluster that says that it is down, or of which some masters are away. */
  readonly partly?: boolean
}

type Address = Extract<Node, { readonly host: string }>

/** Makes a client that queues nothing while offline, and never sends a command twice. */
export const ownClient = (endpoint: Endpoint, connection: ConnectionOptions): IoredisClient => {
  const { username, password, database, tls, clientName, keepAlive, noDelay } = endpoint
  const { connectTimeout, commandTimeout, clock } = connection
  const options = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(clientName !== undefined && { connectionName: clientName }),
    // To ioredis, anything but a number means no keep-alive.
    ...(keepAlive !== undefined && { keepAlive: keepAlive === false ? (null as unknown as number) : keepAlive }),
    ...(noDelay !== undefined && { noDelay }),
    ...(tls && { tls: secured(connection) }),
    connectTimeout,
    protocol: 2 as const,
    lazyConnect: true,
    disableClientInfo: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    autoResubscribe: false,
    maxRetriesPerRequest: null,
    ...GUARDED,
  }
  if (endpoint.topology === 'cluster') return clusterClient(endpoint, options, connection)
  const select = database !== undefined && { db: database }
  const client = paused(clientOf(endpoint, connection, { ...options, ...select }), clock)
  client.on('ready', () => {
    // Later, the name may lead to another server while the client still dials one that has vanished.
    if (client.options) client.options.connectTimeout = Math.min(connectTimeout, commandTimeout)
  })
  return client
}

const clientOf = (endpoint: Endpoint, connection: ConnectionOptions, options: object): IoredisClient => {
  const { nodes, topology } = endpoint
  if (topology === 'sentinel') return sentinelClient(endpoint, connection, options)
  if (topology === 'replicated') return lent(new Redis({ ...options, Connector: connectorTo(nodes, connection.clock) }))
  return lent(new Redis({ ...options, ...nodes[0] }))
}

/** ioredis's types accept only a Buffer. */
const secured = ({ tls = {} }: ConnectionOptions): Secured => tls as Secured
type Secured = NonNullable<RedisOptions['tls']>

/** One interface describes what holdfast uses of ioredis, also for the versions that callers bring. */
const lent = (client: Redis | Cluster): IoredisClient => client as unknown as IoredisClient

/** Each time it connects, it asks the sentinels for the master. */
const sentinelClient = (
  { nodes, master = '', sentinelUsername, sentinelPassword, sentinelsDiscovery, natMap, tls }: Endpoint,
  connection: ConnectionOptions,
  options: object,
): IoredisClient => {
  const { connectTimeout, clock } = connection
  const again = pauses(clock)
  let found = false
  const client = new Redis({
    ...options,
    sentinels: nodes as Address[],
    name: master,
    ...(sentinelUsername !== undefined && { sentinelUsername }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
    ...(sentinelsDiscovery === false && { updateSentinels: false }),
    ...(natMap !== undefined && { natMap }),
    ...(tls && { sentinelTLS: secured(connection), enableTLSForSentinelMode: true }),
    // A sentinel that accepts the connection but does not answer must leave time for the others.
    sentinelCommandTimeout: Math.ceil(connectTimeout / (nodes.length + 1)),
    // The first connect fails if no sentinel answers. Later, the sentinels are asked until one does.
    sentinelRetryStrategy: (attempt: number) => (found ? again(attempt) : null),
    // A sentinel with old news leads to the former master, so the role of the server is checked.
    enableReadyCheck: true,
  })
  client.once('ready', () => (found = true))
  return lent(client)
}

/** A connection to each of the sentinels, for their messages. */
export const sentinelEars = (
  { nodes, sentinelUsername, sentinelPassword, tls }: Endpoint,
  connection: ConnectionOptions,
): IoredisClient[] => {
  const options = {
    ...(sentinelUsername !== undefined && { username: sentinelUsername }),
    ...(sentinelPassword !== undefined && { password: sentinelPassword }),
    ...(tls && { tls: secured(connection) }),
    connectTimeout: connection.connectTimeout,
    protocol: 2 as const,
    disableClientInfo: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: null,
    ...GUARDED,
  }
  return (nodes as readonly Address[]).map((node) => paused(lent(new Redis({ ...options, ...node })), connection.clock))
}

const clusterClient = (
  { nodes, natMap }: Endpoint,
  redisOptions: object,
  { clock, partly = false }: ConnectionOptions,
): IoredisClient =>
  lent(
    new Cluster([...(nodes as Address[])], {
      redisOptions,
      ...(natMap !== undefined && { natMap }),
      lazyConnect: true,
      // Asks any of the masters whether the cluster is up.
      enableReadyCheck: !partly,
      // Without it, all clients come back together when no node answers.
      clusterRetryStrategy: pauses(clock),
      // Only commands for a node that is being connected wait in it; without the queue, ioredis would reject them as cut.
      enableOfflineQueue: true,
      // A command that was sent and not answered is not sent again to another node.
      retryDelayOnFailover: 0,
      // If the cluster is down, it says so at once and the caller decides; otherwise ioredis would keep retrying.
      retryDelayOnClusterDown: 0,
      shardedSubscribers: true,
    }),
  )
