import type { Client, Scenario, World } from '../../support/engines.js'

/** Both sides, through a client of their own. */
export const open = async (w: World, options: Parameters<World['connect']>[0] = {}) => {
  const client = await w.connect(options)
  return { client, ...client.readWriteLock(w.id) }
}

/** Both sides, for one owner. */
export const thread = (client: Client, name: string) => {
  const { read, write } = client.readWriteLock(name)
  const me = client.owner()
  return { read: read.for(me), write: write.for(me) }
}

/** The same tests, where all read-write locks are fair. */
export const fairly =
  (scenario: Scenario): Scenario =>
  (name, body, on) => {
    const fair = (w: World): Promise<void> => {
      const connect = w.connect.bind(w)
      const connectFairly = async (options: Parameters<World['connect']>[0]): Promise<Client> => {
        const client = await connect(options)
        const readWriteLock = client.readWriteLock.bind(client)
        return Object.assign(client, { readWriteLock: (of: string) => readWriteLock(of, { fair: true }) })
      }
      return body(Object.assign(w, { connect: connectFairly }))
    }
    scenario(name, fair, on)
  }
