import type { Codec, CodecName } from './codec.js'

/** How the messages of a topic are written, read and sent. */
export interface TopicOptions {
  /** Default: the client's. */
  readonly codec?: CodecName | Codec | undefined
  /** SPUBLISH and SSUBSCRIBE, which reach only who is subscribed so; a server from 7 on. Default false. */
  readonly sharded?: boolean | undefined
}

/** How the messages of a pattern are read. */
export interface PatternTopicOptions {
  /** Default: the client's. */
  readonly codec?: CodecName | Codec | undefined
}

/** Of one subscription. */
export interface SubscribeOptions {
  /** Ends the subscription; before it stands, `subscribe` rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** Of a loop over messages. */
export interface MessagesOptions {
  /** Ends the loop with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /** How many messages may wait for the loop; when there are more the oldest go, and `gap` is told. Default 1000. */
  readonly buffer?: number | undefined
}

/**
 * A listener. Called in the order of the messages, one call not waiting for the other; what it throws, or its promise rejects
 * with, is an `error` of the client.
 */
export type MessageListener<M> = (message: M, channel: string) => Promise<void> | void

/** Messages may have been missed: the connection was away, or a loop was too slow. */
interface TellsGaps {
  /** Hears of gaps: messages may have been missed. */
  on(event: 'gap', listener: () => void): this
  /** The listener hears of gaps no more. */
  off(event: 'gap', listener: () => void): this
}

/** What `subscribe` resolves with; `await using` ends it. */
export interface Subscription extends TellsGaps, AsyncDisposable {
  /** No message comes after the call. Resolves when the server knows. Never rejects; twice is fine. */
  unsubscribe(): Promise<void>
}

/** For a `for await`. Subscribed from the first `next()` to the end of the loop. */
export interface Messages<M> extends TellsGaps, AsyncIterableIterator<M>, AsyncDisposable {
  /** Itself: it is gone through once. */
  [Symbol.asyncIterator](): Messages<M>
}

interface Listenable {
  /** How many listeners and loops this client has there. */
  listeners(): number
  /** Ends all of them. */
  unsubscribeAll(): Promise<void>
}

/** A channel, Redisson's RTopic. Nothing is kept: who is not subscribed misses what is published. */
export interface Topic<M = unknown> extends Listenable {
  /** As it was given to the client. */
  readonly name: string
  /** How many were told; on a cluster, how many of those whose connection is to the same node. */
  publish(message: M): Promise<number>
  /** Once it resolves no message is missed while the connection stands. */
  subscribe(listener: MessageListener<M>, options?: SubscribeOptions): Promise<Subscription>
  /** The messages one after the other, for a `for await`. */
  messages(options?: MessagesOptions): Messages<M>
  /** How many are subscribed to this very channel, on all nodes; patterns do not count. */
  subscribers(): Promise<number>
}

/** All channels whose names fit a pattern (`*`, `?`, `[ab]`), Redisson's RPatternTopic. `mapName` is not applied, as it is not there. */
export interface PatternTopic<M = unknown> extends Listenable {
  /** As it was given to the client. */
  readonly pattern: string
  /** The channels whose names fit the pattern and that somebody is subscribed to by name, on all nodes. Others' patterns do not count. */
  activeTopics(): Promise<string[]>
  /** As that of a topic. */
  subscribe(listener: MessageListener<M>, options?: SubscribeOptions): Promise<Subscription>
  /** As those of a topic, each with its channel. */
  messages(options?: MessagesOptions): Messages<{ readonly channel: string; readonly message: M }>
}
