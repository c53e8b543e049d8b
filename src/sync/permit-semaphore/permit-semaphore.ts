import { SharedObject } from '../../core/shared/shared-object.js'
import type { Turnstiles } from '../../core/shared/turnstiles.js'
import { mayHaveRun } from '../../core/server/transient-or-unsure-errors.js'
import { EngineError, LockLostError, NotOwnerError } from '../../errors.js'
import { permitSemaphoreLeaseTime, permitSemaphoreSetLease } from '../../lua/scripts.gen.js'
import {
  OPTIONS,
  checkAmount,
  checkFlag,
  checkLease,
  checkRelease,
  checkText,
  checkWaiting,
  needsSetup,
  show,
} from '../../check-arguments.js'
import type { Permit, PermitOptions, PermitSemaphore } from '../../api/semaphore.js'
import { HeldPermit, heldBy } from './held-permit.js'
import { IdentifiedPermits, type PermitsRequest } from './identified-permits.js'
import type { SetupOptions } from '../../api/wait-options.js'
import { plainText } from '../../plain-text.js'

/** The most permits at a time: one script takes them all, and other clients wait for it. */
const MOST = 10_000

/** The form of an id. */
const ID = /^[0-9a-f]{32}$/

/** Redisson's RPermitExpirableSemaphore: how many permits are left, and when each one in use expires. */
export class ExpirablePermits extends SharedObject implements PermitSemaphore {
  readonly #permits: IdentifiedPermits

  constructor(turnstiles: Turnstiles, name: string) {
    super(turnstiles, name)
    this.#permits = new IdentifiedPermits(turnstiles, name, this.key)
  }

  protected override get keys(): readonly [string, string] {
    return [this.key, this.#permits.timeouts]
  }

  protected get channel(): string {
    return this.#permits.told
  }

  async trySetPermits(permits: number): Promise<boolean> {
    checkAmount(permits, 'permits', 0)
    return this.once((note) => this.#permits.make(permits, note))
  }

  async setPermits(permits: number): Promise<void> {
    checkAmount(permits, 'permits', 0)
    await this.once((note) => this.#permits.set(permits, note))
  }

  async addPermits(permits: number): Promise<void> {
    checkAmount(permits, 'permits', -2_147_483_647)
    if (permits !== 0) await this.once((note) => this.#permits.add(permits, note))
  }

  async available(): Promise<number> {
    return (await this.#count()).available
  }

  async acquired(): Promise<number> {
    return (await this.#count()).acquired
  }

  async permits(): Promise<number> {
    const { there, available, acquired } = await this.#count()
    return there ? available + acquired : 0
  }

  #count(): ReturnType<IdentifiedPermits['count']> {
    return this.query(() => this.#permits.count())
  }

  async acquire(options?: PermitOptions & SetupOptions): Promise<Permit> {
    const [permit] = await this.#acquire(1, options)
    return permit as Permit
  }

  async acquireMany(count: number, options?: PermitOptions & SetupOptions): Promise<Permit[]> {
    return this.#acquire(checkAmount(count, 'count', 0, MOST), options)
  }

  async tryAcquire(options?: PermitOptions): Promise<Permit | undefined> {
    const request = this.#request(1, checkWaiting(options, OPTIONS.permits), 0)
    const granted = await this.#call(request, () => this.runtime.tried(request, this.name, this.#try(request)))
    return granted?.[0]
  }

  async tryAcquireMany(count: number, options?: PermitOptions): Promise<Permit[]> {
    checkAmount(count, 'count', 0, MOST)
    const request = this.#request(count, checkWaiting(options, OPTIONS.permits), 0)
    return (await this.#call(request, () => this.#try(request))) ?? []
  }

  #try(request: PermitsRequest): Promise<HeldPermit[] | undefined> {
    if (request.wait > 0) return this.#enter(request)
    return this.runtime.unanswered.ask(this.#permits.timeouts, request.signal, () => this.#enter(request))
  }

  async #acquire(count: number, options: (PermitOptions & SetupOptions) | undefined): Promise<Permit[]> {
    const checked = checkWaiting(options, OPTIONS.permitsAcquire)
    const request = { ...this.#request(count, checked, Infinity), needsSetup: needsSetup(checked) }
    return this.#call(request, () => this.runtime.inTime(request, this.name, this.#enter(request)))
  }

  #call<T extends HeldPermit[] | undefined>(request: PermitsRequest, run: () => Promise<T>): Promise<T> {
    return this.runtime.lockEvents.call(this.#permits, request, run, request.count)
  }

  async #enter(request: PermitsRequest): Promise<HeldPermit[] | undefined> {
    if (request.count === 0) {
      this.checkUsable()
      request.signal?.throwIfAborted()
      return []
    }
    const { terms } = request
    let held: HeldPermit[] | undefined
    await this.turnstiles.enter(this.#permits, request, ({ ids, sent }) => {
      held = ids.map((id) => new HeldPermit(this.#permits, id, request, sent))
    })
    if (held === undefined || held.every(({ lost }) => !lost)) return held
    this.runtime.checkOpen(this.name)
    await Promise.all(held.map((permit) => permit.release()))
    throw new LockLostError(this.name, `its lease of ${terms.lease} ms was over before the server's answer came`)
  }

  #request(count: number, options: PermitOptions, otherwise: number): PermitsRequest {
    const { lease, renew = false, wait = otherwise, signal } = options
    const release = checkRelease(options.release) ?? this.runtime.options.release
    checkFlag(renew, 'renew')
    if (lease !== undefined) checkLease(lease)
    const { watched } = this.runtime
    const terms = renew ? { ...watched, lease: lease ?? watched.lease } : { lease: lease ?? Infinity, watched: false }
    return { count, terms, release, wait, signal }
  }

  async release(ids: string | readonly string[]): Promise<void> {
    if ((await this.#release(ids)) === undefined) {
      const which = typeof ids === 'string' ? ids : ids.join(', ')
      throw new NotOwnerError(this.name, `permit ${plainText(which)}, which is unknown, expired or released`)
    }
  }

  async tryRelease(id: string): Promise<boolean>
  async tryRelease(ids: readonly string[]): Promise<number>
  async tryRelease(ids: string | readonly string[]): Promise<boolean | number> {
    const released = await this.#release(ids)
    return typeof ids === 'string' ? released !== undefined : (released ?? 0)
  }

  /** Returns how many were released; undefined: one of them does not exist, so none was. */
  async #release(given: string | readonly string[]): Promise<number | undefined> {
    const ids = [...new Set(typeof given === 'string' ? [given] : checkIds(given))]
    for (const id of ids) checkText(id, 'id')
    this.checkUsable()
    if (ids.length === 0) return 0
    if (!ids.every((id) => ID.test(id))) return undefined
    const held = ids.flatMap((id) => heldBy(this.#permits, id) ?? [])
    const end = (): void => {
      for (const permit of held) permit.end()
    }
    // Another client may have it before the answer comes. Of several, none is released if one does not exist; then they stay held.
    if (ids.length === 1) end()
    const released = await this.once(async (note) => {
      try {
        return await this.#permits.release(ids, note)
      } catch (error) {
        if (error instanceof EngineError && mayHaveRun(error)) end()
        throw error
      }
    })
    if (released || ids.length === 1) for (const permit of held) permit.givenBack()
    return released ? ids.length : undefined
  }

  async extend(id: string, lease: number): Promise<boolean> {
    checkText(id, 'id')
    checkLease(lease)
    this.checkUsable()
    if (!ID.test(id)) return false
    const { timeouts } = this.#permits
    // Without `once`, a late copy would set an outdated lease.
    const step = (): Promise<boolean> =>
      this.once(async (note) => {
        const args = [this.#permits.marked(id), lease] as const
        return (await this.#permits.runner.run(permitSemaphoreSetLease, [timeouts, note], args)) === 1
      })
    const held = heldBy(this.#permits, id)
    return held === undefined ? step() : held.lasts(lease, step)
  }

  async leaseTime(id: string): Promise<number> {
    checkText(id, 'id')
    this.checkUsable()
    const { timeouts } = this.#permits
    const left = ID.test(id)
      ? await this.query((runner) => runner.run(permitSemaphoreLeaseTime, [timeouts], [this.#permits.marked(id)]))
      : -2
    if (left === -2)
      throw new NotOwnerError(this.name, `permit ${plainText(id)}, which is unknown, expired or released`)
    return left === -1 ? Infinity : left
  }
}

const checkIds = (ids: unknown): readonly string[] => {
  if (!Array.isArray(ids)) throw new TypeError(`ids must be an id or an array of ids, not ${show(ids)}`)
  if (ids.length > MOST) throw new RangeError(`ids must have at most ${MOST} ids, not ${ids.length}`)
  return ids as readonly string[]
}
