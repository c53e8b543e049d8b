import { type Client, NotInitializedError, type Rate } from 'holdfast'
import { compared, kept, ourKept, type Step } from './counts.js'
import type { Redisson } from './redisson.js'

/** The same mistake on both sides. Older ones of Redisson's quote the whole script behind what went wrong. */
const mistake = (error: unknown): string | undefined => {
  if (error instanceof NotInitializedError) return 'not initialized'
  if (error instanceof RangeError) return 'above the rate'
  const [, said] = /(not initialized|exceed defined rate)/.exec(String(error)) ?? []
  return said === 'exceed defined rate' ? 'above the rate' : said
}

const OWN = 1

const rateOf = ([permits = 0, interval = 0, scope]: readonly number[]): Rate => ({
  permits,
  interval,
  scope: scope === OWN ? 'client' : 'overall',
})

/** `trySetRate 10 60000`: permits and ms, for all clients together; `trySetRate 10 60000 1`: for each of them. */
export const LIMITER = compared({
  kind: 'limiter',
  channel: (name) => name,
  frees: /^never$/,
  mistake,
  theirs(redisson: Redisson) {
    const { call, ...rest } = kept(redisson, 'limiter')
    const rate =
      (method: string): Step =>
      (name, [permits, interval, scope]) => {
        const terms = [scope === OWN ? 'PER_CLIENT' : 'OVERALL', permits, interval, 'MILLISECONDS']
        return redisson.lock('limiter', name).call(method, terms, `actor of ${redisson.label}`)
      }
    return {
      ...rest,
      trySetRate: rate('trySetRate'),
      setRate: rate('setRate'),
      tryAcquire: call('tryAcquire'),
      availablePermits: call('availablePermits'),
      release: call('release'),
    }
  },
  ours(client: Client) {
    const open = (name: string) => client.rateLimiter(name)
    return {
      ...ourKept(open),
      trySetRate: (name, args) => open(name).trySetRate(rateOf(args)),
      setRate: (name, args) => open(name).setRate(rateOf(args)),
      tryAcquire: async (name, [permits]) => (await open(name).tryAcquire({ permits })).allowed,
      availablePermits: (name) => open(name).available(),
      release: (name, [permits]) => open(name).release(permits),
    }
  },
})
