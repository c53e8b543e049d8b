import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { fairQueue } from '#src/keys.js'
import { holdfast } from '../participants/holdfast.js'
import { redisson } from '../participants/redisson.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { PATIENCE } from '../base/load.js'
import { type OpenParty, javaParty, nodeParty } from '../processes/queue-member.js'
import { type Figures, type Row, findRow, format, medians, target } from '../base/result.js'

const DOOMED = 50
/** Redisson's own, s: its allowance for each silent waiter, and its lease. */
const ALLOWANCE = 300
const LEASE = 30
/** Our short lease: whoever was granted the lock and says nothing has it for so long, s. */
const TRIAL = 3

type Fate = 'killed' | 'stopped'

class Line {
  readonly #redis: Redis
  readonly #key: string

  constructor(redis: Redis, key: string) {
    this.#redis = redis
    this.#key = key
  }

  async is(length: number): Promise<void> {
    const until = Date.now() + PATIENCE
    while ((await this.#redis.llen(fairQueue(this.#key))) < length) {
      if (Date.now() > until) throw new Error(`no line of ${length}`)
      await sleep(5)
    }
  }
}

/** Seconds from the release until somebody living has it. */
const recovery = async (redis: Redis, url: string, open: OpenParty, fate: Fate): Promise<number> => {
  const key = `bench:d:${fate}`
  const line = new Line(redis, key)
  const parties = await Promise.all([open(url, key), open(url, key), open(url, key)])
  const [holder, doomed, living] = parties
  try {
    await holder.take()
    await doomed.wait(DOOMED)
    await line.is(DOOMED)
    await living.wait(1)
    await line.is(DOOMED + 1)
    if (fate === 'killed') await doomed.kill()
    else doomed.stop()
    const freed = await holder.free()
    const seconds = ((await living.had()) - freed) / 1e6
    if (fate === 'stopped') {
      doomed.cont()
      await sleep(500)
      if ((await doomed.entered()) > 0) throw new Error('VIOLATED: who was stopped has it too')
    }
    return seconds
  } finally {
    doomed.cont()
    await Promise.all(parties.map((party) => party.kill()))
    await redis.flushall()
  }
}

const measure = async (bench: Bench, open: OpenParty): Promise<Figures> => {
  const { url } = bench.server!.redis
  const redis = new Redis(url)
  try {
    return {
      killed: await recovery(redis, url, open, 'killed'),
      stopped: await recovery(redis, url, open, 'stopped'),
    }
  } finally {
    redis.disconnect()
  }
}

const candidates = ({ quick }: Bench) => {
  // Shortened, or nobody would see the end of it; but not over before all stand in the line.
  const [allowance, lease] = quick ? [0.02, 3] : [0.1, 10]
  const options = { fairLockWaitTimeout: allowance * 1000, lockWatchdogTimeout: lease * 1000 }
  const beyond = LEASE - lease + DOOMED * (ALLOWANCE - allowance)
  return [
    { participant: holdfast, open: nodeParty(holdfast.name), beyond: 0, note: '' },
    {
      participant: redisson,
      open: javaParty(options),
      beyond,
      note: `fairLockWaitTimeout ${options.fairLockWaitTimeout} ms, lockWatchdogTimeout ${options.lockWatchdogTimeout} ms`,
    },
  ]
}

const seconds = (value: number): string => `${format(value, 2)} s`

export const d: Scenario = {
  id: 'd',
  title: 'D: a process with 50 waiters dies, or stops, just before its turn',
  headline: { what: 'next one in line dies: s until somebody has the lock', key: 'killed', digits: 3, less: true },
  about: {
    measures:
      'One process has a fair lock; a second one stands in its line 50 times, and a third one behind. The second is killed ' +
      '(SIGKILL), or stopped (SIGSTOP), and then the lock is freed: seconds until the third has it. One that was stopped goes on ' +
      'afterwards, and must not think that it has the lock.',
    differs:
      'holdfast sees that nobody hears a grant, and where somebody hears it but does not stir, drops the whole client after ' +
      `${TRIAL} s. Redisson waits for each of the 50 for its fairLockWaitTimeout, of 5 minutes by default, one after the other.`,
    misleads:
      "Redisson's fairLockWaitTimeout and lockWatchdogTimeout were made shorter, as its row says. *With its defaults* is not measured " +
      'but reckoned from that: by so much longer as 50 allowances of 5 minutes and a lease of 30 s are. A machine that dies ' +
      'without closing its connections is like one that is stopped.',
  },
  needsServer: true,
  async run(bench) {
    const there = candidates(bench).filter(({ participant }) => participant.version() !== undefined)
    const figures = there.map((): Figures[] => [])
    for (let round = 0; round < bench.rounds; round++) {
      for (const [index, { participant, open }] of there.entries()) {
        bench.log(`  ${participant.name}`)
        figures[index]!.push(await measure(bench, open))
      }
    }
    const rows = there.map(({ participant, beyond, note }, index): Row => {
      const measured = figures[index]!.map((one) => ({
        ...one,
        ...(beyond > 0 && { reckoned: one['killed']! + beyond }),
      }))
      const { name, family } = participant
      const said = note === '' ? {} : { note }
      return { participant: name, family, version: participant.version() ?? '', ...medians(measured), ...said }
    })
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    return {
      columns: [
        { key: 'killed', title: 'killed s', digits: 3 },
        { key: 'stopped', title: 'stopped s', digits: 3 },
        { key: 'reckoned', title: 'with its defaults s', digits: 0 },
      ],
      rows,
      targets: [
        target('killed: ≤ 1 s', cells['killed'], (value) => value <= 1, seconds),
        target(`stopped: ≤ ${TRIAL} s + 1 s`, cells['stopped'], (value) => value <= TRIAL + 1, seconds),
      ],
    }
  },
}
