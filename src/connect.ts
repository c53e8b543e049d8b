import type { Client } from './api/client.js'
import { outside } from './base/scope.js'
import type { ClientOptions } from './config/client-options.js'

/**
 * Connects to a server, or opens the embedded one.
 *
 *     const client = await connect('redis://localhost:6379')
 *     const client = await connect({ url: 'memory:', watchdog: 10_000 })
 *     const client = await connect({ file: 'redisson.yml' }) // Redisson's own configuration
 *     const client = await connect() // HOLDFAST_URL, else REDIS_URL
 */
export const connect = (from?: string | URL | ClientOptions): Promise<Client> => opened(from, false)

/** The same for people who want to see what is wrong: a part of a cluster is enough. */
export const connectPartly = (from: ClientOptions): Promise<Client> => opened(from, true)

const opened = async (from: string | URL | ClientOptions | undefined, partly: boolean): Promise<Client> => {
  // A program that imports the package and never connects, such as a command line that prints its help, loads no kind of lock.
  // The client outlives the call, so it keeps nothing of the scope in which it was created.
  return outside(async () => {
    const { open } = await import('./open.js')
    return open(from, partly)
  })
}
