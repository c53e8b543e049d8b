import type { Message, SubscriptionKind } from '../../engine/driver.js'
import type { Clock, Timer } from '../../base/clock.js'

/** What the subscriptions need from the connection. */
export interface Subscriber {
  /** Whether something can be sent now. */
  readonly isUp: boolean
  subscribe(name: string, kind: SubscriptionKind): Promise<void>
  unsubscribe(name: string, kind: SubscriptionKind): Promise<void>
}

/** A listener's handle on a channel. */
export interface Ear {
  /** Undefined: the subscription is ready, so a question that is sent from now on cannot miss a message. */
  readonly ready: Promise<void> | undefined
  /** The subscription stays for a moment: the next wait for the same lock is likely to come soon. */
  close(): void
}

/** A handle that can end the subscription at once. */
export interface Attendance extends Ear {
  /** Ends the subscription, unless there are other listeners. Resolves when the server knows, or has not answered in time. */
  leave(): Promise<void>
}

/** Gets `undefined` if messages may have been missed. */
type Listener = (message: Message | undefined) => void

interface Channel {
  readonly name: string
  readonly kind: SubscriptionKind
  readonly listeners: Set<Listener>
  ready: Promise<void> | undefined
  idleSince: number
}

/** ms. How long a subscription outlives its last listener. */
const LINGER = 2000
/** How many of those are kept at most. */
const KEPT = 1000
/** ms. When a subscription that was refused is tried again. */
const AGAIN = 1000

/** Bytes. No message between locks and synchronizers is longer: if one is, a stranger has sent it, and it is not even read. */
export const LONGEST_MESSAGE = 1200

const utf8 = new TextDecoder()

/**
 * The subscriptions of a client, each shared by all its listeners. A message wakes up the listeners. After a lost connection they
 * are woken up too, because a message may have been missed.
 */
export class SharedSubscriptions {
  readonly #clock: Clock
  readonly #subscriber: Subscriber
  readonly #sharded: () => boolean
  readonly #channels: Readonly<Record<SubscriptionKind, Map<string, Channel>>> = {
    plain: new Map(),
    sharded: new Map(),
    pattern: new Map(),
  }
  /** Channels without a listener, the longest idle first. */
  readonly #idle = new Set<Channel>()
  #sweep: Timer | undefined
  /** Subscriptions that failed: until they are ready, their waiters poll. */
  readonly #refused = new Set<Channel>()
  /** Channels whose subscription is ending. */
  readonly #leaving = new Set<string>()
  #trial: Timer | undefined

  constructor(clock: Clock, subscriber: Subscriber, sharded: () => boolean) {
    this.#clock = clock
    this.#subscriber = subscriber
    this.#sharded = sharded
  }

  /** Listens where releases are published. The listener gets `undefined` if messages may have been missed. */
  listen(name: string, listener: (payload: string | undefined) => void): Attendance {
    return this.attend(this.#kind, name, (message) => {
      if (message === undefined) listener(undefined)
      else if (message.payload.length <= LONGEST_MESSAGE) listener(utf8.decode(message.payload))
    })
  }

  /** Listens to any channel or pattern. */
  attend(kind: SubscriptionKind, name: string, listener: Listener): Attendance {
    const channel = this.#channels[kind].get(name) ?? this.#open(kind, name)
    channel.listeners.add(listener)
    this.#idle.delete(channel)
    if (this.#refused.has(channel)) this.#renew(channel)
    return {
      ready: channel.ready,
      close: () => {
        channel.listeners.delete(listener)
        if (channel.listeners.size === 0) this.#rest(channel)
      },
      leave: async () => {
        channel.listeners.delete(listener)
        if (channel.listeners.size === 0 && this.#stands(channel)) await this.#drop(channel)
      },
    }
  }

  /** Whether messages of the channel arrive here: then a publisher's count of receivers includes us. */
  hears(name: string): boolean {
    const channel = this.#standing(name)
    return channel !== undefined && channel.ready === undefined
  }

  /** Checks the size first: most clients have no subscription, and this is asked for each hold. */
  #standing(name: string): Channel | undefined {
    const channels = this.#channels[this.#kind]
    return channels.size === 0 ? undefined : channels.get(name)
  }

  /** Whether a publisher's count of receivers may include us: there is a subscription, or its end has not been answered yet. */
  mayBeCounted(name: string): boolean {
    return this.#standing(name) !== undefined || (this.#leaving.size > 0 && this.#leaving.has(name))
  }

  message(message: Message): void {
    const channel = this.#channels[message.kind].get(message.name)
    if (channel === undefined) return
    for (const listener of [...channel.listeners]) listener(message)
  }

  /** Messages may have been missed on all channels. */
  gap(): void {
    for (const channel of this.#all) {
      for (const listener of [...channel.listeners]) listener(undefined)
    }
  }

  /** Messages of this channel no longer arrive. */
  unheard(kind: SubscriptionKind, name: string): void {
    const channel = this.#channels[kind].get(name)
    if (channel !== undefined && channel.ready === undefined) this.#renew(channel)
  }

  /** Resolves when the server knows that all subscriptions have ended, or has not answered in time. */
  async stop(): Promise<void> {
    this.#sweep?.cancel()
    this.#trial?.cancel()
    this.#refused.clear()
    const channels = this.#all
    for (const kind of ['plain', 'sharded', 'pattern'] as const) this.#channels[kind].clear()
    this.#idle.clear()
    await Promise.allSettled(channels.map(({ name, kind }) => this.#subscriber.unsubscribe(name, kind)))
  }

  /** Whether releases are published with SPUBLISH. */
  get #kind(): SubscriptionKind {
    return this.#sharded() ? 'sharded' : 'plain'
  }

  get #all(): Channel[] {
    const { plain, sharded, pattern } = this.#channels
    return [...plain.values(), ...sharded.values(), ...pattern.values()]
  }

  #stands(channel: Channel): boolean {
    return this.#channels[channel.kind].get(channel.name) === channel
  }

  #open(kind: SubscriptionKind, name: string): Channel {
    const channel: Channel = { name, kind, listeners: new Set(), ready: undefined, idleSince: 0 }
    this.#channels[kind].set(name, channel)
    void this.#subscribe(channel)
    return channel
  }

  #subscribe(channel: Channel): Promise<void> {
    this.#refused.delete(channel)
    const ready = this.#subscriber.subscribe(channel.name, channel.kind).then(
      () => {
        channel.ready = undefined
      },
      (error: unknown) => {
        if (this.#stands(channel)) this.#putOff(channel)
        throw error
      },
    )
    ready.catch(() => undefined)
    return (channel.ready = ready)
  }

  #renew(channel: Channel): void {
    const tell = (): void => {
      for (const listener of [...channel.listeners]) listener(undefined)
    }
    this.#subscribe(channel).then(tell, () => undefined)
  }

  /** The subscription may exist all the same, or come to exist when the connection is back. */
  #putOff(channel: Channel): void {
    if (channel.listeners.size === 0) {
      void this.#drop(channel)
      return
    }
    this.#refused.add(channel)
    this.#armTrial()
  }

  #armTrial(): void {
    this.#trial ??= this.#clock.setTimer(
      () => {
        this.#trial = undefined
        // Without a connection, some drivers keep what is to be sent, and it would pile up there.
        if (this.#subscriber.isUp) for (const refused of [...this.#refused]) this.#renew(refused)
        else if (this.#refused.size > 0) this.#armTrial()
      },
      AGAIN,
      { background: true },
    )
  }

  #rest(channel: Channel): void {
    if (!this.#stands(channel)) return
    if (this.#refused.has(channel)) {
      void this.#drop(channel)
      return
    }
    channel.idleSince = this.#clock.monotonic()
    this.#idle.add(channel)
    if (this.#idle.size > KEPT) void this.#drop(this.#idle.values().next().value as Channel)
    this.#armSweep()
  }

  #drop(channel: Channel): Promise<void> {
    this.#idle.delete(channel)
    this.#refused.delete(channel)
    this.#channels[channel.kind].delete(channel.name)
    this.#leaving.add(channel.name)
    return this.#subscriber
      .unsubscribe(channel.name, channel.kind)
      .catch(() => undefined)
      .finally(() => this.#leaving.delete(channel.name))
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
          void this.#drop(channel)
        }
        this.#armSweep()
      },
      Math.max(0, wait),
      { background: true },
    )
  }
}
