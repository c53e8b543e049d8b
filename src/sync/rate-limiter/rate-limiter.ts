import { SharedObject } from '../../core/shared/shared-object.js'
import type { Turnstiles } from '../../core/shared/turnstiles.js'
import { ConfigError, EngineError, NotInitializedError } from '../../errors.js'
import { rateLimiterRelease, rateLimiterSetRate, rateLimiterTrySetRate } from '../../lua/scripts.gen.js'
import { either, nil, text, tuple } from '../../lua/reply-shape.js'
import { OPTIONS, checkAmount, checkRate, checkWaiting, needsSetup, show } from '../../check-arguments.js'
import type { Rate, RateDecision, RateLimiter, RateOptions, RateTryOptions } from '../../api/rate-limiter.js'
import type { SemaphoreOptions } from '../../api/semaphore.js'
import type { SetupOptions } from '../../api/wait-options.js'
import { type Grant, RateWindow, type WindowRequest } from './rate-window.js'
import { limitedStep, LATE } from '../../core/waiting/limited-step-outside-queue.js'
import { repeatWhileTrouble } from '../../core/waiting/repeat-while-trouble.js'
import { quoted } from '../../plain-text.js'

/** In the order of Redisson's numbers. */
const SCOPES = ['overall', 'client'] as const

const FIELD = either(text, nil)
const FIELDS = tuple(FIELD, FIELD, FIELD, FIELD)

/** The arguments of the scripts for a rate. */
const argsOf = ({ permits, interval, scope = 'overall', keepAlive = 0 }: Rate) =>
  [permits, interval, SCOPES.indexOf(scope), keepAlive] as const

/** Redisson's RRateLimiter: one key with the rate, one with the permits left, one with the grants in the window. */
export class WindowLimiter extends SharedObject implements RateLimiter {
  readonly #window: RateWindow

  constructor(turnstiles: Turnstiles, name: string) {
    super(turnstiles, name)
    if (this.runtime.options.redisson === '3.8') {
      throw new ConfigError(
        `${quoted(name)}: Redisson 3.8 counts differently, so a rate limiter cannot be shared with it`,
      )
    }
    this.#window = new RateWindow(this.runtime, name, this.key)
  }

  protected override get keys(): readonly [string, ...string[]] {
    return this.#window.keys
  }

  protected override get limits(): boolean {
    return true
  }

  protected get channel(): string {
    return this.#window.told
  }

  async trySetRate(rate: Rate): Promise<boolean> {
    const args = argsOf(checkRate(rate, OPTIONS.rate))
    const { runner, key, channel } = this
    const { line, voices } = this.#window
    const set = await this.once((note) =>
      runner.run(rateLimiterTrySetRate, [key, note, channel, ...line], [...args, ...voices]),
    )
    return set === 1
  }

  async setRate(rate: RateOptions): Promise<void> {
    await this.#setRate(rate, true)
  }

  async updateRate(rate: RateOptions): Promise<boolean> {
    return this.#setRate(rate, false)
  }

  async #setRate(rate: RateOptions, always: boolean): Promise<boolean> {
    const checked = checkRate(rate, OPTIONS.newRate)
    const args = [...argsOf(checked), checked.keepState === true ? 1 : 0, always ? 1 : 0] as const
    const { runner, channel } = this
    const { keys, line, voices } = this.#window
    const set = await this.once((note) =>
      runner.run(rateLimiterSetRate, [...keys, note, channel, ...line], [...args, ...voices]),
    )
    // The scripts grant no permits before all are counted. If this fails, the next request continues the count.
    if (set === 2) await this.query(() => this.#window.available(1)).catch(() => undefined)
    return set > 0
  }

  async rate(): Promise<Rate | undefined> {
    const fields = ['HMGET', this.key, 'rate', 'interval', 'type', 'keepAliveTime']
    const [permits, interval, scope, keepAlive] = await this.command(fields, FIELDS)
    if ([permits, interval, scope].includes(null)) return undefined
    for (const field of [permits, interval, scope, keepAlive ?? '0']) this.#checkNumber(field as string)
    const rate = { permits: Number(permits), interval: Number(interval), scope: SCOPES[Number(scope)] }
    return Number(keepAlive) > 0 ? { ...rate, keepAlive: Number(keepAlive) } : rate
  }

  /** Another program may have written anything. */
  #checkNumber(field: string): void {
    if (/^\d{1,16}$/.test(field)) return
    const problem = `the key of ${quoted(this.name)} holds a rate that is no number: ${show(field)}`
    throw new EngineError('WRONG_KIND', problem, { target: this.name })
  }

  async available(): Promise<number> {
    return this.query(() => this.#window.available(Number.MAX_SAFE_INTEGER))
  }

  async release(permits = 1): Promise<void> {
    checkAmount(permits, 'permits', 0)
    const { runner, channel } = this
    if (permits === 0) return
    const { keys, line, voices } = this.#window
    // One script looks at a few thousand grants.
    for (let rest = permits; rest > 0;) {
      const asked = rest
      const done = await this.once((note) =>
        runner.run(rateLimiterRelease, [...keys, note, channel, ...line], [asked, ...voices]),
      )
      if (done === -1) throw new NotInitializedError(this.name)
      rest = done > 0 ? 0 : -1 - done
    }
  }

  async acquire(options?: SemaphoreOptions & SetupOptions): Promise<void> {
    const request = this.#request(options, Infinity, OPTIONS.limiterAcquire)
    await this.#call(request, () => this.runtime.inTime(request, this.name, this.#enter(request)))
  }

  async tryAcquire(options?: RateTryOptions): Promise<RateDecision> {
    const request = this.#request(options, 0, OPTIONS.limiter)
    const granted = await this.#call(request, () => this.#tried(request))
    if (granted !== undefined) return { allowed: true, remaining: granted.remaining, retryAfter: 0 }
    const { remaining = 0, free = 0 } = request.refused ?? {}
    const left = Math.ceil(free - this.runtime.options.clock.monotonic())
    return { allowed: false, remaining, retryAfter: Math.max(1, left) }
  }

  async #tried(request: WindowRequest): Promise<Grant | undefined> {
    const granted = await this.#enter(request)
    const away = granted === undefined ? this.runtime.blame(request, this.name) : undefined
    if (away !== undefined && request.refused === undefined) throw away
    return granted
  }

  #call<T extends Grant | undefined>(request: WindowRequest, run: () => Promise<T>): Promise<T> {
    return this.runtime.lockEvents.call(this.#window, request, run, request.permits)
  }

  #request(
    options: (RateTryOptions & SetupOptions) | undefined,
    otherwise: number,
    known: readonly string[],
  ): WindowRequest {
    const checked = checkWaiting(options, known)
    const { permits = 1, wait = otherwise, signal, late } = checked
    const rate = checked.rate && checkRate(checked.rate, OPTIONS.rate)
    if (late !== undefined && (late as unknown) !== 'counts')
      throw new TypeError(`late must be 'counts' or left out, not ${show(late)}`)
    return { permits: checkAmount(permits, 'permits', 1), wait, signal, rate, late, needsSetup: needsSetup(checked) }
  }

  async #enter(request: WindowRequest): Promise<Grant | undefined> {
    const { turnstiles } = this
    const alone = request.wait === 0 && turnstiles.at(this.#window)?.idle !== false
    if (alone) {
      this.runtime.checkTakes(this.name)
      this.runtime.link.checkUp(this.name)
    }
    const enter = (asked: WindowRequest): Promise<Grant | undefined> =>
      alone ? this.query(() => this.#try(asked)) : turnstiles.enter(this.#window, asked)
    const { rate, wait } = request
    if (rate === undefined) return enter(request)
    const { clock } = this.runtime.options
    const until = clock.monotonic() + wait
    try {
      return await enter(request)
    } catch (error) {
      if (!(error instanceof NotInitializedError)) throw error
      request.signal?.throwIfAborted()
      const set = await repeatWhileTrouble(this.runtime, () => this.#setOnce(rate, request), request)
      if (set === LATE) return undefined
      const rest = { ...request, wait: wait && Math.max(1, until - clock.monotonic()) }
      const grant = await enter(rest)
      Object.assign(request, { trouble: rest.trouble, refused: rest.refused })
      return grant
    }
  }

  /** Sets the rate without finding out whether it was this call that set it, so it does not need to ask again. */
  async #setOnce(rate: Rate, { signal }: WindowRequest): Promise<void> {
    const { steps, link } = this.runtime
    const { line, voices } = this.#window
    const note = steps.note(this.key)
    const keys = [this.key, note, this.channel, ...line] as const
    await link.run(rateLimiterTrySetRate, keys, [...argsOf(rate), ...voices], { target: this.name, signal })
    steps.forget(note)
  }

  /** A single attempt asks at once by itself, so that it does not wait for other calls. */
  async #try(request: WindowRequest): Promise<Grant | undefined> {
    this.checkUsable()
    request.signal?.throwIfAborted()
    const asking = this.#window.take([request], { signal: request.signal }).then(({ granted: [grant], vain }) => {
      const why = grant === undefined ? vain?.(request) : undefined
      if (why !== undefined) throw why
      return grant
    })
    const granted = await limitedStep(asking, request, this.runtime.options.clock, async (grant) => {
      if (grant !== undefined && request.late === undefined) await this.#window.giveBack(grant)
    })
    return granted === LATE ? undefined : granted
  }
}
