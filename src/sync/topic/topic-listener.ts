import { onAbort, reasonOf } from '../../base/abort.js'
import { Emitter } from '../../base/emitter.js'
import type { Runtime } from '../../core/client/runtime.js'
import { inScope } from '../../base/scope.js'
import type { Attendance } from '../../core/server/shared-subscriptions.js'
import type { Message, SubscriptionKind } from '../../engine/driver.js'
import { ClosedError } from '../../errors.js'
import { checkFunction, show } from '../../check-arguments.js'
import type { Subscription } from '../../api/topic.js'
import { decodeWith } from '../../codecs/codec-by-name.js'
import type { Codec } from '../../api/codec.js'
import { quoted } from '../../plain-text.js'
import { tell, textOf } from '../../thrown.js'

/** What a client can subscribe to. */
export interface Place {
  /** The user's name for it. */
  readonly title: string
  readonly kind: SubscriptionKind
  /** The channel or the pattern, as the server knows it. */
  readonly name: string
  readonly codec: Codec
}

export type Receive = (message: unknown, channel: string) => unknown

interface Concerned {
  readonly receive: Receive
  /** Called if the client was closed. */
  readonly ended?: ((error: Error) => void) | undefined
  /** Called when no more messages come. */
  readonly over: () => void
}

/** A listener of a topic. All listeners of a client share one subscription on the server. */
export class TopicListener implements Subscription {
  readonly #runtime: Runtime
  readonly #place: Place
  readonly #concerned: Concerned
  readonly #gaps: Emitter<{ gap: [] }>
  readonly #ear: Attendance
  #atEnd: (() => void)[]
  /** Rejects `opened` while the subscription is not confirmed. */
  #refuse: ((reason: unknown) => void) | undefined
  #over: Promise<void> | undefined

  constructor(runtime: Runtime, place: Place, concerned: Concerned) {
    this.#runtime = runtime
    this.#place = place
    this.#concerned = concerned
    this.#atEnd = [concerned.over]
    this.#gaps = new Emitter((error) => runtime.fail(error))
    const hear = (message: Message | undefined): void => {
      if (this.#over !== undefined) return
      if (message === undefined) this.#gaps.emit('gap')
      else this.#hear(message)
    }
    this.#ear = runtime.subscriptions.attend(place.kind, place.name, inScope(hear))
  }

  /** Resolves when the server has confirmed the subscription. Rejects if it does not, or if the signal aborts first. */
  async opened(signal: AbortSignal | undefined): Promise<void> {
    const { ready } = this.#ear
    if (ready === undefined) return
    let stop: (() => void) | undefined
    const refused = new Promise<never>((_resolve, reject) => {
      this.#refuse = reject
      if (signal !== undefined) stop = onAbort(signal, () => reject(reasonOf(signal)))
    })
    await Promise.race([ready, refused]).finally(() => stop?.())
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

  /** The function is called when the subscription is over. */
  atEnd(end: () => void): void {
    if (this.#over === undefined) this.#atEnd.push(end)
    else end()
  }

  unsubscribe(): Promise<void> {
    this.#over ??= this.#ear.leave()
    this.#finish()
    return this.#over
  }

  /** The client is closed, which ends all subscriptions together. */
  close(): void {
    const closed = new ClosedError(this.#place.title)
    this.#over ??= Promise.resolve()
    this.#refuse?.(closed)
    this.#concerned.ended?.(closed)
    this.#finish()
  }

  #finish(): void {
    const ends = this.#atEnd
    this.#atEnd = []
    for (const end of ends) end()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.unsubscribe()
  }

  /** An unreadable message, or a listener that throws, must not keep messages from the other listeners. */
  #hear({ payload, channel }: Message): void {
    const failed = (error: unknown): void => this.#runtime.fail(error)
    let message: unknown
    try {
      message = decodeWith(this.#place.codec, payload)
    } catch (cause) {
      failed(new Error(`a message on ${quoted(channel)} cannot be read: ${textOf(cause)}`, { cause }))
      return
    }
    tell(() => this.#concerned.receive(message, channel), failed)
  }
}

export const checkGap = (event: unknown, listener: unknown): void => {
  if (event !== 'gap') throw new TypeError(`event must be 'gap', not ${show(event)}`)
  checkFunction(listener, 'listener')
}
