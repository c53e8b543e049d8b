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
  /** Others stand behind those. */
  readonly followed: boolean
}

/** It may be its turn: who tells it knows of nobody who hears that, and has granted nothing. */
export interface Call {
  readonly wire: string
  readonly stamp: undefined
}

/** Where this client hears of its grants. */
export class GrantEar {
  readonly #host: LineHost
  readonly #channel: string | undefined
  readonly #heard: (grant: Grant | Call | undefined) => void
  #ear: Ear | undefined

  /** `heard` is told `undefined` when messages may have been missed. */
  constructor(host: LineHost, protocol: LineProtocol, heard: (grant: Grant | Call | undefined) => void) {
    this.#host = host
    this.#channel = protocol.grants(host.runtime.options.id)
    this.#heard = heard
  }

  /** They are heard from now on. */
  async listen(): Promise<void> {
    const { options } = this.#host.runtime
    try {
      if (!this.listens()) await this.#ear?.ready
    } catch (error) {
      options.logger.warn(`cannot subscribe for '${this.#host.name}': waiting by polling`, error)
    }
  }

  /** They are heard from now on: true where nothing has to be waited for. */
  listens(): boolean {
    this.#attend()
    return this.hears
  }

  /** Whether they are heard already. */
  get hears(): boolean {
    return this.#channel === undefined || this.#host.runtime.wakeups.hears(this.#channel)
  }

  #attend(): Ear | undefined {
    if (this.#channel === undefined) return undefined
    const { wakeups, options, counting, link, sharded } = this.#host.runtime
    // Else it is known that it does not.
    const counts = sharded || !link.cluster
    return (this.#ear ??= wakeups.listen(this.#channel, (payload) => {
      const grant = payload === undefined ? undefined : grantOf(payload, options.id)
      if (grant !== undefined && counts) counting.heard(grant.stamp !== undefined)
      this.#heard(grant)
    }))
  }

  close(): void {
    this.#ear?.close()
    this.#ear = undefined
  }
}

const grantOf = (payload: string, client: string): Grant | Call => {
  const [wire = '', stamp, ...behind] = payload.split(' ')
  if (stamp === undefined) return { wire, stamp }
  const followed = behind.at(-1) === '+'
  if (followed) behind.pop()
  return { wire, stamp: Number(stamp), behind: behind.map((rest) => `${client}:${rest}`), followed }
}

/** Whether grants are heard, and told from old ones, already: a free lock is worth no subscription. */
export const hearsGrants = (runtime: Runtime, protocol: LineProtocol): boolean => {
  const channel = protocol.grants(runtime.options.id)
  const heard = channel === undefined || runtime.wakeups.hears(channel)
  return heard && runtime.serverTime(protocol.key).latest !== undefined
}
