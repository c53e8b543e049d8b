import type { Settings } from './config/settings.js'
import type { ThreadOpener } from './core/hold/renewal-thread-handle.js'
import type { Driver } from './engine/driver.js'

/** The settings that a driver needs. */
export type DriverSettings = Pick<Settings, 'place' | 'tls' | 'clock' | 'connectTimeout' | 'commandTimeout'>

/** Loads only what is needed: no Redis client for `memory:`, no Lua for a server. */
export const openDriver = async (settings: DriverSettings, partly: boolean): Promise<Driver> => {
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

/** The thread that renews the holds while this one is blocked, if it is wanted. */
export const openThread = async (settings: Settings): Promise<ThreadOpener | undefined> => {
  if (settings.thread === undefined) return undefined
  const { threadOf } = await import('./thread/open.js')
  return threadOf(settings, settings.thread)
}
