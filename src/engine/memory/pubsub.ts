import { globMatches } from './glob.js'
import type { Bytes } from './reply.js'

export interface Listener {
  /** `pattern`: the pattern of the subscription, if it has one. */
  message(channel: Bytes, payload: Bytes, pattern?: Bytes): void
}

export type SubscriptionKind = 'plain' | 'pattern' | 'sharded'

interface Delivery {
  readonly listener: Listener
  readonly channel: Bytes
  readonly payload: Bytes
  readonly pattern: Bytes | undefined
}

/** The subscriptions. Messages are delivered in the order of their publication, a microtask later. */
export class PubSub {
  readonly #listeners: Record<SubscriptionKind, Map<Bytes, Set<Listener>>> = {
    plain: new Map(),
    pattern: new Map(),
    sharded: new Map(),
  }
  #deliveries: Delivery[] = []

  subscribe(listener: Listener, name: Bytes, kind: SubscriptionKind): void {
    const all = this.#listeners[kind]
    const listeners = all.get(name)
    if (listeners === undefined) all.set(name, new Set([listener]))
    else listeners.add(listener)
  }

  unsubscribe(listener: Listener, name: Bytes, kind: SubscriptionKind): void {
    const all = this.#listeners[kind]
    const listeners = all.get(name)
    listeners?.delete(listener)
    if (listeners?.size === 0) all.delete(name)
  }

  /** Ends all subscriptions of a listener. */
  leave(listener: Listener): void {
    for (const kind of ['plain', 'pattern', 'sharded'] as const) {
      for (const name of this.#listeners[kind].keys()) this.unsubscribe(listener, name, kind)
    }
  }

  /** Returns how many subscribers receive it. */
  publish(channel: Bytes, payload: Bytes, sharded: boolean): number {
    const { plain, pattern: patterns, sharded: shards } = this.#listeners
    const listeners = (sharded ? shards : plain).get(channel)
    let told = 0
    if (listeners !== undefined) {
      for (const listener of listeners) this.#deliver({ listener, channel, payload, pattern: undefined })
      told = listeners.size
    }
    if (sharded || patterns.size === 0) return told
    for (const [pattern, listening] of patterns) {
      if (!globMatches(pattern, channel)) continue
      for (const listener of listening) this.#deliver({ listener, channel, payload, pattern })
      told += listening.size
    }
    return told
  }

  channels(sharded: boolean): Bytes[] {
    return [...this.#listeners[sharded ? 'sharded' : 'plain'].keys()]
  }

  count(channel: Bytes, sharded: boolean): number {
    return this.#listeners[sharded ? 'sharded' : 'plain'].get(channel)?.size ?? 0
  }

  get patterns(): number {
    return this.#listeners.pattern.size
  }

  #deliver(delivery: Delivery): void {
    this.#deliveries.push(delivery)
    if (this.#deliveries.length === 1) queueMicrotask(() => this.#flush(0))
  }

  #flush(first: number): void {
    const deliveries = this.#deliveries
    let next = first
    try {
      while (next < deliveries.length) {
        const { listener, channel, payload, pattern } = deliveries[next++] as Delivery
        listener.message(channel, payload, pattern)
      }
    } finally {
      // If a listener throws, the others get the message all the same.
      if (next < deliveries.length) queueMicrotask(() => this.#flush(next))
      else this.#deliveries = []
    }
  }
}
