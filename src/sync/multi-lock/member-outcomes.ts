import type { Clock, Timer } from '../../base/clock.js'
import { BusyError, ClosedError, DeadlockError, LockLostError, type MemberFailure, MembersError } from '../../errors.js'
import { GRACE } from '../../core/waiting/grace-after-wait-ends.js'
import { isA } from '../../thrown.js'

interface Named {
  readonly name: string
}

export const failuresOf = (
  settled: readonly PromiseSettledResult<unknown>[],
  members: readonly (Named | undefined)[],
  indices: readonly number[] = members.map((_, index) => index),
): MemberFailure[] =>
  settled.flatMap((result, place) => {
    if (result.status === 'fulfilled') return []
    const index = indices[place] as number
    return [{ index, name: members[index]?.name ?? '', error: result.reason as unknown }]
  })

/**
 * Combines the failures of members into one error. If all mean the same for the whole, it is that error, and its cause lists the
 * members.
 */
export const errorOf = (target: string, failures: readonly MemberFailure[]): unknown => {
  const errors = failures.map(({ error }) => error)
  const [first] = errors
  if (errors.every((error) => isA(error, RangeError) || error instanceof LockLostError)) return first
  const cause = new MembersError(target, failures)
  const all = (is: (error: unknown) => boolean): boolean => errors.every(is)
  if (all((error) => error instanceof ClosedError)) return new ClosedError(target, cause)
  if (first instanceof DeadlockError && all((error) => error instanceof DeadlockError))
    return new DeadlockError(target, cause.message, cause, first.cycle)
  if (first instanceof BusyError && all((error) => error instanceof BusyError))
    return new BusyError(target, first.maxWaiters, cause)
  return cause
}

/** Several members, of which it needs a number. */
export interface Several<M extends Named> extends Named {
  readonly members: readonly (M | undefined)[]
  readonly needed: number
  readonly clock: Clock
}

/** Settles when all steps have settled, or a moment after enough went well. The others are not awaited, and stay undefined. */
export const enough = <T>(
  steps: readonly Promise<T>[],
  { needed, clock }: Pick<Several<Named>, 'needed' | 'clock'>,
  isGood: (value: T) => boolean = () => true,
): Promise<(PromiseSettledResult<T> | undefined)[]> =>
  new Promise((resolve) => {
    const results: (PromiseSettledResult<T> | undefined)[] = steps.map(() => undefined)
    let good = 0
    let patience: Timer | undefined
    const end = (): void => {
      patience?.cancel()
      resolve([...results])
    }
    const all = steps.map(async (step, index) => {
      const [result] = await Promise.allSettled([step])
      results[index] = result
      if (result.status === 'fulfilled' && isGood(result.value)) good++
      if (good >= needed) patience ??= clock.setTimer(end, GRACE)
    })
    void Promise.all(all).then(end)
  })

/** Runs the same step with each member that is there, and returns the results. Rejects if too few succeeded. */
export const outcomes = async <M extends Named, T>(
  several: Several<M>,
  step: (member: M) => Promise<T>,
): Promise<T[]> => {
  const { name, members, needed } = several
  const indices = members.flatMap((member, index) => (member === undefined ? [] : [index]))
  const results = await enough(
    indices.map((index) => step(members[index] as M)),
    several,
  )
  const settled = results.filter((result) => result !== undefined)
  const done = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  // If too few succeeded, all have settled.
  if (done.length < needed) throw errorOf(name, failuresOf(settled, members, indices))
  return done
}

/** Whether, without the failed members, fewer are left than needed. */
export const tooFewWithout = (
  { members, needed }: Pick<Several<Named>, 'members' | 'needed'>,
  failed: readonly MemberFailure[],
): boolean => members.length - failed.length < needed

/** The number that decides for how long, or how many times, as many as `needed` are held. */
export const decisive = (numbers: readonly number[], needed: number): number =>
  [...numbers].sort((one, other) => other - one)[needed - 1] ?? 0
