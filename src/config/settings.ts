import { type Clock, systemClock } from '../core/clock.js'
import type { IoredisClient } from '../engine/target.js'
import { ConfigError } from '../errors.js'
import { checkCount, checkFunction, checkLease } from '../options.js'
import type { Logger } from '../types.js'
import { type Place, parseUrl } from './url.js'

export interface ClientOptions {
  /** Where: see `connect`. Default: HOLDFAST_URL, else REDIS_URL. */
  readonly url?: string | undefined
  /** An ioredis client (5 or 6) that the caller owns and closes. Instead of `url`. */
  readonly connection?: object | undefined
  /** Lease of holds taken without one; renewed every third of it while the hold lives. Default 30 000. */
  readonly watchdog?: number | undefined
  /** Redisson's NameMapper: from the name to the key. Default: as it is. */
  readonly mapName?: ((name: string) => string) | undefined
  /** Default 10 000. */
  readonly connectTimeout?: number | undefined
  /** No command waits longer for its reply. Default 3000. */
  readonly commandTimeout?: number | undefined
  /** How many acquire calls may wait in this client before `BusyError`. Default: any number. */
  readonly maxWaiters?: number | undefined
  /** Default: the system's. `virtualClock(seed)` of `holdfast/testing` makes `memory:` deterministic. */
  readonly clock?: Clock | undefined
  /** Shown to people where this client holds or waits. Default: host and pid. */
  readonly label?: string | undefined
  /** Whether the label is kept in a small key of this client. Default true. */
  readonly presence?: boolean | undefined
  /** Default: silent. */
  readonly logger?: Logger | undefined
}

/** Every option with its value. */
export interface Settings {
  readonly place: Place | { readonly engine: 'borrowed'; readonly connection: IoredisClient }
  readonly watchdog: number
  readonly mapName: (name: string) => string
  readonly connectTimeout: number
  readonly commandTimeout: number
  readonly maxWaiters: number
  readonly clock: Clock
  readonly label: string | undefined
  readonly presence: boolean
  readonly logger: Logger
}

const ignore = (): void => undefined
const silent: Logger = { debug: ignore, info: ignore, warn: ignore, error: ignore }

export const settle = (
  from: string | ClientOptions | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Settings => {
  const options: ClientOptions = typeof from === 'string' ? { url: from } : (from ?? {})
  if (typeof options !== 'object') throw new TypeError('connect takes a URL or an object of options')
  const { mapName = (name) => name, clock = systemClock, label, presence = true, logger = silent } = options
  checkFunction(mapName, 'mapName')
  if (label !== undefined && typeof label !== 'string') throw new TypeError('label must be a string')
  if (typeof presence !== 'boolean') throw new TypeError('presence must be true or false')
  return {
    place: placeOf(options, env),
    watchdog: checkLease(options.watchdog ?? 30_000, 'watchdog'),
    connectTimeout: checkLease(options.connectTimeout ?? 10_000, 'connectTimeout'),
    commandTimeout: checkLease(options.commandTimeout ?? 3000, 'commandTimeout'),
    maxWaiters: checkCount(options.maxWaiters ?? Infinity, 'maxWaiters'),
    mapName,
    clock,
    label,
    presence,
    logger,
  }
}

const placeOf = (options: ClientOptions, env: Readonly<Record<string, string | undefined>>): Settings['place'] => {
  if (options.connection !== undefined) return borrowed(options)
  const url = options.url ?? env['HOLDFAST_URL'] ?? env['REDIS_URL']
  if (typeof url !== 'string' || url === '') {
    throw new ConfigError(
      "no server to connect to: pass a URL ('redis://host:6379', 'memory:'), or set HOLDFAST_URL or REDIS_URL",
    )
  }
  return parseUrl(url)
}

const borrowed = ({ connection, url }: ClientOptions): Settings['place'] => {
  if (url !== undefined) throw new ConfigError('either a url or a connection, not both')
  const client = connection as Partial<IoredisClient> & { options?: { keyPrefix?: string } }
  if (typeof client.callBuffer !== 'function' || typeof client.duplicate !== 'function') {
    throw new ConfigError('connection must be an ioredis client (version 5 or 6)')
  }
  if ((client.options?.keyPrefix ?? '') !== '') {
    throw new ConfigError(
      'the connection adds a keyPrefix to keys but not to channels, so waiters would not be woken: ' +
        'connect without it and pass mapName instead',
    )
  }
  return { engine: 'borrowed', connection: client as IoredisClient }
}
