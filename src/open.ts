import type { Client } from './api/client.js'
import { start } from './client.js'
import { readSettings, type Settings } from './config/settings.js'
import type { Driver } from './engine/driver.js'
import type { ClientOptions } from './config/client-options.js'
import { retryConnect } from './retry-connect.js'

/** The implementation of `connect`. `partly`: a part of a cluster is enough, also if it says that the cluster is down. */
export const open = async (from?: string | URL | ClientOptions, partly = false): Promise<Client> => {
  const settings = await readSettings(from, environment())
  return retryConnect(settings, async (limits) => start(settings, await openDriver(settings, partly), limits))
}

/** Loads only what is needed: no Redis client for `memory:`, no Lua for a server. */
const openDriver = async (settings: Settings, partly: boolean): Promise<Driver> => {
  const { place, tls, clock, connectTimeout, commandTimeout } = settings
  if (place.engine === 'memory') {
    const [{ MemoryDriver }, { openMemoryServer }] = await Promise.all([
      import('./engine/memory/driver.js'),
      import('./engine/memory/registry.js'),
    ])
    return new MemoryDriver(openMemoryServer(place.name, clock), place.name)
  }
  if (place.engine === 'node-redis') {
    const { NodeRedisDriver } = await import('./engine/node-redis/driver.js')
    return new NodeRedisDriver(place.connection)
  }
  if (place.engine === 'glide') {
    const { GlideDriver } = await import('./engine/glide/driver.js')
    return new GlideDriver(place.connection)
  }
  const { IoredisDriver } = await import('./engine/ioredis/driver.js')
  if (place.engine === 'ioredis') return new IoredisDriver(place.connection, 'the connection passed in')
  return IoredisDriver.open(place.endpoint, { tls, connectTimeout, commandTimeout, clock, partly })
}

const environment = (): Readonly<Record<string, string | undefined>> =>
  typeof process === 'undefined' ? {} : process.env
