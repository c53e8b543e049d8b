import type { Moment } from '../../base/clock.js'
import { UnitOfWork } from '../../base/owner.js'
import type { Runtime } from '../../core/client/runtime.js'
import { RETRY_TIME } from '../../core/server/retry-unanswered.js'
import type { HoldWatch, TenureHold } from '../../core/hold/hold.js'
import { type TenureHost, Tenure } from '../../core/hold/tenure.js'
import type { LeaseTerms } from '../../core/hold/lease-terms.js'
import type { HeldProtocol } from '../../core/protocol/lock-protocol.js'
import { ClosedError, type LockLostError } from '../../errors.js'
import { permitSemaphoreExtend, permitSemaphoreRenew } from '../../lua/scripts.gen.js'
import type { Permit } from '../../api/semaphore.js'
import { PermanentPermits } from './permanent-permits.js'
import type { IdentifiedPermits, PermitsRequest } from './identified-permits.js'

const never = (): never => {
  throw new Error('a permit can be neither reentered nor passed on')
}

/** The steps of one permit in the terms of a lock: its id is the owner, and it has one level. */
const stepsOf = ({ timeouts, runner }: IdentifiedPermits): HeldProtocol => ({
  key: timeouts,
  renewal: permitSemaphoreRenew,
  async setLevel(owner, _level, lease) {
    const left = await runner.run(permitSemaphoreExtend, [timeouts], [owner, lease])
    return left === -2 ? undefined : left
  },
})

/** Looks after the tenure of one permit. It has no waiters in this process. */
class PermitHost implements TenureHost {
  readonly protocol: HeldProtocol
  readonly #permits: IdentifiedPermits
  readonly #id: string
  readonly #ended: () => void

  constructor(permits: IdentifiedPermits, id: string, ended: () => void) {
    this.#permits = permits
    this.#id = id
    this.#ended = ended
    this.protocol = stepsOf(permits)
  }

  get name(): string {
    return this.#permits.name
  }

  get kind(): IdentifiedPermits['kind'] {
    return this.#permits.kind
  }

  get runtime(): Runtime {
    return this.#permits.runtime
  }

  giveBack(tenure: Tenure): Promise<boolean> {
    this.#ended()
    const released = this.#release(tenure.lostAt).then((done) => {
      if (done === false) tenure.notOurs()
      return done === true
    })
    return this.runtime.releases.within(released, false)
  }

  #release(until?: number): Promise<boolean | undefined> {
    const step = (note: string): Promise<boolean> => this.#permits.release([this.#id], note)
    // An id is released only once, however many times it is requested.
    return this.runtime.steps.surely(this.#permits.key, step, until === undefined ? {} : { until })
  }

  lost(tenure: Tenure, error: LockLostError, ours: boolean): void {
    this.#ended()
    this.runtime.lockEvents.lost(this, tenure.wire, error)
    if (ours) this.runtime.background.track(this.#cleanUp(tenure))
  }

  /**
   * A command without an answer may have renewed the permit, or not shortened its lease, or the server's clock was set back. It waits
   * until the holder has had its time to stop.
   */
  async #cleanUp(tenure: Tenure): Promise<void> {
    await tenure.untilStopped(this.runtime.background)
    await this.#release(this.runtime.options.clock.monotonic() + Math.max(tenure.lease, RETRY_TIME))
  }

  ticketOf(): string {
    return never()
  }

  detach(): void {
    never()
  }
}

/** A permit that the caller holds. Its certainty and renewal are those of a lock's hold. */
export class HeldPermit implements Permit {
  readonly id: string
  readonly #permits: IdentifiedPermits
  readonly #host: PermitHost
  readonly #terms: LeaseTerms
  readonly #tenure: Tenure
  readonly #hold: TenureHold
  /** The permit ended here because it was released by its id, and the server has not confirmed that. */
  #unanswered = false
  readonly #closing = (release: boolean): Promise<void> => this.#close(release)

  constructor(permits: IdentifiedPermits, id: string, { terms, release }: PermitsRequest, sent: Moment) {
    this.#permits = permits
    this.id = id
    this.#terms = terms
    this.#host = new PermitHost(permits, id, () => this.#forget())
    this.#tenure = new Tenure(this.#host, permits.marked(id), terms, sent)
    this.#hold = this.#tenure.give({ owner: new UnitOfWork(), release })
    permits.turnstiles.hold(this.#closing)
    if (terms.lease !== Infinity) permits.runtime.watchdog.add(this.#tenure)
    else PermanentPermits.of(permits.runtime).add(this)
    heldOf(permits).set(id, this)
  }

  /** The key on the server that has it; `wire` is its name there. */
  get timeouts(): string {
    return this.#permits.timeouts
  }

  get wire(): string {
    return this.#tenure.wire
  }

  /** The hold of a lock. The simulator asks it for more than callers may. */
  get hold(): TenureHold {
    return this.#hold
  }

  observe(watch: HoldWatch): void {
    this.#hold.observe(watch)
  }

  get state(): Permit['state'] {
    return this.#hold.state as Permit['state']
  }

  get lost(): boolean {
    return this.state === 'lost'
  }

  get signal(): AbortSignal {
    return this.#hold.signal
  }

  remaining(): number {
    return this.#hold.remaining()
  }

  async extend(lease?: number): Promise<void> {
    if (this.remaining() === Infinity) throw new RangeError(`extend(${lease}): the permit ${this.id} never expires`)
    await this.#hold.extend(lease)
  }

  release(): Promise<boolean> {
    return this.#unanswered ? this.#host.giveBack(this.#tenure) : this.#hold.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** Changes the lease by the permit's id, also to a shorter one. Earlier requests are answered first, so the latest one counts. */
  async lasts(lease: number, step: () => Promise<boolean>): Promise<boolean> {
    if (this.#terms.watched && !this.#tenure.over)
      throw new RangeError(`extend(${lease}): the permit ${this.id} is renewed; only a fixed lease can be changed`)
    return this.#tenure.inOrder(async () => {
      const sent = this.#tenure.now()
      // The lease may already be that short before the answer comes, or without one.
      if (lease < this.remaining()) {
        this.#lastsOnly(lease, sent)
      }
      const there = await step()
      if (there) this.#lastsOnly(lease, sent)
      return there
    })
  }

  /** The server's answer about a permit that never expires: ms left, -1 if it still never expires, -2 if it is gone. */
  found(left: number, sent: Moment): void {
    if (this.#tenure.over || this.remaining() !== Infinity) return
    if (left === -2) this.#tenure.lose('it was released elsewhere, or its key was deleted', false)
    else if (left >= 0) this.#lastsOnly(left, sent)
    else this.#tenure.proved(sent, left)
  }

  /** Another server may be the master by now. */
  question(now: Moment, cause: unknown): void {
    this.#tenure.question(now, cause)
  }

  #lastsOnly(lease: number, sent: Moment): void {
    if (this.#tenure.over) return
    this.#tenure.change({ lease, watched: false }, sent)
    this.#hold.lastsOnly(lease, sent)
    const { runtime } = this.#permits
    PermanentPermits.of(runtime).remove(this)
    if (this.#tenure.heapIndex === -1) runtime.watchdog.add(this.#tenure)
    else runtime.watchdog.moved(this.#tenure)
  }

  /** The permit is about to be released by its id, and ends here. If that is not answered, closing the client releases it. */
  end(): void {
    if (this.#tenure.over) return
    this.#unanswered = true
    this.#stop()
    this.#hold.end('released')
  }

  /** It was released by its id, or it did not exist. */
  givenBack(): void {
    this.end()
    this.#forget()
  }

  async #close(release: boolean): Promise<void> {
    this.#tenure.abandon(new ClosedError(this.#permits.name))
    if (release) await this.#host.giveBack(this.#tenure)
    else this.#forget()
  }

  #stop(): void {
    this.#tenure.end()
    const { runtime } = this.#permits
    runtime.watchdog.remove(this.#tenure)
    PermanentPermits.of(runtime).remove(this)
  }

  #forget(): void {
    this.#unanswered = false
    this.#stop()
    this.#permits.turnstiles.letGo(this.#closing)
    heldOf(this.#permits).delete(this.id)
  }
}

/** The permit with this id that this client holds. A release by the id must end it here, too. */
export const heldBy = (permits: IdentifiedPermits, id: string): HeldPermit | undefined => {
  const held = heldOf(permits).get(id)
  return held?.timeouts === permits.timeouts ? held : undefined
}

/** By id. */
const heldOf = ({ runtime }: IdentifiedPermits): Map<string, HeldPermit> => {
  let held = holders.get(runtime)
  if (held === undefined) holders.set(runtime, (held = new Map<string, HeldPermit>()))
  return held
}

const holders = new WeakMap<object, Map<string, HeldPermit>>()
