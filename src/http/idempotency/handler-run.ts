import { systemClock } from '../../base/clock.js'
import type { Kept } from './stored-answer-format.js'
import type { Begun } from './claim-key.js'
import { type Fields, Recording } from './response-recording.js'

/** What a handler can know of its request. */
export interface IdempotencyRun {
  /** The key of the request, as its sender chose it. */
  readonly key: string
  /** A fencing token: if the handler runs again, after a crash for example, its token is greater. */
  readonly token: bigint
  /** Aborts when a retry may run the handler although this request has not been answered. */
  readonly signal: AbortSignal
}

export interface RunOptions {
  readonly fingerprint: string
  readonly maxBytes: number
  readonly maxRun: number
  readonly timeout: number
}

/** A request whose handler runs: from its claim to its answer. */
export class HandlerRun {
  /** Aborts when the key is free, or another request has it, before this one was answered. */
  readonly signal: AbortSignal
  readonly #begun: Begun
  readonly #options: RunOptions
  readonly #timer
  readonly #freed = new AbortController()
  #recording: Recording | undefined
  #isOver = false
  #whenOver: (() => void) | undefined

  constructor(begun: Begun, options: RunOptions) {
    this.#begun = begun
    this.#options = options
    this.signal = AbortSignal.any([begun.signal, this.#freed.signal])
    const late = (): void => {
      this.#stop(this.#keptOf(false), new DOMException('the handler has not answered within maxRun', 'TimeoutError'))
    }
    this.#timer = systemClock.setTimer(late, options.maxRun, { background: true })
  }

  /** Whether an answer that comes now can no longer be kept. */
  get isOver(): boolean {
    return this.#isOver || this.#begun.signal.aborted
  }

  /** Calls back when `isOver` is true, perhaps more than once. */
  whenOver(callback: () => void): void {
    this.#whenOver = callback
    this.#begun.signal.addEventListener('abort', callback, { once: true })
    if (this.isOver) callback()
  }

  /** Records the answer. `before`: the header fields that the response has already. */
  record(before: Fields): Recording {
    this.#recording = new Recording(this.#options.maxBytes, before)
    return this.#recording
  }

  /** The answer is whole. Resolves when it is kept, or when the requester has waited long enough. It must not have all of it before. */
  async finish(): Promise<void> {
    const { signal } = this.#begun
    const kept = this.#end(this.#keptOf(true))
    if (signal.aborted) return
    await new Promise<void>((resolve) => {
      const timer = systemClock.setTimer(resolve, this.#options.timeout)
      void kept.then(() => {
        timer.cancel()
        resolve()
      })
    })
  }

  /** There will be no answer: a retry runs the handler. */
  fail(): void {
    this.#stop(undefined, new DOMException('the request will not be answered', 'AbortError'))
  }

  /** Nobody has been answered. `reason`: for the handler, if a retry may run it. */
  #stop(kept: Kept | undefined, reason: DOMException): void {
    if (this.#isOver) return
    // The end comes first: a handler that hears the signal may answer at once, and that does not count.
    void this.#end(kept)
    if (kept === undefined) this.#freed.abort(reason)
  }

  #end(kept: Kept | undefined): Promise<void> {
    this.#timer.cancel()
    const ended = this.#begun.end(kept)
    if (!this.#isOver) {
      this.#isOver = true
      this.#whenOver?.()
    }
    return ended
  }

  #keptOf(isWhole: boolean): Kept | undefined {
    const outcome = this.#recording === undefined ? 'retry' : this.#recording.outcome(isWhole)
    return outcome === 'retry' ? undefined : { fingerprint: this.#options.fingerprint, answer: outcome }
  }
}

const runs = new WeakMap<object, IdempotencyRun>()

export const remember = (request: object, run: IdempotencyRun): void => void runs.set(request, run)

/**
 * What a handler can know of its request: its key, a token and a signal. Pass it the request of Express or Fastify, or Hono's context. Undefined for a request that
 * is not protected: its method is not, it has no key, or the server is away and `whenAway` is `open`.
 */
export const idempotencyRun = (request: object): IdempotencyRun | undefined => runs.get(request)
