import type { GlideClient, IoredisClient, NodeRedisClient } from '../engine/target.js'
import { ConfigError } from '../errors.js'

/** A client that the caller made. */
export type Borrowed =
  | { readonly engine: 'ioredis'; readonly connection: IoredisClient }
  | { readonly engine: 'node-redis'; readonly connection: NodeRedisClient }
  | { readonly engine: 'glide'; readonly connection: GlideClient }

interface Prefixed {
  readonly keyPrefix?: unknown
}

/** They are known by what they can do: nothing of them is loaded here. */
export const borrowed = (connection: object, url: string | undefined): Borrowed => {
  if (url !== undefined) throw new ConfigError('either a url or a connection, not both')
  const has = (...methods: string[]): boolean =>
    methods.every((method) => typeof (connection as Record<string, unknown> | null)?.[method] === 'function')
  if (has('callBuffer', 'duplicate')) return { engine: 'ioredis', connection: unprefixed(connection) as IoredisClient }
  if (has('sendCommand', 'sSubscribe')) {
    return { engine: 'node-redis', connection: unprefixed(connection) as NodeRedisClient }
  }
  if (has('customCommand', 'getStatistics')) return { engine: 'glide', connection: glide(connection, has) }
  throw new ConfigError(
    'connection must be an ioredis client (version 5 or 6), a node-redis client (version 5 or 6), ' +
      'or a GlideClient of Valkey GLIDE (from 2.3 on)',
  )
}

const unprefixed = (connection: object): object => {
  const { options } = connection as { options?: Prefixed & { redisOptions?: Prefixed } }
  const prefixes = [options?.keyPrefix, options?.redisOptions?.keyPrefix]
  if (prefixes.every((prefix) => prefix === undefined || prefix === '')) return connection
  throw new ConfigError(
    'the connection adds a keyPrefix to keys but not to channels, so waiters would not be woken: ' +
      'connect without it and pass mapName instead',
  )
}

const glide = (connection: object, has: (...methods: string[]) => boolean): GlideClient => {
  if (has('ssubscribe')) {
    throw new ConfigError('a GlideClusterClient cannot be used: pass a client of ioredis or node-redis for a cluster')
  }
  const { config, constructor } = connection as Partial<Pick<GlideClient, 'config' | 'constructor'>>
  if (!has('subscribe', 'psubscribe') || config === undefined || typeof constructor?.createClient !== 'function') {
    throw new ConfigError(
      'this client of Valkey GLIDE cannot subscribe once it is made, so nobody would be woken: use version 2.3 or newer',
    )
  }
  return connection as GlideClient
}
