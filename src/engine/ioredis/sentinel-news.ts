import type { Redis } from 'ioredis'
import type { Endpoint } from '../endpoint.js'
import { type ConnectionOptions, sentinelEars } from './own-client.js'

const SWITCHED = '+switch-master'

/**
 * What the sentinels tell of their own accord: another server is the master. The one of before goes on as one until it is
 * told, some 8 s later, and what it is told meanwhile is forgotten.
 */
export class SentinelNews {
  readonly #endpoint: Endpoint
  readonly #connection: ConnectionOptions
  #ears: readonly Redis[] = []

  constructor(endpoint: Endpoint, connection: ConnectionOptions) {
    this.#endpoint = endpoint
    this.#connection = connection
  }

  /** `switched`: to whom, by each of the sentinels. One that cannot be heard is tried again; one that refuses tells nothing. */
  listen(switched: (host: string, port: number) => void): void {
    const { master } = this.#endpoint
    this.#ears = sentinelEars(this.#endpoint, this.#connection).map((ear) => {
      // That it is away does not matter as long as the server is there.
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
