import type { Client } from './api/client.js'
import { checkMethods, checkOptions, checkWait } from './check-arguments.js'
import type { ClientOptions } from './config/client-options.js'
import { connect } from './connect.js'

/** The client of an app: which one, and how it closes with the app. */
export interface AppClientOptions {
  /** What `connect` gets: a URL or its options. Default: `HOLDFAST_URL`, else `REDIS_URL`. */
  readonly connect?: string | URL | ClientOptions | undefined
  /** Your own client instead. The app does not close it. Default: none; the app connects, as `connect` says. */
  readonly client?: Client | undefined
  /** At shutdown, running work has this many ms to end. Default 5000. */
  readonly drain?: number | undefined
}

const KNOWN = ['connect', 'client', 'drain']
export const APP_DRAIN = 5000

/** `more`: what a framework keeps beside the options. */
export const checkAppClient = (
  options: AppClientOptions | undefined,
  more: readonly string[] = [],
): AppClientOptions => {
  const read = checkOptions(options, [...KNOWN, ...more])
  if (read.drain !== undefined) checkWait(read.drain, 'drain')
  if (read.client === undefined) return read
  if (read.connect !== undefined) throw new TypeError('connect and client exclude one another')
  checkMethods(read.client, 'client', ['lock', 'close'])
  return read
}

/** `opened`: is called with a client that the app must close. */
export const appClient = async (
  { connect: to, client }: AppClientOptions,
  opened: (client: Client) => void,
): Promise<Client> => {
  if (client !== undefined) return client
  const own = await connect(to)
  opened(own)
  return own
}
