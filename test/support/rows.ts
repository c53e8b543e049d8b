import { Redis } from 'ioredis'
import { cluster } from './cluster-world.js'
import { ANY_LINE, type AclLine, admit, APP_LINE } from './acl.js'
import { newerServer, requireGlide } from './packages.js'
import { startWatched } from './redis-sentinel.js'
import { startRedis } from './redis-server.js'
import { startTlsServer } from './tls-server.js'
import { DATABASES, type Engine, type Lend, type Place, redis } from './worlds.js'

/** Every way to come to a server, each of which has the whole contract. */

interface NodeRedis {
  createClient(options: object): Lent
  createCluster(options: object): Lent
}
interface Lent {
  connect(): Promise<unknown>
  destroy(): unknown
  on(event: string, listener: () => void): unknown
}

/** Loaded by those only who use it. */
const nodeRedis =
  (make: (library: NodeRedis, url: string) => Lent): Lend =>
  async (url) => {
    const connection = make(await import('node-redis6'), url)
    connection.on('error', () => undefined)
    await connection.connect()
    return { connection, end: () => connection.destroy() }
  }

const glide: Lend = async (url) => {
  const { hostname: host, port, pathname } = new URL(url)
  const settings = {
    addresses: [{ host, port: Number(port) }],
    databaseId: Number(pathname.slice(1)),
    requestTimeout: 3000,
  }
  const connection = await requireGlide().GlideClient.createClient(settings)
  return { connection, end: () => connection.close() }
}

const nodesOf = (url: string): { url: string }[] =>
  url
    .replace(/^.*\/\//, '')
    .split(',')
    .map((host) => ({ url: `redis://${host}` }))

const watched = async (): Promise<Place> => {
  const { url, servers, stop } = await startWatched(0, {}, DATABASES)
  return { admin: servers[0]?.url ?? '', url: (database) => `${url}/${database}`, stop }
}

const newer = (name: 'valkey-server' | 'redis-server') => async (): Promise<Place> => {
  const server = await startRedis(DATABASES, newerServer(name))
  return { admin: server.url, url: (database) => `${server.url}/${database}`, stop: () => server.stop() }
}

const PASSWORD = 'a-test-of-the-lines'

/** As a user who may do what the line says. */
const restricted = (line: AclLine) => async (): Promise<Place> => {
  const server = await startRedis(DATABASES)
  const admin = new Redis(server.url)
  const user = await admit(admin, line, PASSWORD)
  admin.disconnect()
  const url = (database: number): string => `redis://${user}@127.0.0.1:${server.port}/${database}`
  return { admin: server.url, url, stop: () => server.stop() }
}

const secured = (line: AclLine) => async (): Promise<Place> => {
  const { server, port, authority, client, stop } = await startTlsServer(DATABASES)
  const admin = new Redis(server.url)
  const user = await admit(admin, line, PASSWORD)
  admin.disconnect()
  return {
    admin: server.url,
    url: (database) => `rediss://${user}@127.0.0.1:${port}/${database}`,
    options: { tls: { ca: authority.cert, cert: client.cert, key: client.key } },
    stop,
  }
}

/** What the lines of SECURITY.md do not allow: they are for locks and synchronizers. */
const NO_MORE = { lacks: ['topics and scripts'] } as const
const APP = 'app:'
/** Each test has connections of its own, and a handshake costs. */
const SOME = 8

export const ROWS: readonly Engine[] = [
  redis({ name: 'ioredis, one server' }),
  redis({ name: 'ioredis, Sentinel', start: watched }),
  cluster({ name: 'ioredis, Cluster' }),
  redis({
    name: 'node-redis, one server',
    lend: nodeRedis(({ createClient }, url) => createClient({ url })),
    concurrency: SOME,
  }),
  cluster({
    name: 'node-redis, Cluster',
    lend: nodeRedis(({ createCluster }, url) => createCluster({ rootNodes: nodesOf(url) })),
  }),
  redis({
    name: 'GLIDE, one server',
    lend: glide,
    concurrency: SOME,
    lacks: ['sharded channels', 'errors within replies', 'order among commands'],
  }),
  redis({ name: 'ioredis, Valkey 8', start: newer('valkey-server') }),
  redis({ name: 'ioredis, Redis 8', start: newer('redis-server') }),
  redis({ name: 'TLS + ACL for `app:`', start: secured(APP_LINE), prefix: APP, concurrency: SOME, ...NO_MORE }),
  redis({ name: 'ACL for `app:`', start: restricted(APP_LINE), prefix: APP, ...NO_MORE }),
  redis({ name: 'ACL for any name', start: restricted(ANY_LINE), ...NO_MORE }),
]

export const rowOf = (name: string): Engine => {
  const row = ROWS.find((one) => one.name === name)
  if (row === undefined)
    throw new Error(`there is no row '${name}'; there are ${ROWS.map((one) => one.name).join('; ')}`)
  return row
}
