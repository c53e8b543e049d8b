import type { Arg, Reply } from '../../lua/values.js'
import type { IoredisClient } from './client-type.js'
import { call } from './commands.js'

/** While a script runs, the server accepts only commands that end it: no SELECT, no INFO. */
const BARE = { lazyConnect: true, db: 0, enableReadyCheck: false, disableClientInfo: true, retryStrategy: null }

/** Connections for one command each, which would otherwise wait behind a script that does not end. */
export class SeparateConnections {
  readonly #open = new Set<IoredisClient>()

  async send(node: IoredisClient, argv: readonly Arg[]): Promise<Reply> {
    const client = node.duplicate(BARE)
    client.on('error', () => undefined)
    this.#open.add(client)
    try {
      await client.connect()
      return await call(client, argv)
    } finally {
      this.#open.delete(client)
      client.disconnect()
    }
  }

  close(): void {
    for (const client of this.#open) client.disconnect()
  }
}
