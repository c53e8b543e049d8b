import { Emitter } from '../../base/emitter.js'
import type { Messages, MessagesOptions } from '../../api/topic.js'
import { checkGap, type TopicListener, type Place } from './topic-listener.js'
import type { Topics } from './topics.js'
import { abortOf } from '../../base/abort.js'

interface Waiting<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

const BUFFER = 1000
const DONE = { done: true, value: undefined } as const

/** The messages of a topic one after the other, for a reader at its own pace. */
export class MessageLoop<T> implements Messages<T> {
  readonly #topics: Topics
  readonly #place: Place
  readonly #options: MessagesOptions
  readonly #shape: (message: unknown, channel: string) => T
  readonly #gaps: Emitter<{ gap: [] }>
  readonly #buffer: T[] = []
  /** Messages were dropped, and the loop has not made room since. */
  #full = false
  #waiting: Waiting<T>[] = []
  #listening: Promise<TopicListener | undefined> | undefined
  /** The loop is over. If it ended with an error, the reader gets it once. */
  #end: { error?: unknown } | undefined

  constructor(topics: Topics, place: Place, options: MessagesOptions, shape: (message: unknown, channel: string) => T) {
    this.#topics = topics
    this.#place = place
    this.#options = options
    this.#shape = shape
    this.#gaps = new Emitter((error) => topics.runtime.fail(error))
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#end !== undefined) return this.#last(this.#end)
    this.#listening ??= this.#listen()
    if (this.#buffer.length > 0) {
      this.#full = false
      return Promise.resolve({ done: false, value: this.#buffer.shift() as T })
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
    })
  }

  async return(): Promise<IteratorResult<T, undefined>> {
    this.#over({})
    await (await this.#listening)?.unsubscribe()
    return DONE
  }

  on(event: 'gap', listener: () => void): this {
    checkGap(event, listener)
    this.#gaps.on(event, listener)
    return this
  }

  off(event: 'gap', listener: () => void): this {
    this.#gaps.off(event, listener)
    return this
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  async #listen(): Promise<TopicListener | undefined> {
    const { signal } = this.#options
    const failed = (error: unknown): void => this.#over({ error })
    try {
      const listening = await this.#topics.listen(
        this.#place,
        (message, channel) => this.#take(this.#shape(message, channel)),
        signal,
        failed,
      )
      listening.on('gap', () => this.#gaps.emit('gap'))
      // All subscriptions of the topic were ended, or the signal aborted.
      listening.atEnd(() => this.#over(abortOf(signal) ?? {}))
      if (this.#end !== undefined) await listening.unsubscribe()
      return listening
    } catch (error) {
      failed(error)
      return undefined
    }
  }

  #take(message: T): void {
    const waiting = this.#waiting.shift()
    if (waiting !== undefined) {
      waiting.resolve({ done: false, value: message })
      return
    }
    const { buffer = BUFFER } = this.#options
    this.#buffer.push(message)
    if (this.#buffer.length <= buffer) return
    this.#buffer.shift()
    if (this.#full) return
    this.#full = true
    this.#gaps.emit('gap')
  }

  #over(end: { error?: unknown }): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#buffer.length = 0
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve, reject } of waiting) this.#last(this.#end).then(resolve, reject)
  }

  #last(end: { error?: unknown }): Promise<IteratorResult<T, undefined>> {
    if (!('error' in end)) return Promise.resolve(DONE)
    this.#end = {}
    return Promise.reject(end.error)
  }
}
