import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import type { Participant } from '../participants/participant.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { inTurn, observe } from '../measure/crowd.js'
import { namesOf } from '../processes/crowd-plan.js'
import { type Figures, findRow, format, target } from '../base/result.js'

/** How many keys one pipeline asks for; while it runs, one of so many is looked at each second. */
const CHUNK = 1000
const SHARE = 100

/** The lowest PTTL that was seen, and how many were gone. */
class Leases {
  readonly #redis: Redis
  lowest = Infinity
  gone = 0

  constructor(redis: Redis) {
    this.#redis = redis
  }

  async look(keys: readonly string[]): Promise<void> {
    for (let from = 0; from < keys.length; from += CHUNK) {
      const pipeline = this.#redis.pipeline()
      for (const key of keys.slice(from, from + CHUNK)) pipeline.pttl(key)
      for (const [, left] of (await pipeline.exec()) ?? []) {
        if ((left as number) > 0) this.lowest = Math.min(this.lowest, left as number)
        else this.gone++
      }
    }
  }
}

const keep = async (bench: Bench, participant: Participant): Promise<Figures> => {
  // A tenth of the holds with a tenth of the lease: as many renewals in a second.
  const [count, lease, seconds] = bench.quick ? [10_000, 3000, 2.7] : [100_000, 30_000, 60]
  const redis = new Redis(bench.server!.redis.url)
  const leases = new Leases(redis)
  const keys = namesOf(count).map((name) => participant.keyOf(name))
  try {
    const figures = await observe(bench, participant, {
      count,
      lease,
      does: 'hold',
      seconds,
      async beside(until) {
        for (let first = 0; performance.now() < until; first++) {
          await leases.look(keys.filter((_, index) => index % SHARE === first % SHARE))
          await sleep(Math.min(1000, until - performance.now()))
        }
      },
      async after(child) {
        await leases.look(keys)
        return { missed: leases.gone + ((await child.ask('troubles')) as number), lowest: leases.lowest / 1000 }
      },
    })
    return { ...figures, requests: figures['requests']! / figures['seconds']! }
  } finally {
    await redis.flushall()
    redis.disconnect()
  }
}

const percent = (value: number): string => `${format(value, 1)} %`
const whole = (value: number): string => format(value, 0)

export const r: Scenario = {
  id: 'r',
  title: 'R: watchdog: one process keeps 100,000 locks for a minute',
  headline: { what: '100,000 locks kept: % of one core, client', key: 'client', digits: 1, less: true },
  about: {
    measures:
      'One process takes 100,000 locks of 30 s, on one connection, and does nothing more; what it takes to keep them is ' +
      'measured from then on. *Client* and *server* are shares of one core. *Missed* is how many keys were gone when looked ' +
      'at, a hundredth of them each second and all at the end, and how many holds their own process thinks lost or in doubt. ' +
      '*Lowest PTTL* is how near one came to it. *Longest turn* is for how long the event loop stood still, to 20 ms. ' +
      '*Bytes each* is the heap and what is outside of it, less what was there before, after collection; the larger of ' +
      'before and after the minute.',
    differs:
      'holdfast renews after a third of the lease, 250 holds in one request; redis-semaphore after 0.8 of it, each hold by ' +
      'a timer and a request of its own: it asks for less than half as many renewals.',
    misleads:
      'All were taken within seconds, so all are renewed within seconds: the work comes in bursts, of which a minute sees ' +
      'two or three or six. The names are made beforehand and not counted. `hold.signal` is made when first asked for, and ' +
      'costs some memory more. Looking at the keys is in the share of the server, some tenths of a percent. With --quick ' +
      'there are 10,000 locks of 3 s: as many renewals in a second.',
  },
  needsServer: true,
  rounds: 1,
  async run(bench) {
    const whyNot = (participant: Participant) => (participant.renews ? undefined : 'renews nothing')
    const rows = await inTurn(bench, whyNot, (participant) => keep(bench, participant))
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    return {
      columns: [
        { key: 'missed', title: 'missed', digits: 0 },
        { key: 'lowest', title: 'lowest PTTL s', digits: 1 },
        { key: 'client', title: 'client %', digits: 1 },
        { key: 'server', title: 'server %', digits: 1 },
        { key: 'requests', title: 'requests/s', digits: 0 },
        { key: 'stall', title: 'longest turn ms', digits: 0 },
        { key: 'bytes', title: 'bytes each', digits: 0 },
      ],
      rows,
      targets: [
        target('no lease missed', cells['missed'], (value) => value === 0, whole),
        target('client < 15 % of one core', cells['client'], (value) => value < 15, percent),
        target('server < 10 % of one core', cells['server'], (value) => value < 10, percent),
        target('< 200 requests/s', cells['requests'], (value) => value < 200, whole),
        target('memory per hold ≤ 1,024 bytes', cells['bytes'], (value) => value <= 1024, whole),
      ],
    }
  },
}
