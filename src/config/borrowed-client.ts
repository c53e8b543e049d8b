import type { GlideClient } from '../engine/glide/client-type.js'
import type { IoredisClient } from '../engine/ioredis/client-type.js'
import type { NodeRedisClient } from '../engine/node-redis/client-type.js'
import { ConfigError } from '../errors.js'

/** A client that the caller made. */
export type Borrowed =
  | { readonly engine: 'ioredis'; readonly connection: IoredisClient }
  | { readonly engine: 'node-redis'; readonly connection: NodeRedisClient }
  | { readonly engine: 'glide'; readonly connection: GlideClient }

/** Options that change keys or replies without holdfast noticing. */
interface Changing {
  readonly keyPrefix?: unknown
  readonly stringNumbers?: unknown
}

interface Changed {
  readonly options?: Changing & { readonly redisOptions?: Changing }
  /** ioredis's mode, such as `subscriber`. */
  readonly mode?: unknown
}

/** Recognizes clients by their methods, so that none of their libraries is loaded here. */
export const borrowed = (connection: object, url: string | undefined): Borrowed => {
  if (url !== undefined) throw new ConfigError('pass either a url or a connection, not both')
  const has = (...methods: string[]): boolean =>
    methods.every((method) => typeof (connection as Record<string, unknown> | null)?.[method] === 'function')
  if (has('callBuffer', 'duplicate')) return { engine: 'ioredis', connection: plain(connection) as IoredisClient }
  if (has('sendCommand', 'sSubscribe')) {
    return { engine: 'node-redis', connection: plain(connection) as NodeRedisClient }
  }
  if (has('customCommand', 'getStatistics')) return { engine: 'glide', connection: glide(connection, has) }
  throw new ConfigError(
    'connection must be an ioredis client (version 5 or 6), a node-redis client (version 5 or 6), ' +
      'or a GlideClient of Valkey GLIDE (from 2.3 on)',
  )
}

/** Checks that the client sends commands and returns replies unchanged. */
const plain = (connection: object): object => {
  const { options, mode } = connection as Changed
  const all = [options, options?.redisOptions]
  if (all.some((some) => some?.keyPrefix !== undefined && some.keyPrefix !== '')) {
    throw new ConfigError(
      'the connection adds a keyPrefix to keys but not to channels, so waiters would not be woken: ' +
        'connect without it and pass mapName instead',
    )
  }
  if (all.some((some) => some?.stringNumbers === true)) {
    throw new ConfigError('the connection has stringNumbers, which turns numbers into text: connect without it')
  }
  if (mode === 'subscriber' || mode === 'monitor') {
    throw new ConfigError(`the connection is in ${mode} mode and cannot send commands: pass another one`)
  }
  return connection
}

const glide = (connection: object, has: (...methods: string[]) => boolean): GlideClient => {
  if (has('ssubscribe')) {
    throw new ConfigError('a GlideClusterClient cannot be used: pass a client of ioredis or node-redis for a cluster')
  }
  const { config, constructor } = connection as Partial<Pick<GlideClient, 'config' | 'constructor'>>
  if (!has('subscribe', 'psubscribe') || config === undefined || typeof constructor?.createClient !== 'function') {
    throw new ConfigError(
      'this Valkey GLIDE client cannot subscribe after it is created, so waiters would not be woken: use version 2.3 or newer',
    )
  }
  return connection as GlideClient
}
