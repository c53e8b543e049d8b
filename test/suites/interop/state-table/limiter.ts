import type { Entry } from '../support/key-space.js'
import { type Program, type Same, sameStep, type Seen } from '../support/programs.js'

export const LIMITER_PROGRAMS: Readonly<Record<string, Program>> = {
  'set, taken, set by force':
    'X tryAcquire 1; Y availablePermits; X trySetRate 10 60000; Y trySetRate 5 60000; X tryAcquire 3; Y tryAcquire 11; ' +
    'Y tryAcquire 4; X tryAcquire 4; Y availablePermits; X tryAcquire 3; Y tryAcquire 1; X setRate 20 60000; ' +
    'Y tryAcquire 20; X tryAcquire 1; Y delete; X delete; Y tryAcquire 1',
  'an expiry of the whole':
    'X trySetRate 10 60000; Y expire 600000; X tryAcquire 4; Y tryAcquire 1; X clearExpire; Y tryAcquire 1; X delete; Y expire 5000',
  'each client its own':
    'X trySetRate 10 60000 1; X tryAcquire 3; Y tryAcquire 9; X availablePermits; Y availablePermits; X tryAcquire 8; ' +
    'Y tryAcquire 1; X delete; Y delete',
}

export const RELEASE =
  'X trySetRate 10 60000; Y tryAcquire 6; X release 2; Y availablePermits; Y release 9; X availablePermits; Y delete'

/**
 * A grant is a byte that says how many random ones follow, those, and how many permits it is for; how many are random differs by
 * version, and each takes any number. When it was given is of the caller's clock there, of the server's here.
 */
const grantOf = ([member]: readonly [string, string]): string => {
  const bytes = Buffer.from(member, 'latin1')
  return `${bytes.length - (bytes[0] ?? 0)} ${bytes.readUInt32LE(bytes.length - 4)}`
}

/** Ours gives what is a client's own an expiry; Redisson leaves it for good. */
const OWN = /:[W-Z]$/

const shown = (whole: Entry): Entry => {
  const entry = OWN.test(whole.key) ? { ...whole, ttl: -1 } : whole
  const value = entry.value as [string, string][]
  if (entry.type === 'zset') return { ...entry, value: value.map(grantOf) }
  if (entry.type !== 'hash') return entry
  const { keepAliveTime = '0', ...rate } = Object.fromEntries(value) as Record<string, string>
  return { ...entry, value: { keepAliveTime, ...rate } }
}

/** What is left, where it is all there is: Redisson writes that down when it is asked, ours when something is taken. */
const isFull = ({ key, value }: Entry, keys: readonly Entry[]): boolean =>
  key.includes(':value') &&
  keys.some((entry) => entry.type === 'hash' && (entry.value as Record<string, string>)['rate'] === value)

/** Ours tells those of ours who wait when there is more to be had; Redisson tells nobody. */
const inCommon = (seen: Seen): Seen => {
  const keys = seen.keys.map(shown)
  return { ...seen, messages: [], keys: keys.filter((entry) => !isFull(entry, keys)) }
}

export const sameLimiter: Same = (a, b, before) => sameStep(inCommon(a), inCommon(b), before)

const withoutLog = (seen: Seen): Seen => ({ ...seen, keys: seen.keys.filter(({ type }) => type !== 'zset') })

/** What is given back Redisson leaves in the log, so that it is credited again when it leaves the window; ours takes it out. */
export const sameGivenBack: Same = (a, b, before) => sameLimiter(withoutLog(a), withoutLog(b), before)
