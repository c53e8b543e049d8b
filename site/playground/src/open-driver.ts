import type { Settings } from '#src/config/settings.js'
import type { Driver } from '#src/engine/driver.js'
import { PortDriver } from './port-driver.js'

let network: PortDriver | undefined

/** The way to the server. There is one in each process. */
export const join = (port: MessagePort): PortDriver => (network = new PortDriver(port))

/** There are no threads beside a worker. */
export const openThread = (): undefined => undefined

/** Takes the place of the library's own: every client of a process uses the network. */
export const openDriver = (_settings: Settings): Promise<Driver> =>
  network === undefined ? Promise.reject(new Error('not connected')) : Promise.resolve(network)
