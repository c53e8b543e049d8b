import { EngineError } from '../errors.js'
import { noteKey, slotOf } from '../keys.js'
import type { Timer } from './clock.js'
import { type Runtime, UNDO_TIME } from './runtime.js'

/** How long a note that nobody needs any more may stay, ms: many are deleted together. */
const LINGER = 1000
const BATCH = 250

/**
 * What must be done once though its answer may be lost. A count cannot tell who changed it, so each such step leaves a note
 * of what came of it, under a key of its own that lives for two minutes: longer than anybody asks. Whose answer is lost asks
 * again under the same key. When every copy that was sent has been answered, the note goes.
 */
export class Requests {
  readonly #runtime: Runtime
  readonly #answered = new Set<string>()
  #timer: Timer | undefined

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Where the next request about `key` has its note. */
  note(key: string): string {
    return noteKey(key, this.#runtime.options.id, this.#runtime.nextNumber())
  }

  /** Rejects when it was surely not done. Without an answer it is asked for again, within a minute. */
  async once<T>(key: string, step: (note: string) => Promise<T>): Promise<T> {
    const note = this.note(key)
    const done = step(note).then(
      (answer) => {
        this.forget(note)
        return { answer }
      },
      (error: unknown) => {
        return isUnanswered(error) ? this.#insist(() => step(note)) : { error }
      },
    )
    this.#runtime.track(done)
    const outcome = await done
    if ('answer' in outcome) return outcome.answer
    throw outcome.error
  }

  /**
   * Whatever goes wrong, it is tried again for a minute, or until it is of no use; then the client's listeners are told.
   * Never rejects; undefined without an answer.
   */
  async surely<T>(key: string, step: (note: string) => Promise<T>, until = Infinity): Promise<T | undefined> {
    const note = this.note(key)
    let copies = 0
    const done = this.#insist(() => {
      copies++
      return step(note)
    }, until)
    this.#runtime.track(done)
    const outcome = await done
    if ('error' in outcome) {
      this.#runtime.fail(outcome.error)
      return undefined
    }
    if (copies === 1) this.forget(note)
    return outcome.answer
  }

  /** Behind a step without an answer: `undo` finds by the note whether it was done, and voids a copy that comes late. */
  undo(cause: unknown, undo: () => Promise<unknown>): void {
    if (isUnanswered(cause)) this.#runtime.inBackground(undo)
  }

  /** Every copy was answered. */
  forget(note: string): void {
    this.#answered.add(note)
    if (this.#answered.size >= BATCH) void this.flush()
    else {
      this.#timer ??= this.#runtime.options.clock.setTimer(() => void this.flush(), LINGER, { background: true })
    }
  }

  /** What cannot be deleted now goes by itself. */
  async flush(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    const { link } = this.#runtime
    const slots = new Map<number, string[]>()
    for (const note of this.#answered) {
      const slot = link.cluster ? slotOf(note) : 0
      slots.set(slot, [...(slots.get(slot) ?? []), note])
    }
    this.#answered.clear()
    await Promise.allSettled(
      [...slots.values()].map((notes) => link.command(['DEL', ...notes], { route: notes[0] as string })),
    )
  }

  #insist<T>(step: () => Promise<T>, until = Infinity): Promise<{ answer: T } | { error: unknown }> {
    return this.#runtime.insist(step, Math.min(until, this.#runtime.options.clock.monotonic() + UNDO_TIME))
  }
}

const isUnanswered = (error: unknown): boolean => error instanceof EngineError && error.code === 'NO_REPLY'
