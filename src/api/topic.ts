import type { Codec, CodecName } from './codec.js'

/** Options of `client.topic`. */
export interface TopicOptions {
  /** Encodes and decodes the messages. Default: the client's codec. */
  readonly codec?: CodecName | Codec | undefined
  /** Uses SPUBLISH and SSUBSCRIBE: only sharded subscribers get the messages. Needs a server from version 7 on. Default false. */
  readonly sharded?: boolean | undefined
}

/** Options of `client.patternTopic`. */
export interface PatternTopicOptions {
  /** Decodes the messages. Default: the client's codec. */
  readonly codec?: CodecName | Codec | undefined
}

/** Options of `subscribe`. */
export interface SubscribeOptions {
  /** Ends the subscription. If it aborts before the server has confirmed the subscription, `subscribe` rejects with its reason. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `messages`. */
export interface MessagesOptions {
  /** Ends the loop with the signal's reason. Default: none. */
  readonly signal?: AbortSignal | undefined
  /** How many messages may wait for the loop. If there are more, the oldest are dropped, and `gap` is emitted. Default 1000. */
  readonly buffer?: number | undefined
}

/**
 * A listener. It is called in the order of the messages, and a call does not wait for the one before. If it throws, or its promise rejects, the client emits an
 * `error` event.
 */
export type MessageListener<M> = (message: M, channel: string) => Promise<void> | void

/** Emits `gap` when messages may have been missed: the connection was lost, or a loop was too slow. */
interface TellsGaps {
  /** Adds a listener to `gap`: messages may have been missed. */
  on(event: 'gap', listener: () => void): this
  /** Removes the listener from `gap`. */
  off(event: 'gap', listener: () => void): this
}

/** A subscription, the result of `subscribe`. `await using` ends it. */
export interface Subscription extends TellsGaps, AsyncDisposable {
  /** Ends the subscription: after the call, no message comes. Resolves when the server knows. Never rejects. You may call it twice. */
  unsubscribe(): Promise<void>
}

/** For a `for await`. It is subscribed from the first `next()` to the end of the loop. */
export interface Messages<M> extends TellsGaps, AsyncIterableIterator<M>, AsyncDisposable {
  /** Returns itself: you can loop over it only once. */
  [Symbol.asyncIterator](): Messages<M>
}

/** What a topic and a pattern topic have in common. */
interface Listenable {
  /** How many listeners and loops this client has here. */
  listeners(): number
  /** Ends all of them. */
  unsubscribeAll(): Promise<void>
}

/** A channel. It does not keep messages: only current subscribers get them. In Redisson: RTopic. */
export interface Topic<M = unknown> extends Listenable {
  /** The name that you gave the topic. */
  readonly name: string
  /** Publishes the message, and resolves to how many subscribers got it; on a cluster, only those that are connected to the same node count. */
  publish(message: M): Promise<number>
  /** Calls the listener for each message. Once it resolves, you miss no message while the connection is up. */
  subscribe(listener: MessageListener<M>, options?: SubscribeOptions): Promise<Subscription>
  /** The messages one after the other, for a `for await`. */
  messages(options?: MessagesOptions): Messages<M>
  /** How many subscribers this very channel has, on all nodes. Subscriptions to patterns do not count. */
  subscribers(): Promise<number>
}

/** All channels whose names match a pattern (`*`, `?`, `[ab]`). In Redisson: RPatternTopic; as there, the pattern is used without `mapName`. */
export interface PatternTopic<M = unknown> extends Listenable {
  /** The pattern that you passed to the client. */
  readonly pattern: string
  /** The channels whose names match the pattern and that have a subscriber by name, on all nodes. Subscriptions to patterns do not count. */
  activeTopics(): Promise<string[]>
  /** Like `subscribe` of a topic. */
  subscribe(listener: MessageListener<M>, options?: SubscribeOptions): Promise<Subscription>
  /** Like `messages` of a topic, each message with its channel. */
  messages(options?: MessagesOptions): Messages<{ readonly channel: string; readonly message: M }>
}
