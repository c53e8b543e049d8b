import { unreadable } from '../../codecs/java-codec.js'
import { onAbort } from '../../base/abort.js'
import type { Runtime } from '../../core/client/runtime.js'
import { EngineError } from '../../errors.js'
import { TopicListener, type Place, type Receive } from './topic-listener.js'
import { quoted } from '../../plain-text.js'

/** The listeners of one client's topics. */
export class Topics {
  readonly runtime: Runtime
  readonly #places = new Map<string, Set<TopicListener>>()
  #warned = false

  constructor(runtime: Runtime) {
    this.runtime = runtime
  }

  /** Warns once per client if Java's listeners could not read such messages. */
  published({ title, codec }: Place): void {
    if (this.#warned) return
    const why = unreadable(codec, this.runtime.options.javaCodec)
    if (why === undefined) return
    this.#warned = true
    this.runtime.warn(
      `topic ${quoted(title)}: a Java listener that reads with ${why} cannot read this message, and such messages delay the waiters of its locks for up to half a minute: use the same codec on both sides`,
    )
  }

  /** Resolves when the server has confirmed the subscription. `ended` is called if the client was closed. */
  async listen(
    place: Place,
    receive: Receive,
    signal?: AbortSignal,
    ended?: (error: Error) => void,
  ): Promise<TopicListener> {
    const { title } = place
    this.runtime.checkTakes(title)
    signal?.throwIfAborted()
    const listening = new TopicListener(this.runtime, place, {
      receive,
      ended,
      over: () => this.#remove(place, listening),
    })
    this.#at(place).add(listening)
    try {
      await listening.opened(signal)
      this.runtime.checkOpen(title)
      signal?.throwIfAborted()
    } catch (error) {
      await listening.unsubscribe()
      throw error instanceof EngineError ? new EngineError(error.code, error.message, { target: title }) : error
    }
    if (signal !== undefined) listening.atEnd(onAbort(signal, () => void listening.unsubscribe()))
    return listening
  }

  listeners(place: Place): number {
    return this.#places.get(keyOf(place))?.size ?? 0
  }

  async unsubscribeAll(place: Place): Promise<void> {
    await Promise.all([...(this.#places.get(keyOf(place)) ?? [])].map((listening) => listening.unsubscribe()))
  }

  close(): void {
    for (const all of [...this.#places.values()]) for (const listening of [...all]) listening.close()
  }

  #at(place: Place): Set<TopicListener> {
    const there = this.#places.get(keyOf(place)) ?? new Set()
    this.#places.set(keyOf(place), there)
    return there
  }

  #remove(place: Place, listening: TopicListener): void {
    const there = this.#places.get(keyOf(place))
    there?.delete(listening)
    if (there?.size === 0) this.#places.delete(keyOf(place))
  }
}

const keyOf = ({ kind, name }: Place): string => `${kind} ${name}`
