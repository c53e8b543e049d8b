import type { Endpoint, NatMap } from '../../engine/endpoint.js'
import { type Place, parseUrl } from '../url.js'
import { natMapIn } from './java-classes.js'
import { wrong } from './yaml-tree.js'
import type { Values } from './field-values.js'

/** Where the file leads: a URL's contents, and what a URL cannot express. */
export const placeIn = (values: Values): Place => {
  const natMap = natMapIn(values)
  const servers = serversIn(values)
  const [first] = servers.nodes
  if (first === undefined) throw wrong(values.at(servers.field), `${servers.field} must name a server`)
  if (servers.nodes.some(({ tls }) => tls !== first.tls)) {
    throw wrong(values.at(servers.field), `${servers.field} must use TLS (rediss:) for all servers or for none`)
  }
  const place = parseUrl(urlOf(values, servers.nodes))
  if (place.engine !== 'redis') return place
  const { endpoint } = place
  const more: Partial<Endpoint> = {
    ...credentialsIn(values, servers.nodes),
    ...databaseIn(values),
    ...sentinelsIn(values),
    ...socketIn(values),
    ...optional('clientName', values.text('clientName')),
    ...optional('natMap', natMap),
    ...(values.mode === 'replicated' && replicated(endpoint, natMap)),
  }
  return { engine: 'redis', endpoint: { ...endpoint, ...more } }
}

interface Server {
  /** As it is written in a URL. */
  readonly host: string
  readonly tls: boolean
  readonly socket: boolean
  readonly username?: string | undefined
  readonly password?: string | undefined
}

const FIELD = {
  single: 'address',
  masterSlave: 'masterAddress',
  sentinel: 'sentinelAddresses',
  cluster: 'nodeAddresses',
  replicated: 'nodeAddresses',
} as const

const serversIn = (values: Values): { readonly field: string; readonly nodes: readonly Server[] } => {
  const field = FIELD[values.mode]
  if (!values.has(field)) throw wrong(values.section, `${field} is missing: redis://host:port`)
  const nodes = values.list(field, COMMA).map(({ at, text }) => serverAt(text, at, field))
  if (nodes.length > 1 && (values.mode === 'single' || values.mode === 'masterSlave')) {
    throw wrong(values.at(field), `${field} must name exactly one server`)
  }
  return { field, nodes }
}

/** A password may contain a comma, too. */
const COMMA = /,(?=\s*[a-z+]+:\/\/)/

/** Redisson's forms: a port is required, and an IPv6 address may be written without brackets. */
const serverAt = (text: string, at: string, field: string): Server => {
  const match = /^(?:redis|valkey)(?:(s)|(\+uds))?:\/\/(?:(.*)@)?([^@]+)$/.exec(text)
  const [, tls, uds, info, rest = ''] = match ?? []
  const [, host, port] = /^([^\s,/?#]+):(\d+)\/?$/.exec(rest) ?? []
  if (match === null || (uds === undefined && host === undefined)) {
    throw wrong(at, `${field} must be of the form redis://host:port (or rediss:, valkey:, valkeys:, redis+uds:///path)`)
  }
  const bare = host?.includes(':') === true && !host.startsWith('[')
  return {
    host: uds === undefined ? `${bare ? `[${host}]` : host}:${port}` : rest,
    tls: tls !== undefined,
    socket: uds !== undefined,
    ...userOf(info, at, field),
  }
}

const userOf = (info: string | undefined, at: string, field: string): Pick<Server, 'username' | 'password'> => {
  if (info === undefined) return {}
  try {
    // parseUrl knows which part is the user and which the password.
    const place = parseUrl(`redis://${info.replaceAll('/', '%2F')}@host:1`)
    return place.engine === 'redis' ? { username: place.endpoint.username, password: place.endpoint.password } : {}
  } catch {
    throw wrong(at, `the user or password of ${field} is not percent-encoded correctly`)
  }
}

const urlOf = (values: Values, nodes: readonly Server[]): string => {
  const [first] = nodes
  if (first?.socket === true) {
    if (nodes.length === 1 && values.mode === 'single') return `redis+unix://${first.host}`
    throw wrong(values.at(FIELD[values.mode]), 'only a single server can have a socket as its address')
  }
  const hosts = nodes.map(({ host }) => host).join(',')
  const scheme = first?.tls === true ? 'rediss' : 'redis'
  if (values.mode === 'cluster') return `${scheme}+cluster://${hosts}`
  if (values.mode !== 'sentinel') return `${scheme}://${hosts}`
  const master = values.text('masterName')
  if (master === undefined)
    throw wrong(values.section, 'masterName is missing: set the name that the sentinels know the master by')
  return `${scheme}+sentinel://${hosts}/${encodeURIComponent(master)}`
}

/** Credentials in an address have priority over those in fields. */
const credentialsIn = (values: Values, nodes: readonly Server[]): Partial<Endpoint> => {
  const inFields = { username: values.text('username'), password: values.secret('password') }
  const { username, password } = nodes.find((node) => node.password !== undefined) ?? inFields
  // A user name without a password cannot log in.
  return password === undefined ? {} : { password, ...optional('username', username) }
}

const databaseIn = (values: Values): Partial<Endpoint> => {
  const database = values.number('database', 0)
  if (values.mode !== 'cluster') return optional('database', database)
  if (database === undefined || database === 0) return {}
  throw wrong(values.at('database'), 'a cluster has only database 0: separate programs with nameMapper')
}

const sentinelsIn = (values: Values): Partial<Endpoint> => {
  if (values.mode !== 'sentinel') return {}
  const discovery = values.flag('sentinelsDiscovery')
  return {
    ...optional('sentinelUsername', values.text('sentinelUsername')),
    ...optional('sentinelPassword', values.secret('sentinelPassword')),
    ...(discovery === false && { sentinelsDiscovery: false }),
  }
}

const socketIn = (values: Values): Partial<Endpoint> => {
  const [now, before] = [values.flag('tcpKeepAlive'), values.flag('keepAlive')]
  const idle = values.number('tcpKeepAliveIdle', 0, 'a whole number of seconds')
  const noDelay = values.flag('tcpNoDelay')
  return {
    ...((now ?? before) === false
      ? { keepAlive: false }
      : idle !== undefined && idle > 0 && { keepAlive: idle * 1000 }),
    ...(noDelay === false && { noDelay }),
  }
}

/** A single node is treated like any single server. */
const replicated = ({ address, nodes }: Endpoint, natMap: NatMap | undefined): Partial<Endpoint> => {
  if (nodes.length < 2) return {}
  const mapped = nodes.map((node) => ('path' in node ? node : (natMap?.(`${node.host}:${node.port}`) ?? node)))
  return { topology: 'replicated', address: address.replace('://', '+replicated://'), nodes: mapped }
}

const optional = <K extends keyof Endpoint>(name: K, value: Endpoint[K] | undefined): { [P in K]?: Endpoint[P] } =>
  value === undefined ? {} : ({ [name]: value } as { [P in K]?: Endpoint[P] })
