import { EngineError, isBrokenOff, ReplicationError } from '../../errors.js'
import { noteKey, slotOf } from '../../keys.js'
import type { Clock, Timer } from '../../base/clock.js'
import type { BackgroundWork } from './background-work.js'
import { type Retry, RETRY_TIME } from './retry.js'
import { LONGEST_UNDO } from './undo-acquire.js'
import type { Link } from '../../engine/link.js'
import { NOTE_TIME } from '../../constants.js'
import { integer } from '../../lua/shape.js'
import { UNSURE, isTransient } from './error-kinds.js'
import { quoted } from '../../plain-text.js'
import { errorOf } from '../../thrown.js'

/** How long a note that nobody needs any more may stay, ms: many are deleted together. */
const LINGER = 1000
const BATCH = 250
/** In an outage that lasts: the others go after an hour. */
const MOST_GIVEN_UP = 1000

/** For how long a step is asked for again whose answer is none, ms: a connection that answers so may do so always. */
const STRANGE = 1000

/** What became of a step that was repeated. */
type Outcome<T> = { readonly answer: T } | { readonly error: unknown }

/** What went wrong with it until now. */
class Course {
  readonly #clock: { monotonic(): number }
  /** Of the first copy without an answer. It may have been done, whatever is said of later ones. */
  unanswered: unknown
  unansweredAt = Infinity
  /** A copy was never answered: it may come late. */
  late = false
  /** Since when all that comes is a refusal that does not pass. */
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

/** What it needs of its client. */
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
 * What must be done once though its answer may be lost. A count cannot tell who changed it, so each such step leaves a note
 * of what came of it, under a key of its own that lives for longer than anybody asks. Whose answer is lost asks again under
 * the same key. When every copy that was sent has been answered, the note goes.
 */
export class IdempotentSteps {
  readonly #runtime: Noting
  readonly #answered = new Set<string>()
  /** Of steps that nobody asks for any more though a copy may come late: they last for as long as that. */
  readonly #givenUp = new Set<string>()
  #timer: Timer | undefined

  constructor(runtime: Noting) {
    this.#runtime = runtime
  }

  /** Where the next request about `key` has its note. */
  note(key: string): string {
    return noteKey(key, this.#runtime.options.id, this.#runtime.nextNumber())
  }

  /**
   * Without an answer it is asked for again, within a minute; while its slot moves from node to node, too. Rejects when it was
   * surely not done; or else with the error of the first copy that was not answered.
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
   * Whatever goes wrong, it is tried again until `until`, and for no longer than `kept` after it may have been done. Never
   * rejects. After a minute the client's listeners are told, and it goes on behind the caller's back: undefined.
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
   * Behind a step without an answer, or that no replica has: `undo` finds out whether it was done, and voids a copy that comes late. It is
   * tried for a minute, for longer where what it took `lasts` longer, and for `LONGEST_UNDO` at most; after a minute the client's listeners are told.
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

  /** Every copy was answered. */
  forget(note: string): void {
    this.#answered.add(note)
    if (this.#answered.size >= BATCH && this.#runtime.link.isUp) void this.flush()
    else {
      this.#timer ??= this.#runtime.options.clock.setTimer(() => void this.flush(), LINGER, { background: true })
    }
  }

  /** What cannot be deleted now is tried again, and goes by itself at last. */
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
    // Closing does not end before they are gone, if that can be.
    const outcome = await runtime.retry.insist(
      () => runtime.link.command(['DEL', ...notes], integer, { route }),
      () => (runtime.closed ? Infinity : -Infinity),
    )
    if ('error' in outcome && isTransient(outcome.error) && !runtime.closed) for (const note of notes) this.forget(note)
  }

  /** A try for each when others are deleted, or the client closes: they go by themselves at last. */
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
    // A copy may come late still. Asked for once more, the note lasts for as long as that, and then it goes.
    else {
      this.#runtime.retry.inBackground(async () => {
        await step(note)
        await this.#runtime.link.command(['PEXPIRE', note, NOTE_TIME], integer, { route: note })
      })
    }
    return outcome
  }

  /** Its answer; undefined when there is none within a minute. Then, or when it ends without one before, that is told. */
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

/** No node does what has several keys before all of them are at the same. */
const isBetweenNodes = (error: unknown): boolean =>
  error instanceof EngineError && ['TRYAGAIN', 'ASK', 'MOVED'].includes(error.code)

const mayHaveChanged = (cause: unknown): boolean =>
  cause instanceof ReplicationError ||
  (cause instanceof EngineError && (UNSURE.has(cause.code) || isBrokenOff(cause.message)))

const notGivenBack = (cause: unknown): Error => {
  if (!(cause instanceof EngineError)) return errorOf(cause ?? 'no answer for a minute')
  const { code, target, message } = cause
  const whose = target === undefined ? '' : `${quoted(target)}: `
  const text = `${whose}what nobody has any more may not have been given back: ${message}`
  return new EngineError(code, text, { target, cause })
}
