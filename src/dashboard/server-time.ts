import type { Client } from '../api/client.js'
import { steadyMoment, systemClock } from '../base/clock.js'
import { askAhead } from '../cli/server-clock.js'

/** ms. If the clock differs by more than this from what was known, it was set, or it is another server's. */
const SET = 1000

/** The server's time, as far as the answers of the server say. Between them the monotonic clock counts: this machine's wall clock may be set, too. */
export class ServerTime {
  readonly #client: Client
  /** ms that the server's clock is ahead of this process's monotonic clock. */
  #ahead: number | undefined
  /** How often the clock was set: a time from before does not compare with one from now. */
  timesSet = 0

  constructor(client: Client) {
    this.#client = client
  }

  now(): number {
    return Math.round(this.#ahead === undefined ? systemClock.now() : systemClock.monotonic() + this.#ahead)
  }

  /** A slow answer says little: what was known stays if the answer does not contradict it. So the time does not jump to and fro. */
  async ask(): Promise<void> {
    const bounds = await askAhead(this.#client)
    const { wall, mono } = steadyMoment(systemClock)
    const [least, most] = [bounds[0] + wall - mono, bounds[1] + wall - mono]
    const known = this.#ahead
    if (known !== undefined && known >= least && known <= most) return
    this.#ahead = (least + most) / 2
    if (known !== undefined && Math.abs(this.#ahead - known) > SET) this.timesSet += 1
  }
}
