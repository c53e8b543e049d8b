import { plainJson } from '../plain-text.js'
import type { Reader } from './reader.js'
import type { Difference } from './state.js'

/** How many messages may wait for one tab. A tab that is slower gets a new snapshot when it reads again. */
const BUFFER = 4

const encoder = new TextEncoder()

const message = (event: string, data: unknown): Uint8Array =>
  encoder.encode(`event: ${event}\ndata: ${plainJson(data, 0)}\n\n`)

/** The streams of all tabs. */
export class Streams {
  readonly #reader: Reader
  readonly #most: number
  #open = 0

  constructor(reader: Reader, most: number) {
    this.#reader = reader
    this.#most = most
  }

  /** Undefined: there are too many. */
  open(may: 'read' | 'act'): ReadableStream<Uint8Array> | undefined {
    if (this.#open >= this.#most) return undefined
    this.#open += 1
    return new ReadableStream(new Tab(this.#reader, may, () => (this.#open -= 1)), { highWaterMark: BUFFER })
  }
}

/** One stream: a snapshot, and then what changes. */
class Tab {
  readonly #reader: Reader
  readonly #may: 'read' | 'act'
  readonly #closed: () => void
  #stop: (() => void) | undefined
  #over = false
  /** It has missed a difference. */
  #behind = false

  constructor(reader: Reader, may: 'read' | 'act', closed: () => void) {
    this.#reader = reader
    this.#may = may
    this.#closed = closed
  }

  async start(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    controller.enqueue(encoder.encode('retry: 1000\n\n'))
    const stop = await this.#reader.watch((difference) => this.#tell(controller, difference))
    this.#stop = stop
    if (this.#over) stop()
    else this.#show(controller)
  }

  pull(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (this.#behind) this.#show(controller)
  }

  cancel(): void {
    this.#over = true
    this.#stop?.()
    this.#closed()
  }

  #show(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#behind = false
    controller.enqueue(message('snapshot', { ...this.#reader.snapshot(), may: this.#may }))
  }

  #tell(controller: ReadableStreamDefaultController<Uint8Array>, difference: Omit<Difference, 'may'>): void {
    if ((controller.desiredSize ?? 0) <= 0) this.#behind = true
    else if (this.#behind) this.#show(controller)
    else controller.enqueue(message('difference', { ...difference, may: this.#may }))
  }
}
