import { enclosing } from '../../base/scope.js'
import { BusyError, DeadlockError, EngineError, type MemberFailure } from '../../errors.js'
import type { Hold } from '../../api/hold.js'
import { SeveralLocks } from '../multi-lock/several-locks.js'
import type { Missed, Wanted } from '../multi-lock/retry-rounds.js'
import { released, type SeveralHolds } from '../multi-lock/several-holds.js'
import { LATE } from '../../core/waiting/limited-step-outside-queue.js'

/** A member counts as down if it has not answered within a tenth of the lease, but within these limits, ms. */
const LEAST = 250
const MOST = 1000

/**
 * A majority of locks on independent servers, like Redisson's RedissonRedLock. It asks all of them at once. It does not wait for a
 * minority that is down or silent, and the hold knows until when a majority is certain.
 */
export class RedLock extends SeveralLocks {
  readonly kind = { name: 'redLock' }

  get needed(): number {
    return Math.floor(this.members.length / 2) + 1
  }

  /** As in Redlock: a hundredth of the lease, plus 2 ms for the precision with which servers count. */
  protected drift(lease: number): number {
    return lease / 100 + 2
  }

  /** It only tries its members and never waits for them, so it counts its wait itself. */
  override waits({ owner, wait, signal }: Wanted): () => void {
    const { runtime, name } = this
    const { maxWaiters } = runtime.options
    const around = enclosing((lock) => this.isSame(lock))
    // Any signal is a limit, except that of the enclosing hold: it fires only if the hold is lost.
    const limited = wait < Infinity || (signal !== undefined && signal !== around?.signal)
    if (around !== undefined && around.owner !== owner && !limited) {
      throw new DeadlockError(name, 'the enclosing using() of another owner holds it until this code ends')
    }
    const vain = this.inVain(owner, signal, wait < Infinity)
    if (vain !== undefined) throw vain
    if (runtime.waiting >= maxWaiters) throw new BusyError(name, maxWaiters)
    runtime.waiting++
    return () => {
      runtime.waiting--
    }
  }

  async attempt(wanted: Wanted): Promise<SeveralHolds | Missed> {
    const { lease = this.runtime.options.watchdog, wait, signal } = wanted
    const left = wait === 0 ? Infinity : Math.max(1, this.left(wanted))
    const enough = Math.min(Math.max(lease / 10, LEAST), MOST)
    const share = Math.min(enough, left)
    const tries = this.members.map((_, index) => this.try(index, wanted, share, (hold) => round.late(hold, index)))
    const round: Round = new Round(this, share, tries)
    if (await round.won) {
      const together = this.together(round.holds, wanted)
      // A grant that comes after this adds a member, however late it is.
      round.close((late, index) => {
        void together.then(
          (hold) => hold.join(late, index),
          () => released(this.runtime, late),
        )
      })
      return together
    }
    round.close((late) => void released(this.runtime, late))
    await this.giveBack(round.holds, wanted)
    signal?.throwIfAborted()
    return { failures: round.failures, answered: round.answered, next: 0, cut: share < enough && round.overdue }
  }
}

/** Asks all members at once. It is over when enough have granted, or when too few are left that could. */
class Round {
  readonly holds: (Hold | undefined)[]
  readonly failures: MemberFailure[] = []
  readonly answered: number[] = []
  /** Whether a member did not answer in time. */
  overdue = false
  /** Whether enough have granted. */
  readonly won: Promise<boolean>
  #late: ((hold: Hold, index: number) => void) | undefined

  constructor(
    { members, needed }: Pick<SeveralLocks, 'members' | 'needed'>,
    share: number,
    tries: readonly Promise<Hold | undefined | typeof LATE>[],
  ) {
    this.holds = members.map(() => undefined)
    this.won = new Promise((decide) => {
      const look = (): void => {
        const granted = this.holds.filter((hold) => hold !== undefined).length
        const open = members.length - this.answered.length - this.failures.length
        if (granted >= needed) decide(true)
        else if (granted + open < needed) decide(false)
      }
      tries.forEach((trying, index) => {
        const { name } = members[index] as { readonly name: string }
        const failed = (error: unknown): void => {
          this.failures.push({ index, name, error })
          look()
        }
        trying.then((outcome) => {
          if (outcome === LATE) {
            this.overdue = true
            failed(new EngineError('NO_REPLY', `no answer within ${share} ms`, { target: name }))
          } else {
            this.#answered(index, outcome)
            look()
          }
        }, failed)
      })
    })
  }

  #answered(index: number, hold: Hold | undefined): void {
    if (hold !== undefined && this.#late !== undefined) {
      this.#late(hold, index)
      return
    }
    this.answered.push(index)
    this.holds[index] = hold
  }

  /** A grant that came too late. Only a round that was won without it can use it. */
  async late(hold: Hold, index: number): Promise<void> {
    if (this.#late === undefined) await hold.release()
    else this.#late(hold, index)
  }

  /** From now on, `late` receives the grants. */
  close(late: (hold: Hold, index: number) => void): void {
    this.#late = late
  }
}
