import type { LockEvent, LockEvents, Watched, WatchOptions } from '../../api/watching.js'
import { onAbort, reasonOf } from '../../base/abort.js'
import type { Timer } from '../../base/clock.js'
import { checkName, checkOptions, checkSignal, checkWords, OPTIONS, show } from '../../check-arguments.js'
import { isTransient, UNSURE } from '../../core/server/transient-or-unsure-errors.js'
import { isAway } from '../../away-or-refusing.js'
import { EngineError } from '../../errors.js'
import { textOf } from '../../thrown.js'
import { EventQueue } from './event-queue.js'
import { lockKindOf } from './kinds-in-one-row.js'
import { EventsFromLooks, type Round } from './events-from-looks.js'
import type { ListHome } from './listed-lock.js'
import { WatchedLocks, type Wanted } from './watched-locks.js'
import { WakeUps } from './wake-ups.js'

/** ms. How often it looks at one lock, and at those of a pattern; and after a message, how long after the look before at least. */
const LOOK = 250
const LOOK_AT_ALL = 1000
const LOOK_SOONER = 50
/** ms. How often it reads what clients publish, and how much longer than the reading itself that is at least. */
const REFRESH = 1000
const REFRESH_SHARE = 5
/** How many locks are looked at together. */
const AT_ONCE = 64
/** How many events may wait for the loop. */
const BUFFER = 1000

const checkedWatched = (what: Watched): string => {
  const { pattern } = checkOptions(what, OPTIONS.watched)
  return checkWords(pattern, 'pattern')
}

const checked = (what: string | Watched, options: WatchOptions | undefined): Wanted & Pick<WatchOptions, 'signal'> => {
  const { kind, signal } = checkOptions(options, OPTIONS.watch)
  if (signal !== undefined) checkSignal(signal, 'signal')
  if (kind !== undefined && lockKindOf(kind) === undefined)
    throw new TypeError(`kind must be one that can be listed, not ${show(kind)}`)
  return typeof what === 'string'
    ? { name: checkName(what), kind, signal }
    : { pattern: checkedWatched(what), kind, signal }
}

/** What happens to a lock, or to those that match. */
export const watchLocks = (home: ListHome, what: string | Watched, options: WatchOptions | undefined): LockEvents => {
  // Wrong options throw here, and not at the first step of the loop.
  const { signal, ...wanted } = checked(what, options)
  if (wanted.name !== undefined) home.runtime.keyOf(wanted.name)
  return new Watcher(home, wanted, signal)
}

/** Whether the next look may succeed. */
const mayPass = (error: unknown): boolean =>
  isTransient(error) || (error instanceof EngineError && UNSURE.has(error.code))

/** Looks again and again, and tells what has changed in between. A message only causes a look. */
class Watcher implements LockEvents {
  readonly #home: ListHome
  readonly #wanted: Wanted
  readonly #signal: AbortSignal | undefined
  readonly #targets: WatchedLocks
  readonly #looks: EventsFromLooks
  readonly #queue = new EventQueue<LockEvent>(BUFFER)
  #wakeUps: WakeUps | undefined
  #started = false
  /** Ends the pause between two looks. */
  #wake: (() => void) | undefined
  #heard = false
  /** Ends it for good. */
  #stop: (() => void) | undefined
  /** Resolves when the server knows that it listens no more. */
  #left: Promise<void> | undefined
  /** How things stood when the watch began has been told. */
  #begun = false
  /** Changes may have been missed since the last event. */
  #gap = false
  #refreshAt = -Infinity
  /** The newest trouble, if it has not passed. */
  #reported: string | undefined
  /** Stops listening to the signal and to the client. */
  readonly #stops: (() => unknown)[] = []

  constructor(home: ListHome, wanted: Wanted, signal: AbortSignal | undefined) {
    this.#home = home
    this.#wanted = wanted
    this.#signal = signal
    this.#targets = new WatchedLocks(home, wanted)
    this.#looks = new EventsFromLooks(home, wanted.name !== undefined)
  }

  next(): Promise<IteratorResult<LockEvent, undefined>> {
    if (!this.#started) this.#start()
    return this.#queue.next()
  }

  async return(): Promise<IteratorResult<LockEvent, undefined>> {
    this.#started = true
    this.#end({})
    await this.#left
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  #start(): void {
    this.#started = true
    const { runtime } = this.#home
    const open = new Promise<void>((resolve) => this.#stops.push(resolve))
    runtime.untilClosed(() => open, this.#wanted.name).catch((error: unknown) => this.#end({ error }))
    // Another server may have the keys, or the same has forgotten some.
    const moved = (): void => {
      this.#gap = this.#begun
    }
    runtime.questions.add(moved)
    this.#stops.push(() => runtime.questions.delete(moved))
    const signal = this.#signal
    try {
      if (signal !== undefined) {
        signal.throwIfAborted()
        this.#stops.push(onAbort(signal, () => this.#end({ error: reasonOf(signal) })))
      }
    } catch (error) {
      this.#end({ error })
    }
    if (!this.#queue.ended) void this.#run()
  }

  async #run(): Promise<void> {
    const { clock } = this.#home.runtime.options
    const { name } = this.#wanted
    if (name !== undefined) {
      this.#wakeUps = new WakeUps(this.#home.runtime, this.#home.runtime.keyOf(name), () => this.#hear())
    }
    const interval = name === undefined ? LOOK_AT_ALL : LOOK
    while (!this.#queue.ended) {
      const began = clock.monotonic()
      try {
        await this.#round()
        this.#reported = undefined
      } catch (error) {
        // Until it has answered once, only what is known to pass is waited out.
        if (this.#begun ? mayPass(error) : isTransient(error)) this.#report(error)
        else this.#end({ error })
        this.#gap = this.#begun
      }
      await this.#pause(interval - (clock.monotonic() - began))
    }
  }

  /** Silence would look as if nothing happened. Each trouble is reported once; that the connection is away, the client reports itself. */
  #report(error: unknown): void {
    const text = textOf(error)
    if (text !== this.#reported && !isAway(error)) this.#home.runtime.fail(error)
    this.#reported = text
  }

  async #round(): Promise<void> {
    this.#heard = false
    await this.#refresh()
    this.#looks.begin()
    const { clock } = this.#home.runtime.options
    const all = this.#targets.all
    let merged = this.#gap
    for (let from = 0; from < all.length && !this.#queue.ended; from += AT_ONCE) {
      if (this.#queue.isFull) await this.#room()
      const began = clock.monotonic()
      // The server may have been away while it was asked.
      const round = (): Round => ({ initial: !this.#begun, merged: (merged ||= this.#gap) })
      for (const event of await this.#looks.at(all.slice(from, from + AT_ONCE), round)) {
        this.#queue.push(event)
        this.#gap = false
      }
      // The server is busy with it for half of the time at most.
      if (from + AT_ONCE < all.length) await this.#pause(clock.monotonic() - began)
    }
    this.#begun = true
  }

  async #room(): Promise<void> {
    const { clock } = this.#home.runtime.options
    const began = clock.monotonic()
    await this.#queue.room()
    // What happened while the loop took no events is seen only as the difference.
    if (clock.monotonic() - began > LOOK_AT_ALL) this.#gap = this.#begun
  }

  async #refresh(): Promise<void> {
    const { clock } = this.#home.runtime.options
    const began = clock.monotonic()
    if (began < this.#refreshAt) return
    await this.#targets.refresh()
    const now = clock.monotonic()
    this.#refreshAt = Math.max(began + REFRESH, now + REFRESH_SHARE * (now - began))
  }

  #hear(): void {
    this.#heard = true
    this.#wake?.()
  }

  /** A message makes it shorter. */
  async #pause(ms: number): Promise<void> {
    const { clock } = this.#home.runtime.options
    const began = clock.monotonic()
    await this.#sleep(Math.min(ms, LOOK_SOONER))
    if (!this.#heard) await this.#sleep(ms - (clock.monotonic() - began), true)
  }

  #sleep(ms: number, untilHeard = false): Promise<void> {
    return new Promise((resolve) => {
      const over = (): void => {
        timer?.cancel()
        this.#wake = undefined
        this.#stop = undefined
        resolve()
      }
      const timer: Timer | undefined =
        this.#queue.ended || ms < 0 ? undefined : this.#home.runtime.options.clock.setTimer(over, ms)
      if (timer === undefined) resolve()
      else {
        this.#stop = over
        if (untilHeard) this.#wake = over
      }
    })
  }

  #end(end: { error?: unknown }): void {
    this.#queue.end(end)
    for (const stop of this.#stops.splice(0)) stop()
    this.#stop?.()
    this.#left ??= this.#wakeUps?.end()
  }
}
