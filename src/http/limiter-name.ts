import { createHash } from 'node:crypto'
import type { Rate, RateDecision, RateLimiter } from '../api/rate-limiter.js'
import { checkAmount, checkLease, show } from '../check-arguments.js'
import { EngineError } from '../errors.js'
import { isA, textOf } from '../thrown.js'

/** How long an unused limiter is kept at least, ms: one that is soon used again need not be set again. */
const KEPT = 60_000

export const rateOf = (permits: number, interval: number): Rate => ({
  permits: checkAmount(permits, 'permits', 1),
  interval: checkLease(interval, 'interval'),
  keepAlive: Math.max(interval, KEPT),
})

export const checkPolicyName = (name: string): void => {
  if (!/^[\w.-]+$/.test(name))
    throw new TypeError(`name may contain only letters, digits, '-', '_' and '.', not ${show(name)}`)
}

/** Braces choose the node of a name in a cluster. The sender of a request must not choose that. */
const BRACES = /[{}%]/g

/**
 * Where `mapName` adds braces, the keys beside a limiter's are its own and `:value` or `:permits`. A sender's key that could end like one of them ends with
 * a mark, which none of them has, so that no sender chooses a key of another's limiter. What has no colon, and an address, cannot end like that.
 */
const HARMLESS = /^(?:[^:]*|[\da-f:./]*)$/i
const MARK = '~'

/** The sender of a request must not choose how much the server keeps of it. */
const LONGEST_KEY = 100
const SHOWN = 60

/**
 * A key as part of a name. A long key becomes its beginning and a hash. That is longer than any key that is kept as it is, so no key can be confused with another.
 */
export const partOf = (key: string): string => {
  const part = key.replace(BRACES, encodeURIComponent)
  if (part.length <= LONGEST_KEY) return HARMLESS.test(part) ? part : `${part}${MARK}`
  const shown = part.slice(0, SHOWN).replace(/[\ud800-\udbff]$/, '')
  return `${shown}~${createHash('sha256').update(part).digest('hex')}`
}

/** A different rate is a different limiter: processes that run with the old settings keep to them. */
export const limiterName = (name: string, { permits, interval }: Rate, part: string): string =>
  `${name}:${permits}/${interval}:${part}`

/** Counts one request. The name says the rate, so if the stored rate is too small for one request, another program wrote it. */
export const countOne = async (limiter: RateLimiter, rate: Rate, signal: AbortSignal): Promise<RateDecision> => {
  try {
    return await limiter.tryAcquire({ rate, late: 'counts', signal })
  } catch (error) {
    throw isA(error, RangeError) ? new EngineError('WRONG_KIND', textOf(error), { cause: error }) : error
  }
}
