import { wireOwner } from '../keys.js'
import type { LineHost, LineProtocol } from './line-protocol.js'
import type { Runtime } from './runtime.js'
import type { Ear } from './wakeups.js'

/** One of this client's was granted the lock. */
export interface Grant {
  readonly wire: string
  /** When, by the server's clock, µs. */
  readonly stamp: number
  /** Those of this client who stood right behind it. */
  readonly behind: readonly string[]
}

/** Where this client hears of its grants. */
export class GrantEar {
  readonly #host: LineHost
  readonly #channel: string | undefined
  readonly #heard: (grant: Grant | undefined) => void
  #ear: Ear | undefined

  /** `heard` is told `undefined` when messages may have been missed. */
  constructor(host: LineHost, protocol: LineProtocol, heard: (grant: Grant | undefined) => void) {
    this.#host = host
    this.#channel = protocol.grants(host.runtime.options.id)
    this.#heard = heard
  }

  /** They are heard from now on. */
  async listen(): Promise<void> {
    if (this.#channel === undefined) return
    const { wakeups, options } = this.#host.runtime
    this.#ear ??= wakeups.listen(this.#channel, (payload) => {
      this.#heard(payload === undefined ? undefined : grantOf(payload, options.id))
    })
    try {
      await this.#ear.ready
    } catch (error) {
      options.logger.warn(`cannot subscribe for '${this.#host.name}': waiting by polling`, error)
    }
  }

  close(): void {
    this.#ear?.close()
    this.#ear = undefined
  }
}

const grantOf = (payload: string, client: string): Grant => {
  const [wire = '', stamp, ...behind] = payload.split(' ')
  return { wire, stamp: Number(stamp), behind: behind.map((number) => wireOwner(client, Number(number))) }
}

/** Whether grants are heard, and told from old ones, already: a free lock is worth no subscription. */
export const hearsGrants = (runtime: Runtime, protocol: LineProtocol): boolean => {
  const channel = protocol.grants(runtime.options.id)
  const heard = channel === undefined || runtime.wakeups.hears(channel)
  return heard && runtime.serverTime(protocol.key).latest !== undefined
}
