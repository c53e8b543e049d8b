import type { Client } from '../api/client.js'
import { systemClock } from '../base/clock.js'
import { askAhead } from '../cli/server-clock.js'

/** The server's time, as far as the answers of the server say. */
export class ServerTime {
  readonly #client: Client
  /** ms that the server's clock is ahead of this machine's. */
  #ahead = 0

  constructor(client: Client) {
    this.#client = client
  }

  now(): number {
    return Math.round(systemClock.now() + this.#ahead)
  }

  /** A slow answer says little: what was known stays if the answer does not contradict it. So the time does not jump to and fro. */
  async ask(): Promise<void> {
    const [least, most] = await askAhead(this.#client)
    if (this.#ahead < least || this.#ahead > most) this.#ahead = (least + most) / 2
  }
}
