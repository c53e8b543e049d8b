import { DeadlockError } from '../../errors.js'
import { momentOf } from '../../base/clock.js'
import { adoptOrSteal } from '../../core/gate/adopt-or-steal.js'
import { ExclusiveGate } from '../../core/gate/exclusive-gate.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Request } from '../../core/waiting/acquire-request.js'
import type { LeaseTerms } from '../../core/hold/lease-terms.js'
import type { Tenure } from '../../core/hold/tenure.js'
import type { TenureHold } from '../../core/hold/hold.js'
import type { WriteProtocol } from './write-protocol.js'
import type { OpenGate } from '../../core/gate/lock-kind.js'

/** The reading side of the lock, as the writing side sees it. */
interface ReadingSide {
  /** Whether an owner here reads, or is about to read while it writes. */
  readonly busy: boolean
  tenureOf(owner: UnitOfWork): Tenure | undefined
  reconsider(owner: UnitOfWork): void
  evict(order: number): void
}

/** The gate of a lock's writing side: a writer may read as well, a reader may not write. */
export class WriteGate extends ExclusiveGate {
  /** The tenure whose wire name a read has used. */
  #lent: Tenure | undefined

  get #reading(): ReadingSide | undefined {
    const { rival } = this.kind
    return rival === undefined
      ? undefined
      : (this.home.inUse(rival, this.protocol.key) as (OpenGate & ReadingSide) | undefined)
  }

  protected override hopeless(request: Request): DeadlockError | undefined {
    const { owner, explicit } = request
    if (!explicit || this.#reading?.tenureOf(owner) === undefined) return super.hopeless(request)
    return new DeadlockError(this.name, 'its owner holds the read lock, and would wait for its own read to end')
  }

  /** Its owner writes now: calls of the owner that wait to read can read under this write. */
  given(_tenure: Tenure, owner: UnitOfWork): void {
    this.#reading?.reconsider(owner)
  }

  /** Takes the lock from all who hold it, ahead of those who wait. Holds of this process are lost at once. */
  steal(owner: UnitOfWork, terms: LeaseTerms): Promise<TenureHold | undefined> {
    const { order } = momentOf(this.clock)
    const step = async (wire: string): Promise<boolean> => {
      await (this.protocol as WriteProtocol).steal(wire, terms.lease)
      this.evict(order)
      return true
    }
    return this.begins(async () => {
      try {
        const hold = await adoptOrSteal(this, step, owner, terms)
        // Reads whose answers came together with this one have begun by now.
        this.#reading?.evict(order)
        return hold
      } catch (error) {
        // It may have run all the same: each hold here is asked about.
        this.evict(-Infinity)
        throw error
      }
    })
  }

  /** Whether a read may use the name of this tenure. Only the first may. */
  lends(tenure: Tenure): boolean {
    const free = this.#lent !== tenure
    this.#lent = tenure
    return free
  }

  /**
   * If its owner reads, too, no other call here can take over the write: the hold goes on as a read. Once there was a read under
   * it, the server may count that read for longer than we do.
   */
  override giveBack(tenure: Tenure): Promise<boolean> {
    return this.carries() || this.#lent === tenure ? this.free(tenure) : super.giveBack(tenure)
  }

  /** While a call here writes, any read in this process is a read under that write. */
  override carries(): boolean {
    return this.#reading?.busy === true
  }

  override evict(order: number, owner?: string): void {
    super.evict(order, owner)
    // If one owner is released by force, what it reads goes on.
    if (owner === undefined) this.#reading?.evict(order)
  }
}
