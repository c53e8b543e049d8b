import { checkBackoff } from '../../check-arguments.js'
import type { SpinBackoff } from '../../api/lock.js'
import type { Backoff } from '../../core/waiting/acquire-request.js'

/** Up to this many random ms are added, to separate calls that began together. */
const JITTER = 16

/** Redisson's two strategies: a constant pause, or one that grows up to a limit. */
export const backoffOf = (options: SpinBackoff | undefined): Backoff => {
  const checked = checkBackoff(options) ?? {}
  if ('delay' in checked) return () => checked.delay
  const { initial = 1, max = 128, multiplier = 2 } = checked
  return (refusals, random) => {
    const jitter = Math.floor(random() * (Math.min(refusals, JITTER) + 1))
    return Math.min(max, initial * multiplier ** refusals + jitter)
  }
}
