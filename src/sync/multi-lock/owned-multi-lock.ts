import { OwnedView } from '../../core/owned-lock.js'
import { NotOwnerError } from '../../errors.js'
import type { OwnedLock } from '../../types.js'
import type { MultiLock } from './multi-lock.js'
import { outcomes } from './outcomes.js'

/** Redisson's vocabulary over several locks. Nothing is kept here: each member knows what its owner holds. */
export class OwnedMultiLock extends OwnedView<MultiLock> {
  async unlock(): Promise<void> {
    // Asked before, so that nothing changes where only some are held.
    if (!(await this.isHeld())) throw new NotOwnerError(this.name, String(this.owner))
    await this.#each((member) => member.unlock())
  }

  /** How often it holds all of them. */
  async holdCount(): Promise<number> {
    return Math.min(...(await this.#each((member) => member.holdCount())))
  }

  #each<T>(step: (member: OwnedLock) => Promise<T>): Promise<T[]> {
    const members = this.target.members.map((member) => member.for(this.owner))
    return outcomes(this.name, members, step)
  }
}
