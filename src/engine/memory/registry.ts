import type { Clock } from '../../base/clock.js'
import { MemoryServer } from './server.js'

interface Entry {
  readonly server: MemoryServer
  clients: number
}

const KEY = Symbol.for('holdfast.memory')

/** Stored on the global object, so that two installed copies of the package share their named servers. */
const named = (): Map<string, Entry> => {
  const home = globalThis as { [KEY]?: Map<string, Entry> }
  const known = home[KEY]
  if (known !== undefined) return known
  const servers = new Map<string, Entry>()
  home[KEY] = servers
  return servers
}

/**
 * The server with that name in this thread, or a private one without a name. A named server uses the clock of the client that
 * opened it first: a later client with another clock shares that time, as clients of one Redis share the server's. Call
 * `closeMemoryServer` as many times as this.
 */
export const openMemoryServer = (name: string | undefined, clock: Clock): MemoryServer => {
  dropIdle()
  if (name === undefined) return new MemoryServer(clock)
  const servers = named()
  let entry = servers.get(name)
  if (entry === undefined) servers.set(name, (entry = { server: new MemoryServer(clock), clients: 0 }))
  entry.clients++
  return entry.server
}

export const closeMemoryServer = (server: MemoryServer): void => {
  for (const entry of named().values()) {
    if (entry.server !== server) continue
    entry.clients = Math.max(0, entry.clients - 1)
    dropIdle()
    return
  }
  server.close()
}

/** Drops the named servers that no client uses and that have no keys left. */
const dropIdle = (): void => {
  const servers = named()
  for (const [name, { server, clients }] of servers) {
    if (clients > 0 || server.database.size > 0) continue
    servers.delete(name)
    server.close()
  }
}
