import type { Clock } from '../../base/clock.js'
import type { Patience } from '../../core/waiting/acquire-request.js'
import { LONGEST_UNDO } from '../../core/server/undo-acquire.js'
import type { Runtime } from '../../core/client/runtime.js'
import { NamedRunner } from '../../core/client/named-runner.js'
import type { Answer, Passage } from '../../core/shared/passage.js'
import { unlessSetUp } from '../../core/shared/unless-set-up.js'
import { NotInitializedError } from '../../errors.js'
import { limiterChannel, limiterGrants, limiterOrder, limiterPermits, limiterPlaces, limiterValue } from '../../keys.js'
import { LONGEST_PAUSE, POLL, RATE_ALLOWANCE } from '../../script-times-and-limits.js'
import {
  rateLimiterAsk,
  rateLimiterAvailable,
  rateLimiterLeave,
  rateLimiterUndo,
  rateLimiterTake,
} from '../../lua/scripts.gen.js'
import type { RedissonVersion } from '../../api/client.js'
import type { Rate } from '../../api/rate-limiter.js'
import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import type { Waiter } from '../../core/waiting/waiter.js'
import { quoted } from '../../plain-text.js'

export interface WindowRequest extends Patience {
  readonly permits: number
  /** The rate to set if there is none. */
  readonly rate?: Rate | undefined
  /** Its permits are never returned, even if its answer comes late or not at all. */
  readonly late?: 'counts' | undefined
  /** What the server said at the last refusal; `free`: when there will be enough, on the monotonic clock. */
  refused?: { readonly remaining: number; readonly free: number }
}

/** The grant of one call: the bytes that stand for it among the grants, and how many permits were left. */
export interface Grant {
  readonly call: Uint8Array
  readonly remaining: number
}

const RANDOM = 16
/** A script looks at a thousand grants. A call asks at most this many times until all have been looked at. */
const RUNS = 1000

/** Without a place in the line there are no messages, so it polls. */
const unlined = (ms: number): number => Math.min(ms, POLL)

/** A grant in Redisson's format: a length, that many random bytes, the number of permits. Up to 3.16 the length has eight bytes. */
const newCall = (clock: Clock, redisson: RedissonVersion, permits: number): Uint8Array => {
  const start = redisson === '3.16' ? 8 : 1
  const call = new Uint8Array(start + RANDOM + 4)
  call[0] = RANDOM
  call.set(clock.randomBytes(RANDOM), start)
  new DataView(call.buffer).setUint32(start + RANDOM, permits, true)
  return call
}

interface Question {
  readonly note: string
  readonly calls: readonly Uint8Array[]
  /** A digit for each call: 1 if it waits in the line. */
  readonly patient: string
  readonly signal: AbortSignal | undefined
}

/**
 * The answer to a question: how many calls got permits, how many permits are left, in how many ms the next call can have its own, and
 * when to ask again.
 */
type Taken = readonly [served: number, remaining: number, left: number, pause: number]

/**
 * The window of a rate limiter, for calls that take permits. The waiters of a process have one place in the line on the server, for as
 * many permits as the first of them wants. When that place is first, the server tells the process when the permits are due.
 */
export class RateWindow implements Passage<WindowRequest, Grant> {
  readonly name: string
  readonly kind = { name: 'rateLimiter' }
  readonly key: string
  readonly longest = LONGEST_PAUSE
  /** The channel on which the process is woken up. */
  readonly channel: string
  /** The channel on which old versions of holdfast without a line learn about returned permits. */
  readonly told: string
  /** In the order of Redisson's scripts. */
  readonly keys: readonly [string, string, string, string, string]
  readonly line: readonly [order: string, places: string]
  readonly #runtime: Runtime
  readonly #runner: ScriptRunner
  /** The wire name of this process's place in the line, and whether it may be in the line. */
  #owner: string | undefined
  #stands = false

  constructor(runtime: Runtime, name: string, key: string) {
    const { id } = runtime.options
    this.#runtime = runtime
    this.#runner = new NamedRunner(runtime, name)
    this.name = name
    this.key = key
    this.channel = `${limiterGrants(key)}:${id}`
    this.told = limiterChannel(key)
    this.keys = [key, limiterValue(key), limiterValue(key, id), limiterPermits(key), limiterPermits(key, id)]
    this.line = [limiterOrder(key), limiterPlaces(key)]
  }

  get standing(): string | undefined {
    return this.#owner
  }

  /** What the scripts need to publish messages. */
  get voices(): [publish: string, counted: string, grants: string] {
    return [this.#runner.publishCommand, this.#runner.countsAll ? '1' : '0', limiterGrants(this.key)]
  }

  async ask(waiters: readonly Waiter<WindowRequest, Grant>[], hears: boolean): Promise<Answer<WindowRequest, Grant>> {
    return this.take(
      waiters.map(({ request }) => request),
      { joins: hears || this.#stands },
    )
  }

  /** `joins`: waiters join the line, even if permits are free. `signal`: once it has aborted, nothing more is sent. */
  async take(
    requests: readonly WindowRequest[],
    { joins = false, signal }: { joins?: boolean; signal?: AbortSignal | undefined } = {},
  ): Promise<Answer<WindowRequest, Grant>> {
    const { clock, redisson } = this.#runtime.options
    const note = this.#runtime.steps.note(this.key)
    const calls = requests.map(({ permits }) => newCall(clock, redisson, permits))
    const patient = requests.map(({ wait }) => (joins && wait > 0 ? '1' : '0')).join('')
    const send = (): Promise<Taken> => this.#send({ note, calls, patient, signal }, requests)
    let [served, remaining, left, pause] = await send()
    // No call has got permits yet, so nothing is lost by asking again.
    for (let runs = 1; served === 0 && left === 0 && runs < RUNS && signal?.aborted !== true; runs++)
      [served, remaining, left, pause] = await send()
    if (served === -1) return { granted: [], left: POLL, vain: unlessSetUp(this.name, 'rate is') }
    if (served === -2) return { granted: [], left: 1, vain: (request) => this.#tooMany(request, remaining) }
    // How long this stays true is not known.
    const refused = { remaining, free: clock.monotonic() + Math.max(1, left) }
    for (const request of requests.slice(served)) request.refused = refused
    return { granted: calls.slice(0, served).map((call) => ({ call, remaining })), left: Math.max(1, pause) }
  }

  #tooMany({ permits }: WindowRequest, rate: number): Error | undefined {
    if (permits <= rate) return undefined
    return new RangeError(`permits must be at most ${rate}, the rate of ${quoted(this.name)}, not ${permits}`)
  }

  async #send(question: Question, requests: readonly WindowRequest[]): Promise<Taken> {
    const { note, calls, patient, signal } = question
    try {
      if (patient.includes('1')) return await this.#joinLine(question)
      const options = { target: this.name, signal }
      const keys = [...this.keys, note, this.line[0]] as const
      const [served, remaining, left] = await this.#runtime.link.run(rateLimiterTake, keys, calls, options)
      // The next waiter may be dead.
      return served === -3 ? await this.#joinLine(question) : [served, remaining, left, unlined(left)]
    } catch (error) {
      if (requests.some(({ late }) => late === undefined))
        this.#runtime.steps.undo(error, () => this.#undo(note, calls))
      throw error
    }
  }

  async #joinLine({ note, calls, patient, signal }: Question): Promise<Taken> {
    // A single attempt has no place in the line.
    const joins = patient.includes('1')
    const owner = joins ? (this.#owner ??= this.#runtime.nextWire()) : this.#runtime.nextWire()
    this.#stands ||= joins
    const hears = this.#runtime.subscriptions.hears(this.channel) ? 1 : 0
    const [publish, counted, grants] = this.voices
    const args = [owner, patient, hears, counted, grants, publish, ...calls] as const
    const keys = [...this.keys, note, ...this.line] as const
    const [served, remaining, left, pause, stands] = await this.#runtime.link.run(rateLimiterAsk, keys, args, {
      target: this.name,
      signal,
    })
    if (owner === this.#owner) this.#stands = stands === 1
    return [served, remaining, left, stands === 1 ? pause : unlined(pause)]
  }

  #undo(note: string, calls: readonly Uint8Array[]): Promise<number> {
    const keys = [...this.keys, note, this.told, ...this.line] as const
    return this.#runner.run(rateLimiterUndo, keys, [...this.voices, ...calls])
  }

  delayOf(payload: string): number {
    return /^\d{1,5}$/.test(payload) ? Number(payload) : 0
  }

  leaveLine(): Promise<unknown> | undefined {
    const [owner, stands] = [this.#owner, this.#stands]
    // A later waiter gets a new name.
    this.#owner = undefined
    this.#stands = false
    if (owner === undefined || !stands) return undefined
    const [publish, counted, grants] = this.voices
    const left = this.#runtime.retry.insist(
      () => this.#runner.run(rateLimiterLeave, this.line, [owner, counted, grants, publish]),
      this.#runtime.options.clock.monotonic() + RATE_ALLOWANCE,
    )
    this.#runtime.background.track(left)
    return left
  }

  /** The number of available permits, or at least `enough` if there are more. */
  async available(enough: number): Promise<number> {
    for (let runs = 1; ; runs++) {
      const [available, behind] = await this.#runner.run(rateLimiterAvailable, this.keys, [enough])
      if (available === -1) throw new NotInitializedError(this.name)
      if (behind === 0 || available >= enough || runs === RUNS) return available
    }
  }

  async giveBack({ call }: Grant): Promise<void> {
    await this.#runtime.steps.surely(this.key, (note) => this.#undo(note, [call]), { kept: LONGEST_UNDO })
  }
}
