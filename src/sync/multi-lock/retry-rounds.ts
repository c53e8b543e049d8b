import type { AcquireOptions, Lock } from '../../api/lock.js'
import { onAbort } from '../../base/abort.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { CallWatch } from '../../core/client/observed-call.js'
import type { Runtime } from '../../core/client/runtime.js'
import { isTransient } from '../../core/server/transient-or-unsure-errors.js'
import { isAway } from '../../away-or-refusing.js'
import { waitsOut } from '../../core/waiting/trouble-to-wait-out.js'
import type { MemberFailure } from '../../errors.js'
import { type Several, errorOf, tooFewWithout } from './member-outcomes.js'
import { SeveralHolds } from './several-holds.js'

/** A random pause of up to this many ms separates two calls that got in each other's way. */
const APART = 64
/** After trouble, the next round starts at most this many ms later. */
const TROUBLED = 1000

/** What a call wants from all members. */
export interface Wanted extends AcquireOptions {
  readonly owner: UnitOfWork
  readonly wait: number
  /** When the call began, on the monotonic clock. */
  readonly since: number
  /** Set if somebody listens for what happens to the call. */
  call?: CallWatch | undefined
}

/** The result of a round that did not acquire the lock. */
export interface Missed {
  readonly failures: readonly MemberFailure[]
  /** The indices of the members that said yes or no. */
  readonly answered: readonly number[]
  /** The index of the member to wait for. */
  readonly next: number
  /** Members had less time than they need, because the wait was nearly over. */
  readonly cut?: boolean
}

/** Several locks that are tried in rounds. */
export interface Rounds extends Several<Lock> {
  readonly runtime: Runtime
  /** One round: acquires everything, or releases everything. `last`: the result of the round before. */
  attempt(wanted: Wanted, last: Missed | undefined): Promise<SeveralHolds | Missed>
  /** Called when the call begins to wait; throws if it must not wait. The function it returns is called when the wait is over. */
  waits(wanted: Wanted): () => void
  /** How much of the wait is left, ms. */
  left(wanted: Wanted): number
}

/** Returns the holds, or the result of the last round. */
export const inRounds = async (locks: Rounds, wanted: Wanted): Promise<SeveralHolds | Missed> => {
  const { wait, signal } = wanted
  /** Members that have answered this call: their later trouble is waited out. */
  const known = new Set<number>()
  let last: Missed | undefined
  let troubles = 0
  let waitsNoMore: (() => void) | undefined
  try {
    for (let round = 0; ; round++) {
      const outcome = await locks.attempt(wanted, last)
      if (outcome instanceof SeveralHolds) return outcome
      const before = last
      const { failures, answered } = (last = outcome)
      // A round that was cut short by the end of the wait says nothing about the servers; the round before it does.
      const cut = outcome.cut === true
      const over = cut || locks.left(wanted) === 0
      if (wait > 0 && over && failures.every(({ error }) => isTransient(error)))
        return cut ? (before ?? outcome) : outcome
      mustGoOn(locks, failures, known, wanted)
      for (const index of answered) known.add(index)
      const most = failures.length > 0 ? Math.min(50 * 2 ** troubles++, TROUBLED) : Math.min(2 ** round, APART)
      const left = locks.left(wanted)
      if (left === 0) return outcome
      waitsNoMore ??= locks.waits(wanted)
      wanted.call?.waits()
      await pause(locks, Math.min(locks.clock.random() * most, left), signal)
      signal?.throwIfAborted()
      locks.runtime.checkTakes(locks.name)
      if (locks.left(wanted) === 0) return outcome
    }
  } finally {
    waitsNoMore?.()
  }
}

/** Pauses, unless the call is aborted. */
const pause = async ({ runtime }: Rounds, ms: number, signal: AbortSignal | undefined): Promise<void> => {
  if (signal?.aborted === true) return
  const over = runtime.background.pause(ms)
  if (signal === undefined) return over
  let stop: (() => void) | undefined
  const aborted = new Promise<void>((resolve) => {
    stop = onAbort(signal, resolve)
  })
  await Promise.race([over, aborted])
  stop?.()
}

/** If the server has never answered this call, passing trouble rejects it. A call that waits already waits the trouble out. */
const mustGoOn = (
  locks: Rounds,
  failures: readonly MemberFailure[],
  known: ReadonlySet<number>,
  wanted: Wanted,
): void => {
  const { name, clock, runtime } = locks
  // A connection that is just being restored is no reason to give up at once.
  const young = clock.monotonic() - wanted.since < runtime.options.commandTimeout
  const fatal = failures.filter(({ index, error }) => {
    const goesOn = wanted.wait > 0 && young && isAway(error)
    return !goesOn && !waitsOut(error, wanted, known.has(index))
  })
  if (tooFewWithout(locks, fatal)) throw errorOf(name, failures)
}
