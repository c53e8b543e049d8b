import { EngineError, isBrokenOff, ReplicationError } from '../../errors.js'
import { noteKey, slotOf } from '../../keys.js'
import type { Clock, Timer } from '../../base/clock.js'
import type { BackgroundWork } from './background-work.js'
import { type Retry, RETRY_TIME } from './retry-unanswered.js'
import { LONGEST_UNDO } from './undo-acquire.js'
import type { Link } from '../../engine/link.js'
import { NOTE_TIME } from '../../script-times-and-limits.js'
import { integer } from '../../lua/reply-shape.js'
import { UNSURE, isTransient } from './transient-or-unsure-errors.js'
import { quoted } from '../../plain-text.js'
import { errorOf } from '../../thrown.js'
import { explained } from '../../away-or-refusing.js'

/** ms. How long a note that is no longer needed may stay: many are deleted together. */
const LINGER = 1000
const BATCH = 250
/** How many are kept in a long outage; the others expire after an hour. */
const MOST_GIVEN_UP = 1000

/** ms. How long a step is repeated after a strange reply: a connection that answers so once may do so always. */
const STRANGE = 1000

/** The result of a step that was repeated. */
type Outcome<T> = { readonly answer: T } | { readonly error: unknown }

/** What has gone wrong with a step so far. */
class Course {
  readonly #clock: { monotonic(): number }
  /** The error of the first copy without an answer. That copy may have run, whatever is said about later ones. */
  unanswered: unknown
  unansweredAt = Infinity
  /** A copy was never answered: it may still run. */
  late = false
  /** Since when every error has been a refusal that does not pass. */
  refusedAt = Infinity
  latest: unknown

  constructor(clock: { monotonic(): number }) {
    this.#clock = clock
  }

  readonly failed = (error: unknown): void => {
    const now = this.#clock.monotonic()
    this.latest = error
    this.refusedAt = isTransient(error) ? Infinity : Math.min(this.refusedAt, now)
    this.late ||= isUnanswered(error)
    if (this.unanswered !== undefined || !(isUnanswered(error) || isStrange(error))) return
    this.unanswered = error
    this.unansweredAt = now
  }
}

/** What the steps need from the client. */
interface Noting {
  readonly options: { readonly id: string; readonly clock: Clock }
  readonly link: Pick<Link, 'isUp' | 'cluster' | 'command'>
  readonly background: BackgroundWork
  readonly retry: Retry
  readonly closed: boolean
  nextNumber(): number
  fail(error: unknown): void
}

/**
 * Steps that must run once, even if their answer is lost. A counter cannot tell which client changed it, so each such step leaves
 * a note of its result under a key of its own, which lives longer than any client repeats the step. If the answer is lost, the
 * client asks again with the same key. When every copy that was sent has been answered, the note is deleted.
 */
export class ExactlyOnceSteps {
  readonly #runtime: Noting
  readonly #answered = new Set<string>()
  /** Notes of steps that are no longer repeated although a copy may come late: the notes stay for as long as that is possible. */
  readonly #givenUp = new Set<string>()
  #timer: Timer | undefined

  constructor(runtime: Noting) {
    this.#runtime = runtime
  }

  /** The key of the note of the next request about `key`. */
  note(key: string): string {
    return noteKey(key, this.#runtime.options.id, this.#runtime.nextNumber())
  }

  /**
   * Repeats the step for up to a minute if there is no answer, or while its slot moves between nodes. Rejects if the step
   * certainly did not run; otherwise with the error of the first copy that was not answered.
   */
  async once<T>(key: string, step: (note: string) => Promise<T>): Promise<T> {
    const course = this.#course()
    const began = this.#runtime.options.clock.monotonic()
    const outcome = await this.#ask(key, step, course, () => {
      if (course.late) return course.unansweredAt + RETRY_TIME
      if (course.unanswered !== undefined) return course.unansweredAt + STRANGE
      return isBetweenNodes(course.latest) ? began + RETRY_TIME : -Infinity
    })
    if ('answer' in outcome) return outcome.answer
    throw course.unanswered ?? outcome.error
  }

  /**
   * Repeats the step whatever goes wrong, until `until`, and for no longer than `kept` after it may have run. Never rejects.
   * After a minute it emits an `error` event, resolves with undefined, and goes on in the background.
   */
  surely<T>(
    key: string,
    step: (note: string) => Promise<T>,
    { until = Infinity, kept = Infinity } = {},
  ): Promise<T | undefined> {
    const course = this.#course()
    const last = (): number => Math.min(until, course.unansweredAt + kept, course.refusedAt + RETRY_TIME)
    return this.#told(this.#ask(key, step, course, last), course)
  }

  /**
   * After a step without an answer, or one that no replica has: `undo` finds out whether it ran, and voids a late copy. Repeats that for
   * a minute, longer if what was acquired `lasts` longer, and at most for `LONGEST_UNDO`. After a minute it emits an `error` event.
   */
  undo(cause: unknown, undo: () => Promise<unknown>, lasts = Infinity): void {
    if (!mayHaveChanged(cause)) return
    const course = this.#course()
    course.failed(cause)
    const until = this.#runtime.options.clock.monotonic() + Math.min(LONGEST_UNDO, Math.max(lasts, RETRY_TIME))
    const undone = this.#runtime.retry.insist(undo, () => Math.min(until, course.refusedAt + RETRY_TIME), course.failed)
    this.#runtime.background.track(undone)
    void this.#told(undone, course)
  }

  /** Every copy of the step was answered, so the note can be deleted. */
  forget(note: string): void {
    this.#answered.add(note)
    if (this.#answered.size >= BATCH && this.#runtime.link.isUp) void this.flush()
    else {
      this.#timer ??= this.#runtime.options.clock.setTimer(() => void this.flush(), LINGER, { background: true })
    }
  }

  /** Deletes the notes that are not needed. Those that cannot be deleted now are retried, and expire at last. */
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
    const deleted = Promise.all([...this.#shortened(), ...[...slots.values()].map((notes) => this.#delete(notes))])
    this.#runtime.background.track(deleted)
    await deleted
  }

  async #delete(notes: readonly string[]): Promise<void> {
    const runtime = this.#runtime
    const route = notes[0] as string
    // Closing waits until they are deleted, if that is possible.
    const outcome = await runtime.retry.insist(
      () => runtime.link.command(['DEL', ...notes], integer, { route }),
      () => (runtime.closed ? Infinity : -Infinity),
    )
    if ('error' in outcome && isTransient(outcome.error) && !runtime.closed) for (const note of notes) this.forget(note)
  }

  /** Tries once for each note when others are deleted, or when the client closes: they expire at last. */
  #shortened(): Promise<unknown>[] {
    const notes = [...this.#givenUp]
    this.#givenUp.clear()
    const { link } = this.#runtime
    return notes.map((note) =>
      link.command(['PEXPIRE', note, NOTE_TIME], integer, { route: note }).catch(() => this.#giveUp(note)),
    )
  }

  #giveUp(note: string): void {
    if (this.#givenUp.size < MOST_GIVEN_UP) this.#givenUp.add(note)
  }

  #course(): Course {
    return new Course(this.#runtime.options.clock)
  }

  async #ask<T>(
    key: string,
    step: (note: string) => Promise<T>,
    course: Course,
    until: () => number,
  ): Promise<Outcome<T>> {
    const note = this.note(key)
    const asked = this.#runtime.retry.insist(() => step(note), until, course.failed)
    this.#runtime.background.track(asked)
    const outcome = await asked
    if (course.unanswered !== undefined && !course.late) this.forget(note)
    if ('error' in outcome) {
      if (course.late) this.#giveUp(note)
      return outcome
    }
    if (!course.late) this.forget(note)
    // A copy may still come late. Repeat the step, so that the note lasts as long as that is possible, and then expires.
    else {
      this.#runtime.retry.inBackground(async () => {
        await step(note)
        await this.#runtime.link.command(['PEXPIRE', note, NOTE_TIME], integer, { route: note })
      })
    }
    return outcome
  }

  /** The answer of the step; undefined if there is none within a minute. Emits an `error` event then, or when the step ends without an answer. */
  #told<T>(asked: Promise<Outcome<T>>, course: Course): Promise<T | undefined> {
    return new Promise((resolve) => {
      let told = false
      const tell = (error: unknown): void => {
        if (!told) this.#runtime.fail(notGivenBack(course.unanswered ?? error))
        told = true
        resolve(undefined)
      }
      const late = (): void => tell(course.latest)
      const timer = this.#runtime.options.clock.setTimer(late, RETRY_TIME, { background: true })
      void asked.then((outcome) => {
        timer.cancel()
        if ('answer' in outcome) resolve(outcome.answer)
        else tell(outcome.error)
      })
    })
  }
}

const isUnanswered = (error: unknown): boolean => error instanceof EngineError && error.code === 'NO_REPLY'
const isStrange = (error: unknown): boolean => error instanceof EngineError && error.code === 'BAD_REPLY'

/** A node runs no command with several keys until it has all of them. */
const isBetweenNodes = (error: unknown): boolean =>
  error instanceof EngineError && ['TRYAGAIN', 'ASK', 'MOVED'].includes(error.code)

const mayHaveChanged = (cause: unknown): boolean =>
  cause instanceof ReplicationError ||
  (cause instanceof EngineError && (UNSURE.has(cause.code) || isBrokenOff(cause.message)))

const notGivenBack = (cause: unknown): Error => {
  if (!(cause instanceof EngineError)) return errorOf(cause ?? 'no answer for a minute')
  const whose = cause.target === undefined ? '' : `${quoted(cause.target)}: `
  return explained(cause, `${whose}could not complete a release; what it should free may still be held on the server`)
}
