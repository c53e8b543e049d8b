import type { Entry } from '../support/key-space.js'
import { type Same, sameEntries, sameStep, type Seen } from '../support/programs.js'

/**
 * What our fair lock does otherwise than Redisson's, on purpose, and nothing else. (That a waiter stands in the queue until it
 * has confirmed its grant is waited out before anybody looks: `confirmed`.)
 *
 * 1. Who frees the lock makes the next one of ours its holder, and tells it on the channel of its client, where Redisson
 *    calls the waiter on a channel of its own: one trip instead of two. Either is a call of the next waiter. A poll of
 *    ours that finds the lock free calls one of Redisson's again.
 * 2. Redisson takes an allowance off everybody's deadline at every hand-over, which is work for each waiter. Ours are counted
 *    from the server's clock and never made shorter, so some are later, by whole allowances.
 * 3. Redisson counts a waiter's limit as its allowance, and by the lease of whoever held when it came; ours all have the
 *    same one, by the lease of whoever holds now. So where limits and leases differ ours are only never earlier.
 * 4. Redisson's queue stays for ever where all of it died; ours expires a day after the last deadline.
 * 5. Redisson says nothing when a lock is given back that nobody holds; ours is the same error as for any other lock.
 */
export const sameFairStep =
  (allowance: number, rule: DeadlineRule): Same =>
  (expected, actual, before) => {
    const [a, b] = [viewed(expected), viewed(actual)]
    const nobodyHeld = expected.step.endsWith(' unlock') && !isHeld(before) && a.result === 'done'
    const result = nobodyHeld && b.result === 'not owner' ? 'done' : b.result
    return (
      sameStep({ ...a, keys: [] }, { ...b, result, keys: [] }, before) &&
      sameEntries(withoutDeadlines(a), withoutDeadlines(b)) &&
      sameDeadlines(deadlinesOf(a), deadlinesOf(b), (due, ours) => isRight(rule, { due, ours, allowance }))
    )
  }

const CALL = /^redisson_lock__channel:\{?.*\}?:(\w) 0$/
const GRANT = /^holdfast_grant:.*:(\w) \d+ \d+(?: \+)? [0-9a-f]{16}$/

/** Messages as calls; who is called twice in a row is called once. */
const viewed = (seen: Seen): Seen => {
  const calls = seen.messages.map((message) => {
    const waiter = CALL.exec(message)?.[1] ?? GRANT.exec(message)?.[1]
    return waiter === undefined ? message : `calls ${waiter}`
  })
  return { ...seen, messages: calls.filter((call, index) => call !== calls[index - 1]) }
}

const isHeld = (seen: Seen | undefined): boolean => seen?.keys.some(({ type }) => type === 'hash') === true

const isDeadlines = ({ type }: Entry): boolean => type === 'zset'

const withoutDeadlines = (seen: Seen): Seen => ({
  ...seen,
  keys: seen.keys.map((entry) => {
    if (entry.type !== 'list' && !isDeadlines(entry)) return entry
    const { value, ttl } = entry
    return { ...entry, value: isDeadlines(entry) ? 'deadlines' : value, ttl: ttl > 86_400_000 ? -1 : ttl }
  }),
})

/** Of each waiter, ms from when it was looked at. */
const deadlinesOf = ({ keys, at }: Seen): Map<string, number> => {
  const scores = (keys.find(isDeadlines)?.value ?? []) as [string, string][]
  return new Map(scores.map(([waiter, score]) => [waiter, Number(score) - at]))
}

const sameDeadlines = (
  expected: ReadonlyMap<string, number>,
  actual: ReadonlyMap<string, number>,
  same: (expected: number, actual: number) => boolean,
): boolean =>
  expected.size === actual.size && [...expected].every(([waiter, due]) => same(due, actual.get(waiter) ?? NaN))

/** More than a loaded machine's steps take, and less than leases and allowances differ. */
const TOLERANCE = 8000
/** A lease of the watchdog’s. */
const LEASE = 30_000

/**
 * How our deadlines stand to Redisson’s: the same but for whole allowances; never earlier, where limits and leases differ; or, by the rules
 * of 3.8, where asking again renews a place and everybody asks by a clock of its own, what any asking may give: not over, and later by a
 * lease and the allowances of the head and of whoever asks at most.
 */
export type DeadlineRule = 'the same' | 'never earlier' | 'renewed'

const isRight = (
  rule: DeadlineRule,
  { due, ours, allowance }: { readonly due: number; readonly ours: number; readonly allowance: number },
): boolean => {
  const later = ours - due
  if (rule === 'never earlier') return later > -TOLERANCE
  if (rule === 'renewed') return ours > -TOLERANCE && later < LEASE + 2 * allowance + TOLERANCE
  const allowances = Math.round(later / allowance) * allowance
  return allowances >= 0 && Math.abs(later - allowances) < TOLERANCE
}
