import { ConfigError } from '../errors.js'
import type { Endpoint, Node } from '../engine/endpoint.js'
import { quoted } from '../plain-text.js'

/** Where a URL leads. */
export type Place =
  | { readonly engine: 'memory'; readonly name: string | undefined }
  | { readonly engine: 'redis'; readonly endpoint: Endpoint }

const SCHEMES: Readonly<Record<string, Pick<Endpoint, 'topology' | 'tls'>>> = {
  'redis:': { topology: 'single', tls: false },
  'valkey:': { topology: 'single', tls: false },
  'rediss:': { topology: 'single', tls: true },
  'valkeys:': { topology: 'single', tls: true },
  'redis+cluster:': { topology: 'cluster', tls: false },
  'rediss+cluster:': { topology: 'cluster', tls: true },
  'redis+sentinel:': { topology: 'sentinel', tls: false },
  'rediss+sentinel:': { topology: 'sentinel', tls: true },
}

const FORMS =
  'redis://[user:pass@]host:port[/db], rediss:, valkey:, valkeys:, redis+unix:///path, redis+cluster://h1:p1,h2:p2, redis+sentinel://h1:p1,h2:p2/MASTER[/db][?sentinelPassword=…], memory:[name]'

/** No error of this file ever shows the URL itself, because it may contain a password. */
export const parseUrl = (url: string): Place => {
  const scheme = /^[a-z][a-z+]*:/i.exec(url)?.[0].toLowerCase()
  if (scheme === 'memory:') return { engine: 'memory', name: memoryName(url) }
  if (scheme === 'redis+unix:') return { engine: 'redis', endpoint: unixEndpoint(url) }
  const form = scheme === undefined ? undefined : SCHEMES[scheme]
  if (scheme === undefined || form === undefined) {
    // Without the slashes it is not a scheme, but probably the user.
    const what =
      url.startsWith('//', scheme?.length) && scheme !== undefined
        ? `of the scheme ${quoted(scheme)}`
        : 'without a scheme'
    throw new ConfigError(`a URL ${what} cannot be used; the forms are ${FORMS}`)
  }
  const rest = url.slice(scheme.length)
  mustBeEncoded(rest, scheme)
  if (form.topology !== 'single') mustStandFirst(rest, scheme)
  const place = form.topology === 'sentinel' ? sentinelEndpoint(rest, scheme) : netEndpoint(rest, scheme)
  return { engine: 'redis', endpoint: { ...form, ...place } }
}

/** The part of a user or password after a slash would be taken for a database or a master, and would be shown. */
const mustBeEncoded = (rest: string, scheme: string): void => {
  const [text = ''] = rest.replace(/^\/\//, '').split('?sentinelPassword=')
  if (!/\/.*@/s.test(text)) return
  throw new ConfigError(
    `the ${scheme} URL has a '/' before an '@': percent-encode it in the user and the password (%2F), and an '@' anywhere else (%40)`,
  )
}

/** Everything before the last '@' would be taken for user and password, so a host there would be lost without notice. */
const mustStandFirst = (rest: string, scheme: string): void => {
  if (!/^[^/?#]*,[^/?#]*@/.test(rest.replace(/^\/\//, ''))) return
  throw new ConfigError(
    `the ${scheme} URL has a ',' before an '@': write the user and the password once, before the first host (${scheme}//user:pass@h1:p1,h2:p2), ` +
      "for all hosts; percent-encode a ',' in them (%2C)",
  )
}

/**
 * Reads a URL as the caller of `connect` writes it, where it names one server. In a file, other fields may say what several servers
 * are.
 */
export const placeOfUrl = (url: string): Place => {
  const place = parseUrl(url)
  if (place.engine === 'memory' || place.endpoint.topology !== 'single' || place.endpoint.nodes.length === 1)
    return place
  const family = place.endpoint.tls ? 'rediss' : 'redis'
  throw new ConfigError(
    `a URL without +cluster or +sentinel names one server: for the nodes of a cluster write ${family}+cluster://h1:p1,h2:p2, ` +
      `for sentinels ${family}+sentinel://h1:p1,h2:p2/MASTER`,
  )
}

const memoryName = (url: string): string | undefined => {
  const name = url.slice('memory:'.length).replace(/^\/\//, '')
  return name === '' ? undefined : name
}

const netEndpoint = (rest: string, scheme: string, defaultPort = 6379): Omit<Endpoint, 'topology' | 'tls'> => {
  const match = /^\/\/(?:([^/]*)@)?([^/?#]+)(\/[^?#]*)?$/.exec(rest)
  if (match === null) throw new ConfigError(`the ${scheme} URL has none of these forms: ${FORMS}`)
  const [, info, hosts = '', path] = match
  const nodes = hosts.split(',').map((host) => netNode(host, scheme, defaultPort))
  const shown = nodes.map((node) => ('path' in node ? node.path : `${node.host}:${node.port}`)).join(',')
  const database = databaseOf(path ?? '', scheme)
  return { address: `${scheme}//${shown}`, nodes, ...credentials(info), ...(database !== undefined && { database }) }
}

/** The nodes are the sentinels. The user and password belong to the servers that they watch. */
const sentinelEndpoint = (rest: string, scheme: string): Omit<Endpoint, 'topology' | 'tls'> => {
  const match = /^(\/\/[^/?#]+)\/([^/?#]+)(\/[^/?#]*)?(?:\?sentinelPassword=([^&#]*))?$/.exec(rest)
  const [, servers, master, path = '', password] = match ?? []
  if (servers === undefined || master === undefined) {
    throw new ConfigError(`a ${scheme} URL must have the form ${scheme}//h1:p1,h2:p2/MASTER[/db][?sentinelPassword=…]`)
  }
  const endpoint = netEndpoint(servers + path, scheme, 26_379)
  return {
    ...endpoint,
    address: `${endpoint.address}/${decode(master)}`,
    master: decode(master),
    ...(password !== undefined && { sentinelPassword: decode(password) }),
  }
}

const netNode = (text: string, scheme: string, defaultPort: number): { host: string; port: number } => {
  const match = /^(\[[^\]]+\]|[^:]+)(?::(\d+))?$/.exec(text.trim())
  const port = match?.[2] === undefined ? defaultPort : Number(match[2])
  if (match?.[1] === undefined || port > 65_535) throw new ConfigError(`the ${scheme} URL has an invalid host or port`)
  return { host: match[1].replace(/^\[|\]$/g, ''), port }
}

const databaseOf = (path: string, scheme: string): number | undefined => {
  const text = path.replace(/^\//, '')
  if (text === '') return undefined
  if (!/^\d+$/.test(text))
    throw new ConfigError(`the ${scheme} URL has a database that is not a number (or a '/' in the password: write %2F)`)
  return Number(text)
}

const credentials = (info: string | undefined): { username?: string; password?: string } => {
  if (info === undefined || info === '') return {}
  const colon = info.indexOf(':')
  // Redisson's rule: a single word is the password.
  const [user, password] = colon === -1 ? ['', info] : [info.slice(0, colon), info.slice(colon + 1)]
  return { ...(user !== '' && { username: decode(user) }), ...(password !== '' && { password: decode(password) }) }
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new ConfigError('a user, password or name in the URL is not percent-encoded correctly')
  }
}

const unixEndpoint = (url: string): Endpoint => {
  const match = /^redis\+unix:\/\/(?:([^/]*)@)?(\/[^?#]+)(?:\?db=(\d+))?$/i.exec(url)
  const [, info, path, database] = match ?? []
  if (path === undefined)
    throw new ConfigError('a redis+unix: URL must have the form redis+unix:///path/to/socket[?db=N]')
  const nodes: Node[] = [{ path: decode(path) }]
  return {
    address: `redis+unix://${path}`,
    nodes,
    topology: 'single',
    tls: false,
    ...credentials(info),
    ...(database !== undefined && { database: Number(database) }),
  }
}
