import { type Driver, type DriverEvents, NotSent, type SendOptions, type SubscriptionKind } from '#src/engine/driver.js'
import type { Arg, Reply } from '#src/lua/values.js'
import type { Answer, Question } from './messages.js'

interface Waiting {
  readonly resolve: (reply: Reply) => void
  readonly reject: (error: Error) => void
}

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never

/** Reaches the server in another worker, as a socket reaches Redis. */
export class PortDriver implements Driver {
  readonly address = 'memory:network'
  readonly cluster = false
  readonly #port: MessagePort
  readonly #waiting = new Map<number, Waiting>()
  #events: DriverEvents | undefined
  #ids = 0

  constructor(port: MessagePort) {
    this.#port = port
  }

  get isUp(): boolean {
    return this.#events !== undefined
  }

  open(events: DriverEvents): Promise<void> {
    this.#events = events
    this.#port.onmessage = ({ data }: MessageEvent<Answer>) => this.#hear(data)
    events.up(false)
    return Promise.resolve()
  }

  send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    return this.ask({ argv, binary: options?.binary === true })
  }

  async subscribe(subscribe: string, kind: SubscriptionKind): Promise<void> {
    await this.ask({ subscribe, kind })
  }

  async unsubscribe(unsubscribe: string, kind: SubscriptionKind): Promise<void> {
    await this.ask({ unsubscribe, kind })
  }

  ask(question: WithoutId<Question>): Promise<Reply> {
    if (!this.isUp) return Promise.reject(new NotSent('closed'))
    const id = ++this.#ids
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.#port.postMessage({ ...question, id })
    })
  }

  close(): Promise<void> {
    this.#events = undefined
    this.#port.close()
    return Promise.resolve()
  }

  #hear(answer: Answer): void {
    if ('message' in answer) {
      this.#events?.message(answer.message)
      return
    }
    const waiting = this.#waiting.get(answer.id)
    this.#waiting.delete(answer.id)
    if ('error' in answer) waiting?.reject(new Error(answer.error))
    else waiting?.resolve(answer.reply)
  }
}
