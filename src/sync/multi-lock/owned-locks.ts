import { OwnedView } from '../../core/gate/owned-lock.js'
import { NotOwnerError } from '../../errors.js'
import { decisive } from './outcomes.js'
import type { Lock } from '../../api/lock.js'

/** Several locks as one. */
interface Several extends Lock {
  /** How many members it takes. */
  readonly needed: number
  each<T>(step: (member: Lock) => Promise<T>): Promise<readonly T[]>
}

/** Redisson's vocabulary over several locks. Nothing is kept here: each member knows what its owner holds. */
export class OwnedLocks extends OwnedView<Several> {
  async unlock(): Promise<void> {
    // Asked before, so that nothing changes where too few are held.
    if (!(await this.isHeld())) throw new NotOwnerError(this.name, String(this.owner))
    await this.target.each((member) => member.for(this.owner).unlock())
  }

  /** How often it holds as many of them as it takes. */
  async holdCount(): Promise<number> {
    const counts = await this.target.each((member) => member.for(this.owner).holdCount())
    return decisive(counts, this.target.needed)
  }
}
