import type { Settings } from './config/settings.js'
import type { Driver } from './engine/driver.js'
import { MemoryDriver } from './engine/memory/driver.js'
import { openMemoryServer } from './engine/memory/registry.js'
import { ConfigError } from './errors.js'

/** The same in a browser, which cannot open a connection to Redis. */
export const openDriver = ({ place, clock }: Settings): Promise<Driver> => {
  if (place.engine === 'memory')
    return Promise.resolve(new MemoryDriver(openMemoryServer(place.name, clock), place.name))
  return Promise.reject(new ConfigError("a browser cannot connect to Redis: it has only connect('memory:')"))
}

export const openThread = ({ thread }: Settings): undefined => {
  if (thread !== undefined)
    throw new ConfigError('a browser has no thread that could renew locks: omit watchdog.thread')
}
