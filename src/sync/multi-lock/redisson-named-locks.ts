import { RedissonNamedLock } from '../../core/gate/redisson-named-lock.js'
import { NotOwnerError } from '../../errors.js'
import { decisive } from './member-outcomes.js'
import type { Lock } from '../../api/lock.js'

/** Several locks as one. */
interface Several extends Lock {
  /** How many members it needs. */
  readonly needed: number
  each<T>(step: (member: Lock) => Promise<T>): Promise<readonly T[]>
}

/** Redisson's method names for several locks. It keeps no state: each member knows what its owner holds. */
export class RedissonNamedLocks extends RedissonNamedLock<Several> {
  async unlock(): Promise<void> {
    // Checked first, so that nothing changes if too few are held.
    if (!(await this.isHeld())) throw new NotOwnerError(this.name, String(this.owner))
    await this.target.each((member) => member.for(this.owner).unlock())
  }

  /** How many times the owner holds as many members as needed. */
  async holdCount(): Promise<number> {
    const counts = await this.target.each((member) => member.for(this.owner).holdCount())
    return decisive(counts, this.target.needed)
  }
}
