import type { Clock } from '../../core/clock.js'
import type { Runner } from '../../core/protocol.js'
import type { Waiter } from '../../core/queue.js'
import type { Patience } from '../../core/request.js'
import { KEPT } from '../../core/requests.js'
import type { Runtime } from '../../core/runtime.js'
import { Speaker } from '../../core/speaker.js'
import { type Answer, type Passage, unlessSetUp } from '../../core/passage.js'
import { NotInitializedError } from '../../errors.js'
import { limiterChannel, limiterPermits, limiterValue } from '../../keys.js'
import { rateLimiterAvailable, rateLimiterRetract, rateLimiterTake } from '../../lua/scripts.gen.js'
import type { Rate, RedissonVersion } from '../../types.js'

export interface WindowRequest extends Patience {
  readonly permits: number
  /** Set where there is none. */
  readonly rate?: Rate | undefined
  /** Nothing is taken back for it. */
  readonly late?: 'counts' | undefined
  /** What the server said when it last refused it; `free`: when there will be enough, on the monotonic clock. */
  refused?: { readonly remaining: number; readonly free: number }
}

/** What one call has got: the bytes that stand for it among the grants, and how many permits there still were. */
export interface Grant {
  readonly call: Uint8Array
  readonly remaining: number
}

const RANDOM = 16
/** A script looks at a thousand grants; for what it has not come to, one call asks so often and no more. */
const RUNS = 1000

/** As Redisson keeps a grant: a length, so many random bytes, how many permits. Up to 3.16 the length has eight bytes. */
const newCall = (clock: Clock, redisson: RedissonVersion, permits: number): Uint8Array => {
  const start = redisson === '3.16' ? 8 : 1
  const call = Buffer.alloc(start + RANDOM + 4)
  call[0] = RANDOM
  call.set(clock.randomBytes(RANDOM), start)
  call.writeUInt32LE(permits, start + RANDOM)
  return call
}

/** The window of a rate limiter, as those see it who take permits. */
export class Window implements Passage<WindowRequest, Grant> {
  readonly name: string
  readonly kind = { name: 'rateLimiter' }
  readonly key: string
  readonly channel: string
  /** In the order of Redisson's scripts. */
  readonly keys: readonly [string, string, string, string, string]
  readonly #runtime: Runtime
  readonly #runner: Runner

  constructor(runtime: Runtime, name: string, key: string) {
    const { id } = runtime.options
    this.#runtime = runtime
    this.#runner = new Speaker(runtime, name)
    this.name = name
    this.key = key
    this.channel = limiterChannel(key)
    this.keys = [key, limiterValue(key), limiterValue(key, id), limiterPermits(key), limiterPermits(key, id)]
  }

  async ask(waiters: readonly Waiter<WindowRequest, Grant>[]): Promise<Answer<WindowRequest, Grant>> {
    return this.take(waiters.map(({ request }) => request))
  }

  /** `signal`: aborted, it is not sent any more. */
  async take(requests: readonly WindowRequest[], signal?: AbortSignal): Promise<Answer<WindowRequest, Grant>> {
    const { clock, redisson } = this.#runtime.options
    const note = this.#runtime.requests.note(this.key)
    const calls = requests.map(({ permits }) => newCall(clock, redisson, permits))
    let [served, remaining, left] = await this.#send(note, calls, requests, signal)
    // Nobody has got any, so there is nothing to lose by asking again.
    for (let runs = 1; served === 0 && left === 0 && runs < RUNS && signal?.aborted !== true; runs++)
      [served, remaining, left] = await this.#send(note, calls, requests, signal)
    // It is not known for how long it stays so.
    left = Math.max(1, left)
    if (served === -1) return { granted: [], left: -1, vain: unlessSetUp(this.name, 'rate is') }
    if (served === -2) return { granted: [], left: -1, vain: (request) => this.#tooMany(request, remaining) }
    const refused = { remaining, free: clock.monotonic() + left }
    for (const request of requests.slice(served)) request.refused = refused
    return { granted: calls.slice(0, served).map((call) => ({ call, remaining })), left }
  }

  #tooMany({ permits }: WindowRequest, rate: number): Error | undefined {
    if (permits <= rate) return undefined
    return new RangeError(`permits must be at most the rate of '${this.name}', ${rate}, not ${permits}`)
  }

  async #send(
    note: string,
    calls: readonly Uint8Array[],
    requests: readonly WindowRequest[],
    signal: AbortSignal | undefined,
  ): Promise<readonly [number, number, number]> {
    try {
      return await this.#runtime.link.run(rateLimiterTake, [...this.keys, note], calls, { target: this.name, signal })
    } catch (error) {
      if (requests.some(({ late }) => late === undefined))
        this.#runtime.requests.undo(error, () => this.#retract(note, calls))
      throw error
    }
  }

  #retract(note: string, calls: readonly Uint8Array[]): Promise<number> {
    const { publishCommand } = this.#runner
    return this.#runner.run(rateLimiterRetract, [...this.keys, note, this.channel], [publishCommand, ...calls])
  }

  async look({ permits }: WindowRequest): Promise<boolean> {
    return (await this.available(permits)) >= permits
  }

  /** All there are, or at least so many. */
  async available(enough: number): Promise<number> {
    for (let runs = 1; ; runs++) {
      const [available, behind] = await this.#runner.run(rateLimiterAvailable, this.keys, [enough])
      if (available === -1) throw new NotInitializedError(this.name)
      if (behind === 0 || available >= enough || runs === RUNS) return available
    }
  }

  async giveBack({ call }: Grant): Promise<void> {
    await this.#runtime.requests.surely(this.key, (note) => this.#retract(note, [call]), { kept: KEPT })
  }
}
