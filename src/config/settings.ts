import type { Codec } from '../api/codec.js'
import type { JavaCodec } from '../codecs/java-codec.js'
import { type Clock, systemClock } from '../base/clock.js'
import type { FullTlsOptions } from '../engine/endpoint.js'
import { ConfigError } from '../errors.js'
import {
  checkCount,
  checkFlag,
  checkFunction,
  checkKnown,
  checkLabel,
  checkMethods,
  checkRelease,
  checkText,
  checkTimeout,
  show,
  readOnce,
} from '../check-arguments.js'
import type { Deadlocks } from '../api/deadlock.js'
import type { RedissonVersion } from '../api/client.js'
import type { ReleaseMode } from '../api/hold.js'
import type { Logger } from '../api/monitoring.js'
import { borrowed, type Borrowed } from './borrowed-client.js'
import { guarded, silent } from './logger.js'
import { retryOf, type RetryOptions } from './retry-option.js'
import { tlsOf } from './tls.js'
import { type Place, placeOfUrl } from './url.js'
import { checkThread, type ThreadSettings, watchdogOf } from './watchdog-option.js'
import { codecOf } from '../codecs/codec-by-name.js'
import type { ClientOptions, Filed } from './client-options.js'
import { quoted } from '../plain-text.js'

/** Every option with its value. */
export interface Settings {
  readonly place: Place | Borrowed
  readonly tls: FullTlsOptions
  readonly watchdog: number
  /** Undefined: holds are renewed in this thread only. */
  readonly thread: ThreadSettings | undefined
  readonly fairWaiterTimeout: number
  readonly redisson: RedissonVersion
  readonly replicas: { readonly sync: boolean; readonly timeout: number }
  readonly mapName: (name: string) => string
  readonly codec: Codec
  /** The codec of the Redisson clients that use this file. */
  readonly javaCodec: JavaCodec | undefined
  readonly connectTimeout: number
  readonly retry: RetryOptions | undefined
  readonly commandTimeout: number
  readonly maxWaiters: number
  readonly release: ReleaseMode
  readonly clock: Clock
  readonly label: string | undefined
  readonly presence: boolean
  readonly deadlocks: Deadlocks
  readonly logger: Logger
  /** Whether releases are published with SPUBLISH; undefined: if the server supports it. */
  readonly sharded: boolean | undefined
  /** What is not used of a file, or not safe. */
  readonly warnings: readonly string[]
}

const KNOWN: readonly (keyof ClientOptions)[] = [
  'url',
  'connection',
  'tls',
  'file',
  'nameMappers',
  'watchdog',
  'fairWaiterTimeout',
  'redisson',
  'replicas',
  'mapName',
  'codec',
  'connectTimeout',
  'retry',
  'commandTimeout',
  'maxWaiters',
  'release',
  'clock',
  'label',
  'presence',
  'deadlocks',
  'logger',
]

const DEADLOCKS: readonly Deadlocks[] = ['report', 'break', 'off']

const VERSIONS: readonly RedissonVersion[] = ['3.8', '3.16', '3.17', '4']

type Environment = Readonly<Record<string, string | undefined>>

type From = string | URL | ClientOptions | undefined

/** Reads the file, if one is named. Only then the code to read it is loaded. */
export const readSettings = async (from: From, env: Environment): Promise<Settings> => {
  const { file, nameMappers: mappers = {}, ...options } = optionsOf(from)
  const nameMappers = mappersOf(mappers)
  if (file === undefined) return settle(options, env)
  checkText(file, 'file')
  if (options.url !== undefined || options.connection !== undefined)
    throw new ConfigError('pass only one of file, url and connection')
  const { readConfig } = await import('#read-config')
  const filed = await readConfig(file, env, { ...options, nameMappers })
  return settle({ ...given(filed.options), ...given(options), ...leaseOf(filed.options, options) }, env, filed)
}

/** `undefined` means omitted. */
const given = <O extends object>(options: O): Partial<O> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<O>

/** An object of options for the watchdog may leave the lease to the file. */
const leaseOf = (filed: ClientOptions, { watchdog }: ClientOptions): ClientOptions =>
  typeof watchdog === 'object' &&
  (watchdog as unknown) !== null &&
  !Array.isArray(watchdog) &&
  typeof filed.watchdog === 'number'
    ? { watchdog: { lease: filed.watchdog, ...given(watchdog) } }
    : {}

const mappersOf = (mappers: unknown): NonNullable<ClientOptions['nameMappers']> => {
  if (typeof mappers !== 'object' || mappers === null)
    throw new TypeError(`nameMappers must be functions by the names of Java classes, not ${show(mappers)}`)
  const read = Object.entries(mappers as NonNullable<ClientOptions['nameMappers']>)
  for (const [name, mapper] of read) checkFunction(mapper, `nameMappers[${quoted(name)}]`)
  return Object.fromEntries(read)
}

export const settle = (from: From, env: Environment, filed?: Filed): Settings => {
  const options = optionsOf(from)
  const {
    mapName = (name) => name,
    codec = 'json',
    clock = systemClock,
    label,
    presence = true,
    deadlocks = 'report',
    logger = silent,
  } = options
  checkFunction(mapName, 'mapName')
  checkMethods(clock, 'clock', ['now', 'monotonic', 'setTimer', 'randomBytes', 'random'])
  checkMethods(logger, 'logger', ['debug', 'info', 'warn', 'error'])
  if (label !== undefined) checkLabel(label)
  checkFlag(presence, 'presence')
  const { connectTimeout = 10_000, commandTimeout = 3000, maxWaiters = Infinity } = options
  const redisson = versionOf(options.redisson)
  // The same time as for the waiters of that Redisson version.
  const { fairWaiterTimeout = redisson === '3.8' ? 5000 : 300_000 } = options
  const place = filed?.place ?? placeOf(options, env)
  const renewal = watchdogOf(options.watchdog)
  if (renewal.thread !== undefined) checkThread(place, clock)
  return {
    place,
    tls: { ...filed?.tls, ...tlsOf(options.tls, 'connection' in place ? undefined : place) },
    ...renewal,
    fairWaiterTimeout: checkTimeout(fairWaiterTimeout, 'fairWaiterTimeout'),
    redisson,
    connectTimeout: checkTimeout(connectTimeout, 'connectTimeout'),
    retry: retryOf(options.retry),
    commandTimeout: checkTimeout(commandTimeout, 'commandTimeout'),
    replicas: replicasOf(options.replicas, commandTimeout),
    maxWaiters: checkCount(maxWaiters, 'maxWaiters'),
    release: checkRelease(options.release) ?? 'answered',
    mapName,
    codec: codecOf(codec),
    javaCodec: filed?.javaCodec,
    clock,
    label,
    presence,
    deadlocks: deadlocksOf(deadlocks),
    logger: guarded(logger),
    sharded: filed?.sharded ?? shardedBeside(redisson),
    warnings: filed?.warnings ?? [],
  }
}

/** Redisson before 3.22 neither sends nor receives sharded messages. */
const shardedBeside = (redisson: RedissonVersion): boolean | undefined => (redisson === '4' ? undefined : false)

const versionOf = (wanted: unknown = '4'): RedissonVersion => {
  const version = VERSIONS.find((one) => one === wanted)
  if (version !== undefined) return version
  throw new ConfigError(`redisson must be one of '${VERSIONS.join("', '")}', not ${show(wanted)}`)
}

const deadlocksOf = (wanted: unknown): Deadlocks => {
  const known = DEADLOCKS.find((one) => one === wanted)
  if (known !== undefined) return known
  throw new ConfigError(`deadlocks must be one of '${DEADLOCKS.join("', '")}', not ${show(wanted)}`)
}

const replicasOf = (wanted: ClientOptions['replicas'] = {}, commandTimeout: number): Settings['replicas'] => {
  if (typeof wanted !== 'object' || (wanted as unknown) === null) {
    throw new TypeError(`replicas must be { sync, timeout }, not ${show(wanted)}`)
  }
  const unknown = Object.keys(wanted).find((key) => key !== 'sync' && key !== 'timeout')
  if (unknown !== undefined) throw new TypeError(`replicas has no ${quoted(unknown)}; it has sync, timeout`)
  const { sync = true, timeout: asked } = wanted
  const timeout = asked ?? Math.min(1000, Math.ceil(commandTimeout / 2))
  checkFlag(sync, 'replicas.sync')
  checkTimeout(timeout, 'replicas.timeout')
  // Otherwise the caller would give up on the reply before it comes.
  if (timeout < commandTimeout || asked === undefined) return { sync, timeout }
  throw new RangeError(`replicas.timeout must be below commandTimeout (${commandTimeout}), not ${timeout}`)
}

/** An unknown option may be misspelt or from a later version. It must not be ignored: it might name another server. */
const optionsOf = (from: unknown): ClientOptions => {
  if (from === undefined) return {}
  if (typeof from === 'string') return { url: from }
  if (from instanceof URL) return { url: from.href }
  if (typeof from !== 'object' || from === null || Array.isArray(from)) {
    throw new TypeError(`connect takes a URL or an object of options, not ${show(from)}`)
  }
  checkKnown(from, KNOWN)
  return readOnce(from, KNOWN)
}

const placeOf = (options: ClientOptions, env: Environment): Settings['place'] => {
  if (options.connection !== undefined) return borrowed(options.connection, options.url)
  if (options.url !== undefined) checkText(options.url, 'url')
  // An empty variable counts as not set.
  const url =
    options.url ?? [env['HOLDFAST_URL'], env['REDIS_URL']].find((value) => value !== undefined && value !== '')
  if (url === undefined || url === '') {
    throw new ConfigError(
      "no server to connect to: pass a URL ('redis://host:6379', 'memory:') or a file, or set HOLDFAST_URL or REDIS_URL",
    )
  }
  return placeOfUrl(url)
}
