import { LockLostError, type MemberFailure, MembersError } from '../../errors.js'

export const failuresOf = (
  settled: readonly PromiseSettledResult<unknown>[],
  members: readonly { readonly name: string }[],
  indices: readonly number[] = members.map((_, index) => index),
): MemberFailure[] =>
  settled.flatMap((result, place) => {
    if (result.status === 'fulfilled') return []
    const index = indices[place] as number
    return [{ index, name: members[index]?.name ?? '', error: result.reason as unknown }]
  })

/** The same step with each; the errors of all are told together, unless they say the same of the whole. */
export const outcomes = async <M extends { readonly name: string }, T>(
  target: string,
  members: readonly M[],
  step: (member: M) => Promise<T>,
): Promise<T[]> => {
  const settled = await Promise.allSettled(members.map(step))
  const failures = failuresOf(settled, members)
  const [first] = failures
  const ofTheWhole = first?.error instanceof RangeError || first?.error instanceof LockLostError
  if (ofTheWhole && failures.every(({ error }) => error instanceof RangeError || error instanceof LockLostError))
    throw first.error
  if (first !== undefined) throw new MembersError(target, failures)
  return settled.map((result) => (result as PromiseFulfilledResult<T>).value)
}
