import { OwnedView } from '../../core/owned-lock.js'
import { NotOwnerError } from '../../errors.js'
import type { LockOfLocks } from './lock-of-locks.js'
import { decisive } from './outcomes.js'

/** Redisson's vocabulary over several locks. Nothing is kept here: each member knows what its owner holds. */
export class OwnedLocks extends OwnedView<LockOfLocks> {
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
