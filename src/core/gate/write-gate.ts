import { DeadlockError } from '../../errors.js'
import { ExclusiveGate } from './exclusive-gate.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Request } from '../waiting/request.js'
import type { Tenure } from '../hold/tenure.js'
import type { OpenGate } from './lock-kind.js'

/** The other side of the lock, as the writing side sees it. */
interface ReadingSide {
  /** Whether anybody here reads, or is about to under a write. */
  readonly busy: boolean
  tenureOf(owner: UnitOfWork): Tenure | undefined
  reconsider(owner: UnitOfWork): void
  evict(order: number): void
}

/** The gate of a lock's writing side: who writes may read as well, who reads may not write. */
export class WriteGate extends ExclusiveGate {
  /** Whose name on the server somebody has read under. */
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
    return new DeadlockError(this.name, 'its owner reads it, and would wait for its own read to end')
  }

  /** What its owner waits to read it reads under this. */
  given(_tenure: Tenure, owner: UnitOfWork): void {
    this.#reading?.reconsider(owner)
  }

  /** Whether the name of this tenure is free for a read; it is no more. */
  lends(tenure: Tenure): boolean {
    const free = this.#lent !== tenure
    this.#lent = tenure
    return free
  }

  /**
   * Where its owner reads, too, it is no one else's to write: it goes on as a read. Once somebody has read under it, the
   * server may think so for longer than we do.
   */
  override giveBack(tenure: Tenure): Promise<boolean> {
    return this.carries() || this.#lent === tenure ? this.free(tenure) : super.giveBack(tenure)
  }

  /** While somebody here writes, whoever reads here does so under it. */
  override carries(): boolean {
    return this.#reading?.busy === true
  }

  override evict(order: number): void {
    super.evict(order)
    this.#reading?.evict(order)
  }
}
