import type { AcquireOptions, Lock } from '../../api/lock.js'
import { onAbort } from '../../base/abort.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Runtime } from '../../core/client/runtime.js'
import { isAway, isTransient, waitsOut } from '../../core/server/error-kinds.js'
import type { MemberFailure } from '../../errors.js'
import { type Several, errorOf, tooFewWithout } from './outcomes.js'
import { SeveralHolds } from './several-holds.js'

/** A random pause of up to so many ms parts two calls that were in each other's way. */
const APART = 64
/** After trouble the next round comes so many ms later at most. */
const TROUBLED = 1000

/** What a caller wants of all members. */
export interface Wanted extends AcquireOptions {
  readonly owner: UnitOfWork
  readonly wait: number
  /** When the call began, on the monotonic clock. */
  readonly since: number
}

/** What a round brought that did not bring the lock. */
export interface Missed {
  readonly failures: readonly MemberFailure[]
  /** The places of those that said yes or no. */
  readonly answered: readonly number[]
  /** The place of the one to wait for. */
  readonly next: number
  /** Members had less time than they need, as the wait was nearly over. */
  readonly cut?: boolean
}

/** Several locks that are tried in rounds. */
export interface Rounds extends Several<Lock> {
  readonly runtime: Runtime
  /** One round: takes all of it, or gives everything back. `last`: what the round before brought. */
  attempt(wanted: Wanted, last: Missed | undefined): Promise<SeveralHolds | Missed>
  /** Called when the call begins to wait; throws where it must not. What it returns is called when it waits no more. */
  waits(wanted: Wanted): () => void
  /** How much of the wait is left, ms. */
  left(wanted: Wanted): number
}

/** All of it, or what the last round met. */
export const inRounds = async (locks: Rounds, wanted: Wanted): Promise<SeveralHolds | Missed> => {
  const { wait, signal } = wanted
  /** Members that have answered this call: from then on their trouble is waited out. */
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
      // Cut short by the end of the wait, a round says nothing about the servers: the one before it does.
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
      await pause(locks, Math.min(locks.clock.random() * most, left), signal)
      signal?.throwIfAborted()
      locks.runtime.checkTakes(locks.name)
      if (locks.left(wanted) === 0) return outcome
    }
  } finally {
    waitsNoMore?.()
  }
}

/** A pause, which an abort of the call ends. */
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

/** Trouble that passes rejects a call that the server has never answered, and is waited out by one that waits already. */
const mustGoOn = (
  locks: Rounds,
  failures: readonly MemberFailure[],
  known: ReadonlySet<number>,
  wanted: Wanted,
): void => {
  const { name, clock, runtime } = locks
  // A connection that is just being made again is no reason to give up at once.
  const young = clock.monotonic() - wanted.since < runtime.options.commandTimeout
  const fatal = failures.filter(({ index, error }) => {
    const goesOn = wanted.wait > 0 && young && isAway(error)
    return !goesOn && !waitsOut(error, wanted, known.has(index))
  })
  if (tooFewWithout(locks, fatal)) throw errorOf(name, failures)
}
