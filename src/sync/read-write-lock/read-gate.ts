import { ClosedError, type LockLostError } from '../../errors.js'
import { momentOf } from '../../base/clock.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { TenureHold } from '../../core/hold/hold.js'
import type { Tenure } from '../../core/hold/tenure.js'
import { Line } from '../../core/line/line.js'
import type { ReadProtocol } from './read-protocol.js'
import type { LineHost } from '../../core/waiting/gate-host.js'
import type { Request } from '../../core/waiting/acquire-request.js'
import type { Waiter } from '../../core/waiting/waiter.js'
import { Gate } from '../../core/gate/gate.js'
import { releaseOnServer } from '../../core/gate/release-until-answered.js'
import type { WriteGate } from './write-gate.js'
import { limitedStep, LATE } from '../../core/waiting/limited-step-outside-queue.js'

/** The gate of a lock's reading side: each reader has a tenure of its own. */
export class ReadGate extends Gate<ReadProtocol> implements LineHost {
  protected readonly tenures = new Set<Tenure>()
  /** The gate as a whole has no tenure; each reader has its own. */
  readonly tenure = undefined
  readonly asks = false
  /** The newest tenure of each owner, even if it has ended. */
  readonly #tenureOf = new WeakMap<UnitOfWork, Tenure>()
  /** Reads of owners that write here. They run one after the other, so that each sees the result of the one before. */
  #under: Promise<unknown> = Promise.resolve()
  #entering = 0

  /** Whether an owner here reads, or is about to read while it writes. */
  get busy(): boolean {
    if (this.#entering > 0) return true
    for (const tenure of this.tenures) if (tenure.status() !== 'lost') return true
    return false
  }

  get #writing(): WriteGate | undefined {
    const { rival } = this.kind
    return rival === undefined ? undefined : (this.home.inUse(rival, this.protocol.key) as WriteGate | undefined)
  }

  protected take(tenure: Tenure): void {
    this.tenures.add(tenure)
  }

  protected drop(tenure: Tenure): void {
    this.tenures.delete(tenure)
  }

  protected vacated(): void {
    this.rested()
  }

  override tenureOf(owner: UnitOfWork): Tenure | undefined {
    const tenure = this.#tenureOf.get(owner)
    return tenure?.owner === owner && tenure.status() !== 'lost' ? tenure : undefined
  }

  /** Its owner reads now: a call of the owner that waits to write would wait in vain. */
  given(tenure: Tenure, owner: UnitOfWork): void {
    this.#tenureOf.set(owner, tenure)
    this.#writing?.reconsider(owner)
  }

  /** If another client took the lock, the keys of the read itself may still be there, and must be cleaned up. */
  override lost(tenure: Tenure, error: LockLostError): void {
    super.lost(tenure, error, true)
  }

  // ---- acquiring ---------------------------------------------------------------------------------------------------

  acquire(request: Request): Promise<TenureHold | undefined> {
    return this.staying(() => (request.explicit ? this.#acquire(request) : this.queue(request)))
  }

  /** For an owner that may read or write already. */
  async #acquire(request: Request): Promise<TenureHold | undefined> {
    const { owner } = request
    const since = this.clock.monotonic()
    while (this.tenureOf(owner) !== undefined || this.#writing?.tenureOf(owner) !== undefined) {
      const own = (await this.enterAgain(request)) ?? (await this.#enterUnder(request))
      if (own !== undefined) return own === LATE ? undefined : own
    }
    return this.queue(request, request.wait > 0 ? since : undefined)
  }

  /** A writer may always read. Undefined: the owner does not write. */
  async #enterUnder(request: Request): Promise<TenureHold | typeof LATE | undefined> {
    if (this.#writing?.tenureOf(request.owner) === undefined) return undefined
    const entering = this.#under.then(async () => (await this.enterAgain(request)) ?? this.#readUnder(request))
    this.#under = entering.catch(() => undefined)
    return limitedStep(entering, request, this.clock, async (late) =>
      late === undefined || late === LATE ? undefined : late.release(),
    )
  }

  async #readUnder(request: Request): Promise<TenureHold | undefined> {
    const { owner, terms, signal } = request
    const writing = this.#writing
    const writer = writing?.tenureOf(owner)
    if (writing === undefined || writer === undefined) return undefined
    signal?.throwIfAborted()
    // A wire name serves one tenure only, here too.
    const wire = writing.lends(writer) ? this.protocol.readerOf(writer.wire) : this.nextWire()
    const sent = momentOf(this.clock)
    this.#entering++
    try {
      const left = await this.protocol.readUnder(writer.wire, wire, terms.lease)
      if (left !== 'held') {
        writer.lose('it was released elsewhere, or its key was deleted', false)
        return undefined
      }
      if (this.runtime.closed) throw new ClosedError(this.name)
    } catch (error) {
      void this.runtime.undo.acquire(this.protocol, wire, terms.lease, error instanceof ClosedError ? undefined : error)
      throw error
    } finally {
      this.#entering--
    }
    return this.begin(wire, terms, sent).give(request)
  }

  protected enter(request: Request, resolve: Waiter['resolve'], reject: Waiter['reject']): void {
    this.waiters ??= new Line(this, this.protocol)
    this.waiters.enter(request, resolve, reject, false)
  }

  // ---- releasing ---------------------------------------------------------------------------------------------------

  giveBack(tenure: Tenure): Promise<boolean> {
    this.forget(tenure)
    return this.staying(() => releaseOnServer(this, tenure))
  }

  free(tenure: Tenure): Promise<boolean> {
    return this.giveBack(tenure)
  }

  /** While a call here writes, a read here may rest on that write. */
  override carries(): boolean {
    return this.#writing?.tenure !== undefined
  }

  turnAway(): void {
    this.waiters?.close(new ClosedError(this.name))
  }

  async close(release: boolean): Promise<void> {
    this.turnAway()
    await Promise.all(
      [...this.tenures].map(async (tenure) => {
        tenure.abandon(new ClosedError(this.name))
        if (release) await this.giveBack(tenure)
        else this.forget(tenure)
      }),
    )
    this.rested()
  }

  rested(): void {
    if (this.inFlight > 0 || this.waiters?.first !== undefined) return
    this.waiters?.end()
    this.waiters = undefined
    if (this.tenures.size === 0) this.home.retired(this)
  }
}
