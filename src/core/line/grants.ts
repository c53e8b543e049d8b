import { hash } from 'node:crypto'
import { integer, text, tuple } from '../../lua/shape.js'
import type { LineProtocol } from '../protocol/line-protocol.js'
import type { Runtime } from '../client/runtime.js'
import { passes } from '../server/trouble.js'
import type { Ear } from '../server/wakeups.js'
import type { LineHost } from '../waiting/host.js'

/** One of this client's was granted the lock, if the proof is right. */
export interface Grant {
  /** Of its wire name. */
  readonly number: number
  /** When, by the server's clock, µs. */
  readonly stamp: number
  /** The numbers of those of this client who stood right behind it. */
  readonly behind: readonly number[]
  /** Others stand behind those. */
  readonly followed: boolean
  /** What is proven, and by what. */
  readonly text: string
  readonly proof: string
}

const GRANT = /^([1-9]\d{0,14}) (\d{1,16})((?: [1-9]\d{0,14}){0,63})( \+)?(?= [0-9a-f]{16}$)/
const PROOF = 16
/** No grant is longer. */
const LONGEST = 1200

/** Undefined: it is none. What else is said to this client may be said by anybody, and is worth a question. */
export const grantOf = (payload: string): Grant | undefined => {
  const parts = payload.length > LONGEST ? null : GRANT.exec(payload)
  if (parts === null) return undefined
  const [text, number, stamp, behind = '', followed] = parts
  return {
    number: Number(number),
    stamp: Number(stamp),
    behind: behind === '' ? [] : behind.slice(1).split(' ').map(Number),
    followed: followed !== undefined,
    text,
    proof: payload.slice(-PROOF),
  }
}

/** Whoever wrote it knew the whole name of the owner, and so can read the keys of the lock. */
export const isProven = ({ text, proof }: Grant, wire: string): boolean =>
  hash('sha1', `${wire} ${text}`, 'hex').startsWith(proof)

/** Where this client hears of its grants. */
export class GrantEar {
  readonly #host: LineHost
  readonly #channel: string | undefined
  readonly #heard: (grant: Grant | undefined) => void
  #ear: Ear | undefined

  /** `heard` is told `undefined` when there is something to ask about: it was called, or messages may have been missed. */
  constructor(host: LineHost, protocol: LineProtocol, heard: (grant: Grant | undefined) => void) {
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
    const { wakeups, counting } = this.#host.runtime
    return (this.#ear ??= wakeups.listen(this.#channel, (payload) => {
      const grant = payload === undefined ? undefined : grantOf(payload)
      if (grant !== undefined) counting.granted()
      else if (payload !== undefined) counting.called(() => this.#isCounted())
      this.#heard(grant)
    }))
  }

  /** Anybody may call us: whether the server counts us among those who hear it, it says itself. */
  async #isCounted(): Promise<boolean> {
    const { link, sharded, publishCommand } = this.#host.runtime
    const channel = this.#channel
    // Else it is known that it does not.
    if (channel === undefined || !this.hears || (link.cluster && !sharded)) return true
    const which = publishCommand === 'SPUBLISH' ? 'SHARDNUMSUB' : 'NUMSUB'
    try {
      const [, counted] = await link.command(['PUBSUB', which, channel], tuple(text, integer), { route: channel })
      return this.#ear === undefined || counted > 0
    } catch (trouble) {
      return passes(trouble)
    }
  }

  close(): void {
    this.#ear?.close()
    this.#ear = undefined
  }
}

/** Whether grants are heard, and told from old ones, already: a free lock is worth no subscription. */
export const hearsGrants = (runtime: Runtime, protocol: LineProtocol): boolean => {
  const channel = protocol.grants(runtime.options.id)
  const heard = channel === undefined || runtime.wakeups.hears(channel)
  return heard && runtime.serverTime(protocol.key).latest !== undefined
}
