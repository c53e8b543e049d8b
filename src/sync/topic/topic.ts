import type { Codec } from '../../api/codec.js'
import { allOf } from '../../core/server/all-nodes.js'
import { integer, many, text, tuple } from '../../lua/reply-shape.js'
import {
  OPTIONS,
  checkCount,
  checkFlag,
  checkFunction,
  checkName,
  checkOptions,
  checkWaiting,
} from '../../check-arguments.js'
import type {
  MessageListener,
  Messages,
  MessagesOptions,
  PatternTopic,
  PatternTopicOptions,
  SubscribeOptions,
  Subscription,
  Topic,
  TopicOptions,
} from '../../api/topic.js'
import { MessageLoop } from './message-loop.js'
import type { Topics } from './topics.js'
import { codecOf, encodeWith } from '../../codecs/codec-by-name.js'
import type { Place, Receive } from './topic-listener.js'

/** What topics and patterns have in common. */
abstract class Listened<M> {
  protected readonly topics: Topics
  protected readonly place: Place

  constructor(topics: Topics, place: Place) {
    this.topics = topics
    this.place = place
  }

  async subscribe(listener: MessageListener<M>, options?: SubscribeOptions): Promise<Subscription> {
    checkFunction(listener, 'listener')
    return this.topics.listen(this.place, listener as Receive, checkWaiting(options, OPTIONS.subscribe).signal)
  }

  listeners(): number {
    return this.topics.listeners(this.place)
  }

  unsubscribeAll(): Promise<void> {
    return this.topics.unsubscribeAll(this.place)
  }

  protected loop<T>(
    options: MessagesOptions | undefined,
    shape: (message: unknown, channel: string) => T,
  ): Messages<T> {
    const checked = checkWaiting(options, OPTIONS.messages)
    if (checked.buffer !== undefined) checkCount(checked.buffer, 'buffer')
    return new MessageLoop(this.topics, this.place, checked, shape)
  }
}

const codecFor = (topics: Topics, codec: TopicOptions['codec']): Codec =>
  codec === undefined ? topics.runtime.options.codec : codecOf(codec)

/** Redisson's RTopic and RShardedTopic. */
export class NamedTopic<M> extends Listened<M> implements Topic<M> {
  readonly name: string

  constructor(topics: Topics, name: string, options?: TopicOptions) {
    const { codec, sharded = false } = checkOptions(options, OPTIONS.topic)
    checkFlag(sharded, 'sharded')
    super(topics, {
      title: checkName(name),
      kind: sharded ? 'sharded' : 'plain',
      name: topics.runtime.keyOf(name),
      codec: codecFor(topics, codec),
    })
    this.name = name
  }

  async publish(message: M): Promise<number> {
    const { runtime } = this.topics
    const { name, kind, codec } = this.place
    const payload = encodeWith(codec, message, 'message')
    runtime.checkOpen(this.name)
    this.topics.published(this.place)
    const command = [kind === 'sharded' ? 'SPUBLISH' : 'PUBLISH', name, payload]
    // Always the same connection, so that the messages of a publisher keep their order.
    const options = { route: name, target: this.name }
    return runtime.untilClosed(() => runtime.link.command(command, integer, options), this.name)
  }

  async subscribers(): Promise<number> {
    const { runtime } = this.topics
    const { name, kind } = this.place
    const command = ['PUBSUB', kind === 'sharded' ? 'SHARDNUMSUB' : 'NUMSUB', name]
    const fits = tuple(text, integer)
    const nodes = allOf(await runtime.untilClosed(() => runtime.link.everywhere(command, fits, 'all'), this.name))
    return nodes.reduce((sum, [, counted]) => sum + counted, 0)
  }

  messages(options?: MessagesOptions): Messages<M> {
    return this.loop(options, (message) => message as M)
  }
}

/** Redisson's RPatternTopic. */
export class MatchingTopic<M> extends Listened<M> implements PatternTopic<M> {
  readonly pattern: string

  constructor(topics: Topics, pattern: string, options?: PatternTopicOptions) {
    const { codec } = checkOptions(options, OPTIONS.pattern)
    const name = checkName(pattern, 'pattern')
    super(topics, { title: name, kind: 'pattern', name, codec: codecFor(topics, codec) })
    this.pattern = pattern
  }

  async activeTopics(): Promise<string[]> {
    const { runtime } = this.topics
    const command = ['PUBSUB', 'CHANNELS', this.place.name]
    const fits = many(text)
    const nodes = allOf(await runtime.untilClosed(() => runtime.link.everywhere(command, fits, 'all'), this.pattern))
    return [...new Set(nodes.flat())].sort()
  }

  messages(options?: MessagesOptions): Messages<{ readonly channel: string; readonly message: M }> {
    return this.loop(options, (message, channel) => ({ channel, message: message as M }))
  }
}
