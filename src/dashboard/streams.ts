import { systemClock, type Timer } from '../base/clock.js'
import { plainJson } from '../plain-text.js'
import type { Reader } from './reader.js'
import type { Difference, Unchanged } from './page-messages.js'

/** How many messages may wait for one tab. A tab that is slower gets a new snapshot when it reads again. */
const BUFFER = 4
/** ms. Then a stream ends, and its page opens another: whether it may look is asked again. */
const LONGEST = 60_000

const encoder = new TextEncoder()

const message = (event: string, data: unknown): Uint8Array =>
  encoder.encode(`event: ${event}\ndata: ${plainJson(data, 0)}\n\n`)

/** A difference is the same for all tabs. */
const written = new WeakMap<Difference, Uint8Array>()

const differenceOf = (difference: Difference): Uint8Array => {
  const known = written.get(difference) ?? message('difference', difference)
  written.set(difference, known)
  return known
}

/** Nothing waits for the tab. */
const isEmpty = ({ desiredSize }: ReadableStreamDefaultController<Uint8Array>): boolean => desiredSize === BUFFER

/** The streams of all tabs. */
export class Streams {
  readonly #reader: Reader
  readonly #most: number
  readonly #longest: number
  #open = 0

  constructor(reader: Reader, most: number, longest = LONGEST) {
    this.#reader = reader
    this.#most = most
    this.#longest = longest
  }

  /** `after`: the reading that the tab knows. Undefined: there are too many. */
  open(may: 'read' | 'act', after: string | null = null): ReadableStream<Uint8Array> | undefined {
    if (this.#open >= this.#most) return undefined
    this.#open += 1
    const tab = new Tab({ reader: this.#reader, may, after, longest: this.#longest, closed: () => (this.#open -= 1) })
    return new ReadableStream(tab, { highWaterMark: BUFFER })
  }
}

interface TabOptions {
  readonly reader: Reader
  readonly may: 'read' | 'act'
  readonly after: string | null
  /** ms */
  readonly longest: number
  readonly closed: () => void
}

/** One stream: a snapshot, and then what changes. */
class Tab {
  readonly #options: TabOptions
  #stop: (() => void) | undefined
  #timer: Timer | undefined
  #over = false
  /** It has missed a difference. */
  #behind = false
  /** Its time is over. It ends when the tab has read everything: a tab that never reads keeps its place. */
  #due = false

  constructor(options: TabOptions) {
    this.#options = options
  }

  async start(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const { reader, longest } = this.#options
    this.#timer = systemClock.setTimer(() => this.#expire(controller), longest, { background: true })
    controller.enqueue(encoder.encode('retry: 1000\n\n'))
    await reader.fresh()
    if (this.#over) return
    this.#stop = reader.watch((difference) => this.#guarded(controller, () => this.#tell(controller, difference)))
    // In the same step: no reading comes between.
    this.#guarded(controller, () => this.#begin(controller))
  }

  /** A stream that fails is not cancelled, and the tabs behind it must hear all the same. */
  #guarded(controller: ReadableStreamDefaultController<Uint8Array>, step: () => void): void {
    try {
      step()
    } catch (error) {
      this.cancel()
      controller.error(error)
    }
  }

  /** A stream ends each minute: the tab that opens the next one usually knows everything. */
  #begin(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { reader, may, after } = this.#options
    const { around } = reader
    const unchanged: Unchanged = { ...around, after: around.reading, may }
    if (around.reading === after) controller.enqueue(message('unchanged', unchanged))
    else this.#show(controller)
  }

  pull(controller: ReadableStreamDefaultController<Uint8Array>): void {
    if (!isEmpty(controller)) return
    if (this.#due) this.#end(controller)
    else if (this.#behind) this.#show(controller)
  }

  cancel(): void {
    // A stream that is to close may still be cancelled.
    if (this.#over) return
    this.#over = true
    this.#timer?.cancel()
    this.#stop?.()
    this.#options.closed()
  }

  #expire(controller: ReadableStreamDefaultController<Uint8Array>): void {
    this.#due = true
    if (isEmpty(controller)) this.#end(controller)
  }

  #end(controller: ReadableStreamDefaultController<Uint8Array>): void {
    // The message may be read at once, and then the stream asks for more.
    if (this.#over) return
    this.cancel()
    controller.enqueue(message('end', {}))
    controller.close()
  }

  #show(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const { reader, may } = this.#options
    this.#behind = false
    controller.enqueue(message('snapshot', { ...reader.snapshot(), may }))
  }

  #tell(controller: ReadableStreamDefaultController<Uint8Array>, difference: Difference): void {
    if (this.#due) return
    this.#behind ||= (controller.desiredSize ?? 0) <= 0
    if (!this.#behind) controller.enqueue(differenceOf(difference))
    else if (isEmpty(controller)) this.#show(controller)
  }
}
