import type { Clock, Timer } from './clock.js'

/** What it needs of the connection. */
export interface Subscriber {
  subscribe(channel: string, sharded: boolean): Promise<void>
  unsubscribe(channel: string, sharded: boolean): Promise<void>
}

/** One who listens to a channel. */
export interface Ear {
  /** Undefined: the subscription stands already, so what is asked from now on cannot miss a message. */
  readonly ready: Promise<void> | undefined
  close(): void
}

interface Channel {
  readonly name: string
  readonly listeners: Set<(payload: string | undefined) => void>
  ready: Promise<void> | undefined
  idleSince: number
}

/** How long a subscription outlives its last listener: the next wait for the same lock is likely to come soon. */
const LINGER = 2000
/** How many of those are kept at most. */
const KEPT = 1000

/**
 * The subscriptions of a client, each shared by all who listen. A message wakes the listeners; a connection that was
 * away wakes them too, for it may have lost one.
 */
export class Wakeups {
  readonly #clock: Clock
  readonly #subscriber: Subscriber
  readonly #sharded: () => boolean
  readonly #channels = new Map<string, Channel>()
  /** Channels without a listener, the longest idle first. */
  readonly #idle = new Set<Channel>()
  #sweep: Timer | undefined

  constructor(clock: Clock, subscriber: Subscriber, sharded: () => boolean) {
    this.#clock = clock
    this.#subscriber = subscriber
    this.#sharded = sharded
  }

  /** The listener hears `undefined` when messages may have been missed. */
  listen(name: string, listener: (payload: string | undefined) => void): Ear {
    const channel = this.#channels.get(name) ?? this.#open(name)
    channel.listeners.add(listener)
    this.#idle.delete(channel)
    return {
      ready: channel.ready,
      close: () => {
        channel.listeners.delete(listener)
        if (channel.listeners.size === 0) this.#rest(channel)
      },
    }
  }

  /** Whether messages of the channel come here: then a publisher's count of receivers has us in it. */
  hears(name: string): boolean {
    const channel = this.#channels.get(name)
    return channel !== undefined && channel.ready === undefined
  }

  /** How many here listen to it. */
  listeners(name: string): number {
    return this.#channels.get(name)?.listeners.size ?? 0
  }

  message(name: string, payload: string): void {
    const channel = this.#channels.get(name)
    if (channel === undefined) return
    for (const listener of [...channel.listeners]) listener(payload)
  }

  /** Messages may have been missed on all channels. */
  gap(): void {
    for (const channel of [...this.#channels.values()]) {
      for (const listener of [...channel.listeners]) listener(undefined)
    }
  }

  /** Resolves when the server knows that nobody here listens any more, or has not answered in time. */
  async stop(): Promise<void> {
    this.#sweep?.cancel()
    const names = [...this.#channels.keys()]
    this.#channels.clear()
    this.#idle.clear()
    await Promise.allSettled(names.map((name) => this.#subscriber.unsubscribe(name, this.#sharded())))
  }

  #open(name: string): Channel {
    const channel: Channel = { name, listeners: new Set(), ready: undefined, idleSince: 0 }
    this.#channels.set(name, channel)
    channel.ready = this.#subscriber.subscribe(name, this.#sharded()).then(
      () => {
        channel.ready = undefined
      },
      (error: unknown) => {
        // The next listener tries anew; those of now hear of it and go on by polling.
        this.#idle.delete(channel)
        if (this.#channels.get(name) === channel) {
          this.#channels.delete(name)
          // It may stand all the same, or come to stand when the connection is back.
          this.#subscriber.unsubscribe(name, this.#sharded()).catch(() => undefined)
        }
        throw error
      },
    )
    channel.ready.catch(() => undefined)
    return channel
  }

  #rest(channel: Channel): void {
    if (this.#channels.get(channel.name) !== channel) return
    channel.idleSince = this.#clock.monotonic()
    this.#idle.add(channel)
    if (this.#idle.size > KEPT) this.#drop(this.#idle.values().next().value as Channel)
    this.#armSweep()
  }

  #drop(channel: Channel): void {
    this.#idle.delete(channel)
    this.#channels.delete(channel.name)
    this.#subscriber.unsubscribe(channel.name, this.#sharded()).catch(() => undefined)
  }

  #armSweep(): void {
    const oldest = this.#idle.values().next().value
    if (oldest === undefined || this.#sweep !== undefined) return
    const wait = oldest.idleSince + LINGER - this.#clock.monotonic()
    this.#sweep = this.#clock.setTimer(
      () => {
        this.#sweep = undefined
        const now = this.#clock.monotonic()
        for (const channel of this.#idle) {
          if (channel.idleSince + LINGER > now) break
          this.#drop(channel)
        }
        this.#armSweep()
      },
      Math.max(0, wait),
      { background: true },
    )
  }
}
