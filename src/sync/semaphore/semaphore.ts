import { SharedObject } from '../../core/shared/shared-object.js'
import type { Turnstiles } from '../../core/shared/turnstiles.js'
import { ClosedError } from '../../errors.js'
import { semaphoreDrain } from '../../lua/scripts.gen.js'
import { OPTIONS, checkAmount, checkLease, checkWaiting, needsSetup, usingArgs } from '../../check-options.js'
import type { Semaphore } from '../../api/semaphore.js'
import { CountedPermits, type PermitsRequest } from './counted-permits.js'
import type { SemaphoreOptions } from '../../api/semaphore.js'
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
    if (permits > 0 && !this.#permits.pass(permits)) await this.#add(permits, true)
    this.runtime.lockEvents.returned(this.#permits, permits)
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
    await this.#acquire(this.#patient(options))
  }

  async tryAcquire(options?: SemaphoreOptions): Promise<boolean> {
    const request = this.#request(checkWaiting(options, OPTIONS.semaphore), 0)
    const tried = (): Promise<number | undefined> => this.runtime.tried(request, this.name, this.#enter(request))
    return (await this.#call(request, tried)) !== undefined
  }

  async using<T>(
    first: (SemaphoreOptions & SetupOptions) | undefined | (() => Promise<T> | T),
    second?: () => Promise<T> | T,
  ): Promise<T> {
    const [options, work] = usingArgs<SemaphoreOptions & SetupOptions, () => Promise<T> | T>(first, second)
    const request = this.#patient(options)
    return this.runtime.lockEvents.using(this.#permits, () => this.#using(request, work))
  }

  async #using<T>(request: PermitsRequest, work: () => Promise<T> | T): Promise<T> {
    const { turnstiles } = this
    let given: Promise<void> | undefined
    // Called even if the client closes meanwhile, because these permits have no lease that would end.
    const giveBack = (): Promise<void> => (given ??= this.#permits.giveBack(request.permits))
    await this.#acquire(request, () => turnstiles.hold(giveBack))
    const ended = request.call?.holding?.()
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
      ended?.('released')
      const given = giveBack().then(() => turnstiles.letGo(giveBack))
      // Without an answer, the release goes on in the background.
      await this.runtime.releases.within(given, undefined)
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

  async #enter(request: PermitsRequest, taken?: () => void): Promise<number | undefined> {
    if (request.permits > 0) return this.turnstiles.enter(this.#permits, request, taken)
    this.checkUsable()
    this.runtime.checkTakes(this.name)
    request.signal?.throwIfAborted()
    return 0
  }

  #patient(options: (SemaphoreOptions & SetupOptions) | undefined): PermitsRequest {
    const checked = checkWaiting(options, OPTIONS.semaphoreAcquire)
    return { ...this.#request(checked, Infinity), needsSetup: needsSetup(checked) }
  }

  #request({ permits = 1, wait, signal }: SemaphoreOptions, otherwise: number): PermitsRequest {
    return { permits: checkAmount(permits, 'permits', 0), wait: wait ?? otherwise, signal }
  }
}
