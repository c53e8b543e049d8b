import type { Hold } from '../../api/hold.js'
import { SeveralLocks } from './several-locks.js'
import { failuresOf } from './member-outcomes.js'
import type { Missed, Wanted } from './retry-rounds.js'
import type { SeveralHolds } from './several-holds.js'
import { LATE } from '../../core/waiting/limited-step-outside-queue.js'

/**
 * Acquires all of several locks, of any kinds and clients. It waits for one lock at a time, and only while it holds none. So two
 * calls that want the same locks in opposite orders never wait for each other.
 */
export class MultiLock extends SeveralLocks {
  readonly kind = { name: 'multiLock' }

  get needed(): number {
    return this.members.length
  }

  protected drift(): number {
    return 0
  }

  /** Waits for one lock only, and acquires it before all others. */
  async attempt(wanted: Wanted, last: Missed | undefined): Promise<SeveralHolds | Missed> {
    const { signal, wait } = wanted
    const first = last?.next ?? 0
    const order = [first, ...[...this.members.keys()].filter((index) => index !== first)]
    const settled: PromiseSettledResult<Hold | undefined | typeof LATE>[] = await Promise.allSettled([
      this.ask(first, wanted, this.left(wanted)),
    ])
    const [had] = settled
    if (had?.status === 'fulfilled' && had.value !== undefined) {
      // A single attempt is limited only by the time limit for a reply.
      const limit = wait === 0 ? 0 : Math.max(1, this.left(wanted))
      settled.push(...(await Promise.allSettled(order.slice(1).map((index) => this.try(index, wanted, limit)))))
    }
    const holds: (Hold | undefined)[] = this.members.map(() => undefined)
    const answered: number[] = []
    settled.forEach((result, place) => {
      if (result.status === 'rejected' || result.value === LATE) return
      answered.push(order[place] as number)
      holds[order[place] as number] = result.value
    })
    if (!holds.includes(undefined)) return this.together(holds, wanted)
    await this.giveBack(holds, wanted)
    signal?.throwIfAborted()
    // The next round first waits for the lock that could not be acquired.
    const next = settled.length === 1 ? first : holds.indexOf(undefined)
    return { failures: failuresOf(settled, this.members, order), answered, next }
  }
}
