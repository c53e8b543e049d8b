import type { Codec } from '../../api/codec.js'
import type { Flight, FlightOptions, FlightResult, FlightRun, FlightRunOptions, FlightState } from '../../api/flight.js'
import { type Moment, momentOf } from '../../base/clock.js'
import { enclosing } from '../../base/scope.js'
import {
  OPTIONS,
  checkFunction,
  checkLease,
  checkName,
  checkOptions,
  checkSignal,
  checkWait,
  show,
  usingArgs,
} from '../../check-arguments.js'
import { codecOf } from '../../codecs/codec-by-name.js'
import { NamedRunner } from '../../core/client/named-runner.js'
import { GatedLock, type LockHome, whoIs } from '../../core/gate/gated-lock.js'
import { LATE } from '../../core/waiting/limited-step-outside-queue.js'
import type { Patience } from '../../core/waiting/acquire-request.js'
import { repeatWhileTrouble } from '../../core/waiting/repeat-while-trouble.js'
import { AcquireTimeoutError, DeadlockError } from '../../errors.js'
import { clientOf } from '../../keys.js'
import { quoted } from '../../plain-text.js'
import { nonReentrantLock } from '../non-reentrant-lock/non-reentrant-lock.js'
import type { NewestTokens } from '../slots/newest-tokens.js'
import type { Topics } from '../topic/topics.js'
import { Computation } from './computation.js'
import type { Ended } from './end-message.js'
import { Follower } from './follower.js'
import { LocalFlight } from './compute-or-follow.js'
import { type Outcome, readableOutcome } from './flight-outcome.js'
import { ANY_TOKEN, FlightRecord, type Look, WHATEVER_AGE } from './flight-record.js'

/** How long an outcome is kept at least, ms: for waiters that lost the message. */
const LINGER = 10_000

/** What flights need from their client. */
export interface FlightsHome extends LockHome {
  readonly topics: Topics
  readonly newest: NewestTokens
  /** What this process computes or waits for now, by the key of the record. */
  readonly flights: Map<string, LocalFlight>
  /** The looks at the server that began just now. */
  readonly looks: Map<string, { readonly look: Promise<Look>; readonly at: Moment }>
}

interface Asked {
  readonly ttl: number
  readonly stale: number
  /** Whatever its age, a stored value is used. */
  readonly stored: boolean
  readonly retries: boolean
  readonly wait: number
  readonly lease: number | undefined
  readonly signal: AbortSignal | undefined
}

const checkRun = (options: FlightRunOptions | undefined): Asked => {
  const { ttl = 0, stale = 0, wait = Infinity, lease, signal, ...more } = checkOptions(options, OPTIONS.runFlight)
  const { failure = 'share', reuse = 'fresh' }: { failure?: unknown; reuse?: unknown } = more
  for (const [value, what] of [
    [ttl, 'ttl'],
    [stale, 'stale'],
  ] as const)
    if (value !== 0) checkLease(value, what)
  if (failure !== 'share' && failure !== 'retry')
    throw new TypeError(`failure must be 'share' or 'retry', not ${show(failure)}`)
  if (reuse !== 'fresh' && reuse !== 'stored')
    throw new TypeError(`reuse must be 'fresh' or 'stored', not ${show(reuse)}`)
  checkWait(wait)
  if (lease !== undefined) checkLease(lease)
  if (signal !== undefined) checkSignal(signal, 'signal')
  return { ttl, stale, stored: reuse === 'stored', retries: failure === 'retry', wait, lease, signal }
}

/** ms. Calls further apart do not share a look. */
const MOMENT = 1

/** What the server said when the flight began. */
interface From {
  readonly after: bigint
  readonly held: boolean
  /** An older value exists. */
  readonly refreshes: boolean
}

/** One key. */
interface Place {
  readonly key: string
  readonly title: string
  readonly lock: GatedLock
  readonly record: FlightRecord
}

type WorkOf<T> = (run: FlightRun) => Promise<T> | T

/** Flights of one name. */
export class SharedFlight implements Flight {
  readonly name: string
  readonly #home: FlightsHome
  readonly #codec: Codec

  constructor(home: FlightsHome, name: string, options?: FlightOptions) {
    const { codec } = checkOptions(options, OPTIONS.flight)
    this.#codec = codec === undefined ? home.runtime.options.codec : codecOf(codec)
    this.#home = home
    this.name = name
  }

  async run<T>(
    key: string,
    first: FlightRunOptions | undefined | WorkOf<T>,
    second?: WorkOf<T>,
  ): Promise<FlightResult<T>> {
    checkName(key, 'key')
    const [options, work] = usingArgs<FlightRunOptions, WorkOf<T>>(first, second)
    checkFunction(work, 'work')
    const asked = checkRun(options)
    const { runtime } = this.#home
    runtime.checkTakes(this.name)
    asked.signal?.throwIfAborted()
    const place = this.#place(key)
    if (enclosing((lock) => place.lock.meets(lock)) !== undefined)
      throw new DeadlockError(place.title, 'this code is part of its computation')
    return this.#value<T>(place, asked, work)
  }

  async forget(key: string): Promise<boolean> {
    const { lock, record } = this.#place(checkName(key, 'key'))
    // Calls from now on do not want what is computed now.
    this.#home.flights.delete(record.record)
    const stopped = await lock.forceRelease()
    const forgotten = await this.#home.runtime.untilClosed(() => record.forget(), this.name)
    return stopped || forgotten
  }

  async inspect(key: string): Promise<FlightState> {
    const { record } = this.#place(checkName(key, 'key'))
    const { state, age, holder } = await this.#home.runtime.untilClosed(() => record.look(ANY_TOKEN, 0), this.name)
    return {
      ...(holder !== undefined && { by: await whoIs(this.#home.readLabels, clientOf(holder)) }),
      ...(state !== undefined && { ended: { outcome: state, age } }),
    }
  }

  #place(key: string): Place {
    const { runtime, newest } = this.#home
    const title = `${this.name}: ${key}`
    const record = new FlightRecord(new NamedRunner(runtime, title), runtime.keyOf(this.name), key, newest)
    return { key, title, record, lock: new GatedLock(this.#home, nonReentrantLock, title, record.lock) }
  }

  async #value<T>(place: Place, asked: Asked, work: WorkOf<T>): Promise<FlightResult<T>> {
    const { clock } = this.#home.runtime.options
    const until = clock.monotonic() + asked.wait
    const look = await this.#firstLook(place, asked)
    const kept = this.#kept(place, look, asked)
    if (kept !== undefined) {
      if (!asked.stored && kept.age > asked.ttl) this.#refresh(place, look, asked, work)
      return { value: kept.value as T, shared: true, age: kept.age }
    }
    // A holder without a name: another program wrote the key. A call that does not wait tries to acquire, and so gets the error that says it.
    const isHeld = asked.wait === 0 ? (look.holder ?? '') !== '' : look.holder !== undefined
    // A call that does not wait needs no subscription.
    if (asked.wait === 0 && isHeld) throw new AcquireTimeoutError(place.title, 0)
    for (let [after, held] = [look.token, isHeld]; ; held = false) {
      const known = this.#home.flights.get(place.record.record)
      const flight = known ?? this.#start(place, { after, held, refreshes: false }, asked, work)
      const works = known === undefined
      // It has seen who computes now: messages of the one before are too old for this call.
      if (!works) flight.doubt(look.holder)
      const join = (): Promise<Outcome | undefined> =>
        flight.join({ until, wait: asked.wait, signal: asked.signal, works })
      // Its own work runs to its end, even if the client closes.
      const outcome = await (works ? join() : this.#home.runtime.untilClosed(join, this.name))
      if (outcome === undefined) continue
      // It had ended before this call asked.
      if (!works && outcome.token <= after && !(await this.#isNewer(place, outcome, after, { ...asked, until })))
        continue
      if ('value' in outcome) return { value: outcome.value as T, shared: !works || !outcome.own, age: outcome.age }
      // Its own work is not repeated.
      if (!asked.retries || (works && outcome.own)) throw outcome.error
      after = outcome.token
    }
  }

  /** The server may have had an end with a greater token that was restored, or written by another program. If it has this one now, this one is newer. */
  async #isNewer(
    { record }: Place,
    { token }: Outcome,
    after: bigint,
    { until, signal }: { until: number; signal: AbortSignal | undefined },
  ): Promise<boolean> {
    const { runtime } = this.#home
    if (token === after) return false
    const wait = Math.max(0, until - runtime.options.clock.monotonic())
    const ask = (): Promise<Look> => runtime.untilClosed(() => record.look(ANY_TOKEN, 0), this.name)
    const look = await repeatWhileTrouble(runtime, ask, { wait, signal })
    return look !== LATE && look.token === token
  }

  async #firstLook(place: Place, asked: Asked): Promise<Look> {
    const { runtime } = this.#home
    const patience: Patience = { wait: asked.wait, signal: asked.signal }
    const look = await repeatWhileTrouble(runtime, () => this.#look(place, asked), patience)
    if (look !== LATE) return look
    runtime.blame(patience, place.title)
    throw new AcquireTimeoutError(place.title, asked.wait, patience.trouble)
  }

  /** Calls of one moment share a look. A later call does not: the answer may tell of a time before it asked, above all if this process stood still meanwhile. */
  #look({ record }: Place, { ttl, stale, stored }: Asked): Promise<Look> {
    const { runtime, looks } = this.#home
    const fresh = stored ? WHATEVER_AGE : ttl + stale
    const what = `${fresh} ${record.record}`
    const [known, at] = [looks.get(what), momentOf(runtime.options.clock)]
    if (known !== undefined && Math.max(at.mono - known.at.mono, at.wall - known.at.wall) < MOMENT) return known.look
    const look = runtime.untilClosed(() => record.look(ANY_TOKEN, fresh), this.name)
    looks.set(what, { look, at })
    const over = (): void => {
      if (looks.get(what)?.look === look) looks.delete(what)
    }
    look.then(over, over)
    return look
  }

  /** A value that is fresh enough. A value that cannot be read is computed again. */
  #kept({ title }: Place, { ended, age }: Look, { stored }: Asked): Extract<Outcome, { value: unknown }> | undefined {
    if (ended === undefined) return undefined
    const { runtime } = this.#home
    const fail = (...what: Parameters<typeof runtime.fail>): void => runtime.fail(...what)
    const outcome = readableOutcome(ended, age, { codec: this.#codec, title, stored, fail })
    return 'value' in outcome ? outcome : undefined
  }

  #start(place: Place, from: From, asked: Asked, work: WorkOf<unknown>): LocalFlight {
    const { runtime, topics, flights } = this.#home
    const { key, title, lock, record } = place
    const codec = this.#codec
    const { ttl, stale, stored, lease } = asked
    const kept = Math.max(LINGER, ttl + stale)
    const computation = new Computation({
      ...{ key, runtime, lock, record, codec, work, lease, kept },
      refreshes: from.refreshes,
    })
    const ownOf = (ended: Ended): Outcome | undefined => computation.ownOf(ended)
    const over = (): void => {
      if (flights.get(record.record) === flight) flights.delete(record.record)
    }
    const flight: LocalFlight = new LocalFlight(
      { title, runtime, over, ...from },
      computation,
      (signal) => new Follower({ title, runtime, topics, record, codec, stored, ownOf, signal }),
    )
    flights.set(record.record, flight)
    return flight
  }

  /** Computes in the background, once for this whole process. */
  #refresh(place: Place, { token, holder }: Look, asked: Asked, work: WorkOf<unknown>): void {
    const { runtime, flights } = this.#home
    if (holder !== undefined || flights.has(place.record.record)) return
    const flight = this.#start(place, { after: token, held: false, refreshes: true }, asked, work)
    const failed = (error: unknown): void =>
      runtime.fail(error, `could not refresh ${quoted(place.title)}, whose old value stays`)
    flight.join({ until: Infinity, wait: Infinity, signal: undefined, works: true }).then((outcome) => {
      if (outcome !== undefined && 'error' in outcome && outcome.own) failed(outcome.error)
    }, failed)
  }
}
