import type { Participant } from '../participants/participant.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { compared } from '../measure/columns.js'
import { inTurn, observe } from '../measure/crowd.js'
import type { Load } from '../base/load.js'
import { type Row, type Target, findRow, format, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'

/** Whoever can do most of it, one for each way of waiting: ours; asking again and again; being told. */
const WHO = ['holdfast', 'redis-semaphore', 'rueidislock']

interface Growth {
  readonly what: string
  readonly at: readonly number[]
  /** How many times as much CPU the last point may take as the first. */
  readonly limit: number
  readonly load: (count: number) => Load
}

const common = { kind: 'lock', engine: 'redis', names: 'one', holdMs: 0, processes: 1 } as const

const GROWTHS: readonly Growth[] = [
  { what: 'waiters', at: [16, 256, 4096], limit: 3, load: (callers) => ({ ...common, callers }) },
  { what: 'keys', at: [16, 128, 1024], limit: 1.5, load: (callers) => ({ ...common, callers, names: 'each' }) },
  {
    what: 'processes',
    at: [2, 4, 8],
    limit: 2,
    load: (processes) => ({ ...common, processes, callers: 4, holdMs: 1 }),
  },
  {
    ...{ what: 'permits', at: [1, 8, 64], limit: 3 },
    load: (places) => ({ ...common, kind: 'semaphore', processes: 2, callers: 64, places }),
  },
]

const HOLDS = [1000, 10_000, 100_000]
/** Renewed each second: as much work in seconds as 30 s of lease make in ten times as long. */
const LEASE = 3000

/** Two sizes are enough for a glance. */
const chosen = ({ quick }: Bench, sizes: readonly number[]): readonly number[] => (quick ? sizes.slice(0, 2) : sizes)

const labelled = (what: string, at: number, rows: readonly Row[]): Row[] =>
  rows
    .filter(({ note }) => note?.startsWith('cannot') !== true)
    .map((row) => ({ ...row, participant: `${what} ${format(at, 0)}: ${row.participant}` }))

const grown = async (bench: Bench, { what, at, load }: Growth): Promise<Row[]> => {
  const rows: Row[] = []
  for (const count of chosen(bench, at)) {
    bench.log(`  ${what}: ${format(count, 0)}`)
    // A semaphore keeps the permits that it was given first.
    await bench.server?.meter.clear()
    const measured = await runRounds(bench, {
      ...{ load: load(count), seconds: 1.5, who: bench.quick ? WHO.slice(0, 2) : WHO },
    })
    rows.push(
      ...labelled(
        what,
        count,
        compared(measured, () => undefined),
      ),
    )
  }
  return rows
}

const keepsIts = (participant: Participant): string | undefined => {
  if (!WHO.includes(participant.name)) return 'not asked'
  return participant.renews ? undefined : 'renews nothing'
}

/** µs for each hold and second. */
const held = async (bench: Bench): Promise<Row[]> => {
  const rows: Row[] = []
  for (const count of chosen(bench, HOLDS)) {
    bench.log(`  holds: ${format(count, 0)}`)
    const seconds = bench.quick ? 1 : 6
    const sleep = (until: number): Promise<void> =>
      new Promise((resolve) => setTimeout(resolve, until - performance.now()))
    const measured = await inTurn(bench, keepsIts, async (participant) => {
      const seen = await observe(bench, participant, { count, lease: LEASE, does: 'hold', seconds, beside: sleep })
      const [clientCpu, serverCpu] = [seen['client']!, seen['server']!].map((share) => (share * 1e4) / count)
      const requests = seen['requests']! / seen['seconds']! / count
      return { clientCpu: clientCpu!, serverCpu: serverCpu!, cpu: clientCpu! + serverCpu!, requests }
    })
    rows.push(...labelled('holds', count, measured))
  }
  return rows
}

const reached = (rows: readonly Row[], what: string, at: readonly number[], limit: number): Target => {
  const [least, most] = [at[0]!, at.at(-1)!].map(
    (n) => findRow(rows, `${what} ${format(n, 0)}: holdfast`)?.cells['cpu'],
  )
  const text = `${format(at.at(-1)!, 0)} ${what} ≤ ${format(limit, 1)} × ${format(at[0]!, 0)}, CPU for each`
  return target(text, most! / least!, (value) => value <= limit)
}

export const g: Scenario = {
  id: 'g',
  title: 'G: what it costs as waiters, keys, processes, permits and holds grow',
  about: {
    measures:
      'The CPU of client and server for each acquisition, at a few sizes: waiters of one process for one lock; keys, each with a ' +
      'caller of its own on one connection; processes with 4 callers each on one lock, held for 1 ms; permits of a semaphore ' +
      'that 128 callers of two processes want. Of holds, what it takes to keep one for a second, with a lease of 3 s. ' +
      'Who scales takes as much for each at the end as at the beginning.',
    differs:
      'redis-semaphore asks again each millisecond for each waiter; rueidislock is told by the server, and sends one of each ' +
      'process; holdfast passes on within a process and is told otherwise. Each renews at another part of the lease, and ' +
      'rueidislock keeps its own lease of 5 s. With few keys a pair costs what its scripts cost: theirs know no owner who ' +
      'comes again and no one who waits. rueidislock does not get going with 4,096 waiters.',
    misleads:
      'With two processes and more, what one acquisition costs is mostly the waking of processes, which does not grow. CPU that ' +
      'is spent while waiting is counted to the acquisitions, as it should be. All share the cores of one machine: with more ' +
      'processes than cores the caches are colder.',
  },
  needsServer: true,
  async run(bench) {
    const rows: Row[] = []
    const targets: Target[] = []
    for (const growth of GROWTHS) {
      rows.push(...(await grown(bench, growth)))
      targets.push(reached(rows, growth.what, chosen(bench, growth.at), growth.limit))
    }
    rows.push(...(await held(bench)))
    targets.push(reached(rows, 'holds', chosen(bench, HOLDS), 1.5))
    return {
      columns: [
        { key: 'rate', title: 'a second', digits: 0 },
        { key: 'spread', title: '± %', digits: 1 },
        { key: 'cpu', title: 'µs for each', digits: 1 },
        { key: 'clientCpu', title: 'client µs', digits: 1 },
        { key: 'serverCpu', title: 'server µs', digits: 1 },
        { key: 'requests', title: 'requests each', digits: 2 },
        { key: 'commands', title: 'commands each', digits: 2 },
      ],
      rows,
      targets,
    }
  },
}
