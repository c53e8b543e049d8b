import { Cluster, Redis, type RedisOptions } from 'ioredis'
import type { Clock } from '../../base/clock.js'
import type { Endpoint, Node, TlsOptions } from '../endpoint.js'
import type { IoredisClient } from './client.js'
import { GUARDED } from './parser-guard.js'
import { connectorTo } from './replicated-connector.js'

export interface ConnectionOptions {
  readonly tls?: TlsOptions | undefined
  readonly connectTimeout: number
  readonly commandTimeout: number
  readonly clock: Clock
}

type Address = Extract<Node, { readonly host: string }>

/** A client that queues nothing while offline and never sends a command twice. */
export const ownClient = (endpoint: Endpoint, connection: ConnectionOptions): IoredisClient => {
  const { username, password, database, tls, clientName, keepAlive, noDelay } = endpoint
  const { connectTimeout, commandTimeout, clock } = connection
  const options = {
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(clientName !== undefined && { connectionName: clientName }),
    // None at all is what ioredis takes for no number.
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
    retryStrategy: withJitter(clock),
    ...GUARDED,
  }
  if (endpoint.topology === 'cluster') return clusterClient(endpoint, options)
  const select = database !== undefined && { db: database }
  const client = clientOf(endpoint, connection, { ...options, ...select })
  client.on('ready', () => {
    // A name may lead to another server while one that has vanished is being dialed.
    if (client.options) client.options.connectTimeout = Math.min(connectTimeout, commandTimeout)
  })
  return client
}

const clientOf = (endpoint: Endpoint, connection: ConnectionOptions, options: object): IoredisClient => {
  if (endpoint.topology === 'sentinel') return sentinelClient(endpoint, connection, options)
  if (endpoint.topology === 'replicated') return lent(new Redis({ ...options, Connector: connectorTo(endpoint.nodes) }))
  return lent(new Redis({ ...options, ...endpoint.nodes[0] }))
}

/** Its types know of a Buffer only. */
const secured = ({ tls = {} }: ConnectionOptions): Secured => tls as Secured
type Secured = NonNullable<RedisOptions['tls']>

const pause = (attempt: number): number => Math.min(20 * 2 ** Math.min(attempt, 7), 2000)

const withJitter = (clock: Clock) => (attempt: number) => pause(attempt) * (0.75 + 0.5 * clock.random())

/** What is used of ioredis is written down in one place, for the versions that callers bring too. */
const lent = (client: Redis | Cluster): IoredisClient => client as unknown as IoredisClient

/** Who is the master is asked at each connection. */
const sentinelClient = (
  { nodes, master = '', sentinelUsername, sentinelPassword, sentinelsDiscovery, natMap, tls }: Endpoint,
  connection: ConnectionOptions,
  options: object,
): IoredisClient => {
  const { connectTimeout } = connection
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
    // One that accepts and says nothing leaves time to ask the others.
    sentinelCommandTimeout: Math.ceil(connectTimeout / (nodes.length + 1)),
    // Whoever connects is told that none answers; later on they are asked until one does.
    sentinelRetryStrategy: (attempt: number) => (found ? pause(attempt) : null),
    // A sentinel that has not heard yet leads to the master of before: its role is looked at,
    enableReadyCheck: true,
  })
  client.once('ready', () => (found = true))
  return lent(client)
}

/** A connection to each of the sentinels, for what they tell. */
export const sentinelEars = (
  { nodes, sentinelUsername, sentinelPassword, tls }: Endpoint,
  connection: ConnectionOptions,
): Redis[] => {
  const options = {
    ...(sentinelUsername !== undefined && { username: sentinelUsername }),
    ...(sentinelPassword !== undefined && { password: sentinelPassword }),
    ...(tls && { tls: secured(connection) }),
    connectTimeout: connection.connectTimeout,
    protocol: 2 as const,
    disableClientInfo: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: null,
    retryStrategy: withJitter(connection.clock),
    ...GUARDED,
  }
  return (nodes as readonly Address[]).map((node) => new Redis({ ...options, ...node }))
}

const clusterClient = ({ nodes, natMap }: Endpoint, redisOptions: object): IoredisClient =>
  lent(
    new Cluster([...(nodes as Address[])], {
      redisOptions,
      ...(natMap !== undefined && { natMap }),
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
