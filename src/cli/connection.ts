import type { Client } from '../api/client.js'
import type { ClientOptions } from '../config/client-options.js'
import { connectPartly } from '../connect.js'
import { ConfigError } from '../errors.js'
import { connect } from '../index.js'
import { textOf } from '../thrown.js'
import { plainText } from '../plain-text.js'
import { reportError } from './report-error.js'
import { shownAddress } from './shown-address.js'
import { say } from './say.js'
import { UsageError, usageOf } from './usage-error.js'

/** The options that say which server. */
export const CONNECTION = {
  url: { type: 'string', value: 'URL', help: 'the server (default: HOLDFAST_URL, else REDIS_URL)' },
  config: { type: 'string', value: 'FILE', file: true, help: 'a Redisson configuration, instead of a URL' },
} as const

interface Values {
  readonly url?: string | undefined
  readonly config?: string | undefined
}

const isMemory = (url: string | undefined): boolean => url !== undefined && /^memory:/i.test(url)

/** No other process can reach the embedded engine, so a lock there would exclude nobody. */
const mustBeServer = (url: string | undefined): void => {
  if (isMemory(url)) {
    throw new UsageError('the URL must name a server: no other process can see a lock on memory:')
  }
}

type Environment = Readonly<Record<string, string | undefined>>

/** An empty variable counts as not set. */
const urlOf = ({ HOLDFAST_URL, REDIS_URL }: Environment): string | undefined =>
  [HOLDFAST_URL, REDIS_URL].find((value) => value !== undefined && value !== '')

/** Whether they lead to the embedded engine. */
export const leadsToMemory = ({ url, config }: Values, env: Environment): boolean =>
  config === undefined && isMemory(url ?? urlOf(env))

export const connectionOf = ({ url, config }: Values, env: Environment): ClientOptions => {
  if (url === '' || config === '') throw new UsageError(`--${url === '' ? 'url' : 'config'} must not be empty`)
  if (url !== undefined && config !== undefined) throw new UsageError('--url and --config exclude each other')
  if (config === undefined) mustBeServer(url ?? urlOf(env))
  return { ...(url !== undefined && { url }), ...(config !== undefined && { file: config }) }
}

/** Which server it is, for people; without a password. */
export const shownServer = ({ url, config }: Values, env: Environment): string =>
  config === undefined ? shownAddress(url ?? urlOf(env) ?? '') : plainText(config)

/** The options with which another command reaches the same server. A password is not shown. */
export const sameServer = ({ url, config }: Values): readonly string[] => {
  if (config !== undefined) return ['--config', config]
  if (url === undefined) return []
  return ['--url', /@|password/i.test(url) ? 'URL' : url]
}

const NO_SERVER =
  'no server to connect to: set HOLDFAST_URL or REDIS_URL, or pass --url redis://host:6379 or --config FILE'

export const opened = async (
  options: ClientOptions,
  connecting: (options: ClientOptions) => Promise<Client> = connect,
): Promise<Client> => {
  if (options.file === undefined && (options.url ?? urlOf(process.env)) === undefined) throw new ConfigError(NO_SERVER)
  try {
    return await connecting(options)
  } catch (error) {
    throw usageOf(error)
  }
}

/** What the command has done is done, so its exit code stays. */
export const closed = async (client: Client, drain = 0): Promise<void> => {
  try {
    await client.close({ drain })
  } catch (error) {
    say(textOf(error))
  }
}

interface Presented {
  readonly presence?: boolean
  readonly onError?: (error: unknown) => void
}

/**
 * Connects for one command, and returns its exit code. Without `presence` the client writes nothing of its own to the server, so a user who may only read is
 * enough.
 */
export const withClient = async (
  options: ClientOptions,
  work: (client: Client) => Promise<number>,
  { presence = false, onError = (error: unknown) => say(textOf(error)) }: Presented = {},
): Promise<number> => {
  try {
    const client = await opened({ ...options, presence }, connectPartly)
    client.on('error', onError)
    try {
      return await work(client)
    } finally {
      await closed(client)
    }
  } catch (error) {
    return reportError(error)
  }
}
