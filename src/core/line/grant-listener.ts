import { integer, text, tuple } from '../../lua/reply-shape.js'
import type { LineProtocol } from '../protocol/line-protocol.js'
import type { Runtime } from '../client/runtime.js'
import { isTransient } from '../server/transient-or-unsure-errors.js'
import type { Ear } from '../server/shared-subscriptions.js'
import type { LineHost } from '../waiting/gate-host.js'
import { type Grant, grantOf } from './grant-message.js'
import { quoted } from '../../plain-text.js'

/** Listens for the grants of this client. */
export class GrantListener {
  readonly #host: LineHost
  readonly #channel: string | undefined
  readonly #heard: (grant: Grant | undefined) => void
  #ear: Ear | undefined

  /** `heard` gets `undefined` if there is something to ask about: this client was woken up, or messages may have been missed. */
  constructor(host: LineHost, protocol: LineProtocol, heard: (grant: Grant | undefined) => void) {
    this.#host = host
    this.#channel = protocol.grants(host.runtime.options.id)
    this.#heard = heard
  }

  /** Resolves when grants can be heard, or if it cannot subscribe. */
  async listen(): Promise<void> {
    const { options } = this.#host.runtime
    try {
      if (!this.listens()) await this.#ear?.ready
    } catch (error) {
      options.logger.warn(`could not subscribe for ${quoted(this.#host.name)}, so its waiters poll`, error)
    }
  }

  /** Starts to listen. True if grants can be heard already. */
  listens(): boolean {
    this.#attend()
    return this.hears
  }

  /** Whether grants can be heard already. */
  get hears(): boolean {
    return this.#channel === undefined || this.#host.runtime.subscriptions.hears(this.#channel)
  }

  #attend(): Ear | undefined {
    if (this.#channel === undefined) return undefined
    const { subscriptions, subscriberCounts } = this.#host.runtime
    return (this.#ear ??= subscriptions.listen(this.#channel, (payload) => {
      const grant = payload === undefined ? undefined : grantOf(payload)
      if (grant !== undefined) subscriberCounts.granted()
      else if (payload !== undefined) subscriberCounts.called(() => this.#isCounted())
      this.#heard(grant)
    }))
  }

  /** Anybody may send us messages. So we ask the server itself whether it counts us as a subscriber. */
  async #isCounted(): Promise<boolean> {
    const { link, sharded, publishCommand } = this.#host.runtime
    const channel = this.#channel
    // In these cases we know already that it does not count us.
    if (channel === undefined || !this.hears || (link.cluster && !sharded)) return true
    const which = publishCommand === 'SPUBLISH' ? 'SHARDNUMSUB' : 'NUMSUB'
    try {
      const [, counted] = await link.command(['PUBSUB', which, channel], tuple(text, integer), { route: channel })
      return this.#ear === undefined || counted > 0
    } catch (trouble) {
      return isTransient(trouble)
    }
  }

  close(): void {
    this.#ear?.close()
    this.#ear = undefined
  }
}

/** Whether grants can be heard, and told from old ones, already. A free lock is not worth a new subscription. */
export const hearsGrants = (runtime: Runtime, protocol: LineProtocol): boolean => {
  const channel = protocol.grants(runtime.options.id)
  const heard = channel === undefined || runtime.subscriptions.hears(channel)
  return heard && runtime.serverTime(protocol.key).latest !== undefined
}
