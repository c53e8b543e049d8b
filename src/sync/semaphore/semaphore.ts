import { SharedObject } from '../../core/shared/shared-object.js'
import type { Turnstiles } from '../../core/shared/turnstiles.js'
import { ClosedError } from '../../errors.js'
import { semaphoreDrain } from '../../lua/scripts.gen.js'
import {
  OPTIONS,
  checkAmount,
  checkLease,
  checkRelease,
  checkWaiting,
  needsSetup,
  usingArgs,
} from '../../check-arguments.js'
import type { ReleaseMode } from '../../api/hold.js'
import type { Semaphore, SemaphoreOptions, SemaphoreUsingOptions } from '../../api/semaphore.js'
import { CountedPermits, type PermitsRequest } from './counted-permits.js'
import type { SetupOptions } from '../../api/wait-options.js'

/** Redisson's RSemaphore: one key with the number of available permits. */
export class CountedSemaphore extends SharedObject implements Semaphore {
  readonly #permits: CountedPermits

  constructor(turnstiles: Turnstiles, name: string) {
    super(turnstiles, name)
    this.#permits = new CountedPermits(turnstiles, name, this.key)
  }

  protected get channel(): string {
    return this.#permits.told
  }

  async trySetPermits(permits: number, ttl?: number): Promise<boolean> {
    checkAmount(permits, 'permits', 0)
    const expiry = ttl === undefined ? 0 : checkLease(ttl, 'ttl')
    return this.once((note) => this.#permits.make(permits, expiry, note))
  }

  async addPermits(permits: number): Promise<void> {
    checkAmount(permits, 'permits', -2_147_483_647)
    if (permits < 0) this.#permits.endPassing()
    if (permits !== 0) await this.#add(permits, true)
  }

  async available(): Promise<number> {
    return this.count()
  }

  async drain(): Promise<number> {
    const { runner, key } = this
    return this.once((note) => runner.run(semaphoreDrain, [key, note], []))
  }

  async release(permits = 1): Promise<void> {
    checkAmount(permits, 'permits', 0)
    this.checkUsable()
    if (permits > 0 && !this.#permits.pass(permits)) await this.#giveBack(permits)
    this.runtime.lockEvents.returned(this.#permits, permits)
  }

  async #giveBack(permits: number): Promise<void> {
    const { options, writes, unanswered } = this.runtime
    if (options.release === 'sent' && writes) unanswered.add(this.key, this.#permits.giveBack(permits, true))
    else await this.#add(permits, true)
  }

  async releaseIfExists(permits = 1): Promise<boolean> {
    checkAmount(permits, 'permits', 0)
    const released = permits > 0 && (await this.#add(permits, false))
    if (released) this.runtime.lockEvents.returned(this.#permits, permits)
    return released
  }

  override delete(): Promise<boolean> {
    this.#permits.endPassing()
    return super.delete()
  }

  async #add(amount: number, always: boolean): Promise<boolean> {
    this.checkUsable()
    return this.once((note) => this.#permits.add(amount, always, note))
  }

  async acquire(options?: SemaphoreOptions & SetupOptions): Promise<void> {
    await this.#acquire(this.#patient(checkWaiting(options, OPTIONS.semaphoreAcquire)))
  }

  async tryAcquire(options?: SemaphoreOptions): Promise<boolean> {
    const request = this.#request(checkWaiting(options, OPTIONS.semaphore), 0)
    const tried = (): Promise<number | undefined> => this.runtime.tried(request, this.name, this.#try(request))
    return (await this.#call(request, tried)) !== undefined
  }

  async using<T>(
    first: SemaphoreUsingOptions | undefined | (() => Promise<T> | T),
    second?: () => Promise<T> | T,
  ): Promise<T> {
    const [options, work] = usingArgs<SemaphoreUsingOptions, () => Promise<T> | T>(first, second)
    const checked = checkWaiting(options, OPTIONS.semaphoreUsing)
    const release = checkRelease(checked.release) ?? this.runtime.options.release
    const request = this.#patient(checked)
    return this.runtime.lockEvents.using(this.#permits, () => this.#using(request, work, release))
  }

  async #using<T>(request: PermitsRequest, work: () => Promise<T> | T, release: ReleaseMode): Promise<T> {
    const { turnstiles } = this
    let given: Promise<void> | undefined
    // Called even if the client closes meanwhile, because these permits have no lease that would end.
    const giveBack = (): Promise<void> => (given ??= this.#permits.giveBack(request.permits))
    await this.#acquire(request, () => turnstiles.hold(giveBack))
    const watch = request.call?.holding?.()
    let result: T
    let closed: boolean
    this.runtime.working++
    try {
      this.runtime.checkOpen(this.name)
      result = await work()
      // Work that ended before the client closed has ended well, even if nobody answers the release.
      closed = this.runtime.closed
    } finally {
      this.runtime.working--
      watch?.ended('released')
      const { writes, unanswered, releases } = this.runtime
      const given = giveBack().then(() => turnstiles.letGo(giveBack))
      if (release === 'sent' && writes) unanswered.add(this.key, given)
      // Without an answer, the release goes on in the background.
      else await releases.within(given, undefined)
    }
    if (closed) throw new ClosedError(this.name)
    return result
  }

  #acquire(request: PermitsRequest, taken?: () => void): Promise<number> {
    return this.#call(request, () => this.runtime.inTime(request, this.name, this.#enter(request, taken)))
  }

  #call<T extends number | undefined>(request: PermitsRequest, run: () => Promise<T>): Promise<T> {
    return this.runtime.lockEvents.call(this.#permits, request, run, request.permits)
  }

  #try(request: PermitsRequest): Promise<number | undefined> {
    if (request.wait > 0) return this.#enter(request)
    return this.runtime.unanswered.ask(this.key, request.signal, () => this.#enter(request))
  }

  async #enter(request: PermitsRequest, taken?: () => void): Promise<number | undefined> {
    if (request.permits > 0) return this.turnstiles.enter(this.#permits, request, taken)
    this.checkUsable()
    this.runtime.checkTakes(this.name)
    request.signal?.throwIfAborted()
    return 0
  }

  #patient(checked: SemaphoreOptions & SetupOptions): PermitsRequest {
    return { ...this.#request(checked, Infinity), needsSetup: needsSetup(checked) }
  }

  #request({ permits = 1, wait, signal }: SemaphoreOptions, otherwise: number): PermitsRequest {
    return { permits: checkAmount(permits, 'permits', 0), wait: wait ?? otherwise, signal }
  }
}
