import type { Endpoint } from '../endpoint.js'
import type { IoredisClient } from './client-type.js'
import { type ConnectionOptions, sentinelEars } from './own-client.js'

const SWITCHED = '+switch-master'

/**
 * The sentinels' messages that another server is the master. The former master goes on as one until it learns of it, some 8 s later,
 * and whatever is written to it meanwhile is lost.
 */
export class SentinelNews {
  readonly #endpoint: Endpoint
  readonly #connection: ConnectionOptions
  #ears: readonly IoredisClient[] = []

  constructor(endpoint: Endpoint, connection: ConnectionOptions) {
    this.#endpoint = endpoint
    this.#connection = connection
  }

  /**
   * `switched` gets the new master, from each sentinel. A sentinel that cannot be reached is tried again; one that refuses is
   * ignored.
   */
  listen(switched: (host: string, port: number) => void): void {
    const { master } = this.#endpoint
    this.#ears = sentinelEars(this.#endpoint, this.#connection).map((ear) => {
      // While the server is there, an absent sentinel does not matter.
      ear.on('error', () => undefined)
      ear.on('message', (_channel: string, news: string) => {
        const [name, , , host = '', port] = news.split(' ')
        if (name === master) switched(host, Number(port))
      })
      ear.subscribe(SWITCHED).catch(() => ear.disconnect())
      return ear
    })
  }

  close(): void {
    for (const ear of this.#ears) ear.disconnect()
  }
}
