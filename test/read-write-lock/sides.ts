import type { Client, World } from '../engines.js'

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
