import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import { NEWEST, isBuilt } from '../../test/suites/interop/support/build.js'
import { startRedisson } from '../../test/suites/interop/support/redisson.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { versionOf } from '../base/paths.js'
import { type Figures, type Row, findRow, medians, target } from '../base/result.js'
import { median } from '../base/stats.js'

const INTERVAL = 10_000
const SIZES = [100, 10_000] as const
const CALLERS = 16
/** How often the whole window leaves at once. */
const BURSTS = 15

/** One try of one permit. */
type Try = (name: string) => Promise<unknown>

interface Limiter {
  readonly name: string
  readonly family: string
  version(): string | undefined
  open(url: string): Promise<{ readonly attempt: Try; end(): Promise<unknown> }>
}

const limiters: readonly Limiter[] = [
  {
    name: 'holdfast',
    family: 'holdfast',
    version: () => versionOf('.'),
    async open(url) {
      const client = await connect({ url, presence: false })
      return { attempt: (name) => client.rateLimiter(name).tryAcquire(), end: () => client.close() }
    },
  },
  {
    name: 'Redisson',
    family: 'redisson',
    version: () => (isBuilt(NEWEST) ? NEWEST : undefined),
    async open(url) {
      const redisson = await startRedisson({ url })
      const call = { op: 'call', kind: 'limiter', method: 'tryAcquireAsync', args: [1] }
      return { attempt: (name) => redisson.request({ ...call, name }), end: () => redisson.kill() }
    },
  },
]

/** A window that is full of single grants, spread over `spread` ms that end `ago` ms ago. Both keep them alike. */
const fill = async (redis: Redis, permits: number, spread: number, ago: number): Promise<void> => {
  const now = Date.now() - ago
  const grants = Array.from({ length: permits }, (_, index) => {
    const grant = Buffer.alloc(21)
    grant[0] = 16
    grant.writeUInt32LE(index, 1)
    grant.writeUInt32LE(1, 17)
    return [now - Math.floor((spread * (permits - 1 - index)) / permits), grant] as const
  })
  await redis.del('{l}:permits')
  await redis.hset('l', { rate: permits, interval: INTERVAL, type: 0, keepAliveTime: 0 })
  await redis.set('{l}:value', 0)
  await redis.call('ZADD', '{l}:permits', ...grants.flat())
}

/** Scripts that the server ran, and the µs that it took for them. */
const scripts = async (redis: Redis): Promise<{ calls: number; usec: number }> => {
  const info = await redis.info('commandstats')
  const found = [...info.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+),usec=(\d+)/gm)]
  const sum = (group: number): number => found.reduce((total, match) => total + Number(match[group]), 0)
  return { calls: sum(1), usec: sum(2) }
}

const costOf = async (redis: Redis, work: () => Promise<unknown>): Promise<number> => {
  const before = await scripts(redis)
  await work()
  const after = await scripts(redis)
  return (after.usec - before.usec) / (after.calls - before.calls)
}

/** µs a call, at a window that is full and moves on; and of the first call after all of it left at once. */
const measure = async (redis: Redis, attempt: Try, permits: number, seconds: number): Promise<[number, number]> => {
  await fill(redis, permits, INTERVAL, 0)
  const saturate = async (ms: number): Promise<void> => {
    const until = performance.now() + ms
    const caller = async (): Promise<void> => {
      while (performance.now() < until) await attempt('l')
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
  }
  await saturate(300)
  const full = await costOf(redis, () => saturate(1000 * seconds))
  const bursts: number[] = []
  for (let burst = 0; burst < BURSTS; burst++) {
    await fill(redis, permits, 0, 2 * INTERVAL)
    bursts.push(await costOf(redis, () => attempt('l')))
  }
  return [full, median(bursts)]
}

const rowOf = async (bench: Bench, limiter: Limiter): Promise<Row> => {
  const { url } = bench.server!.redis
  const { name: participant, family } = limiter
  const version = limiter.version()
  if (version === undefined) return { participant, family, version: '', ...medians([]), note: 'cannot: not installed' }
  const redis = new Redis(url)
  const { attempt, end } = await limiter.open(url)
  const figures: Figures[] = []
  try {
    for (let round = 0; round < bench.rounds; round++) {
      const [small, large] = [[], []] as number[][]
      for (const permits of SIZES) {
        const [full, burst] = await measure(redis, attempt, permits, bench.quick ? 0.5 : 3)
        small!.push(full)
        large!.push(burst)
        await redis.flushall()
      }
      figures.push({
        ...{ full100: small![0]!, full10k: small![1]!, growth: small![1]! / small![0]! },
        ...{ burst100: large![0]!, burst10k: large![1]!, burstGrowth: large![1]! / large![0]! },
      })
    }
  } finally {
    await end()
    redis.disconnect()
  }
  return { participant, family, version, ...medians(figures) }
}

export const l: Scenario = {
  id: 'l',
  title: 'L: a rate limiter, 100 and 10,000 permits in 10 s',
  headline: { what: 'rate limiter, a call after 10,000 permits: µs', key: 'burst10k', digits: 0, less: true },
  about: {
    measures:
      `What a try of one permit costs the server, µs by its own count of the scripts. *Full*: the window is full of single grants, ` +
      `spread over it, and ${CALLERS} callers ask without a pause: some have what leaves the window, most are refused. *Burst*: all of the window ` +
      'has left at once, as after a pause; the first call then, the median of several.',
    differs:
      'Redisson sends its own time along, and credits all that has left the window in the call that finds it; holdfast ' +
      'asks the server for the time, and credits a hundred grants in a call, more only when more are wanted. Above 128 members ' +
      'Redis keeps a sorted set in another way, where taking one out costs more: so a burst grows a little here too.',
    misleads:
      'The trip, and what client and server do around the script, are not in it: for a single caller they are most of the ' +
      'time. Redisson is driven over standard input, so its callers ask less often.',
  },
  needsServer: true,
  async run(bench) {
    const rows: Row[] = []
    for (const limiter of limiters) {
      bench.log(limiter.name)
      rows.push(await rowOf(bench, limiter))
    }
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    const burst = (cells['burst10k'] ?? NaN) / (findRow(rows, 'Redisson')?.cells['burst10k'] ?? NaN)
    return {
      columns: [
        { key: 'full100', title: 'full, 100: µs', digits: 1 },
        { key: 'full10k', title: 'full, 10,000: µs', digits: 1 },
        { key: 'growth', title: '×', digits: 2 },
        { key: 'burst100', title: 'burst, 100: µs', digits: 0 },
        { key: 'burst10k', title: 'burst, 10,000: µs', digits: 0 },
        { key: 'burstGrowth', title: '×', digits: 2 },
      ],
      rows,
      targets: [
        target('full: 10,000 ≤ 1.5 × of 100', cells['growth'], (value) => value <= 1.5),
        target("burst of 10,000: ≤ 0.1 × Redisson's", burst, (value) => value <= 0.1),
      ],
    }
  },
}
