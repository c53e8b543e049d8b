import { type RedisCluster, startCluster } from '../../test/support/redis-cluster.js'
import { format, inEveryRow, medians, type Figures, type Row, type Target, target, findRow } from '../base/result.js'
import type { Load } from '../base/load.js'
import type { Bench, MeasuredServer, Scenario } from '../measure/bench.js'
import { runRounds } from '../measure/rounds.js'
import { type Reading, ServerMeter, scriptsBetween } from '../measure/server-meter.js'

const common = { kind: 'lock', engine: 'redis', processes: 4 } as const

/** 10,000 locks, 200 callers: nobody waits. */
const APART: Load = { ...common, callers: 50, names: 'each', locks: 50, holdMs: 0 }
/** Many callers go around few locks, so releases publish. */
const SHARED: Load = { ...common, callers: 25, names: 'one', locks: 12, holdMs: 2 }

const WHO = ['holdfast', 'raw', 'raw, auto-pipelining']

/** One server, a cluster of one, and a cluster of three. */
interface Place {
  readonly name: string
  readonly server: MeasuredServer
  readonly cluster?: RedisCluster
}

const ONE = 'one server'
const nameOf = (masters: number): string => `cluster of ${masters}`

const placeOf = async (masters: number): Promise<Place> => {
  const cluster = await startCluster({ masters })
  const meter = new ServerMeter(...cluster.nodes.map(({ server }) => server.url))
  const redis = { ...cluster.nodes[0]!.server, url: cluster.url }
  return { name: nameOf(masters), server: { redis, meter }, cluster }
}

/** How evenly the scripts went to the masters: the least for the most. */
const evenness = (before: readonly Reading[], after: readonly Reading[]): number => {
  const each = before.map((one, i) => scriptsBetween(one, after[i]!))
  return Math.min(...each) / Math.max(...each)
}

/** How many messages masters have passed on to each other. */
const passedOn = async ({ cluster }: Place): Promise<number> => {
  const infos = await Promise.all((cluster?.nodes ?? []).map(({ redis }) => redis.cluster('INFO')))
  const counts = infos.flatMap((info) => [...info.matchAll(/^cluster_stats_messages_publish(?:shard)?_sent:(\d+)/gm)])
  return counts.reduce((sum, [, count]) => sum + Number(count), 0)
}

const callsOf = ({ calls }: Reading, name: string): number => calls.get(name) ?? 0

/** What went over channels that only the masters of their slots know, and over others. */
const messagesIn = (before: Reading, after: Reading, visits: number): Figures => {
  const each = (name: string): number => (callsOf(after, name) - callsOf(before, name)) / visits
  return { plain: each('publish'), sharded: each('spublish') }
}

/** Code that has run for a second only costs several times as much as later. */
const measure = async (bench: Bench, place: Place, load: Load, who: readonly string[]): Promise<Row[]> => {
  const { server } = place
  const { meter } = server
  await meter.clear()
  const rows: Row[] = []
  for (const one of who) {
    const [before, passed] = [await meter.readEach(), await passedOn(place)]
    const total = await meter.read()
    const [row] = await runRounds(
      { ...bench, rounds: 1, server },
      { load, seconds: 3, quick: 1, who: [one], first: bench.quick ? 3 : 8 },
    )
    const after = await meter.readEach()
    const visits = scriptsBetween(total, await meter.read()) / (row!.cells['scripts'] ?? NaN)
    rows.push({
      ...row!,
      participant: `${place.name}: ${row!.participant}`,
      cells: {
        ...row!.cells,
        even: 100 * evenness(before, after),
        passed: (await passedOn(place)) - passed,
        ...messagesIn(total, await meter.read(), visits),
      },
    })
  }
  return rows
}

/** Each of them in each round, in another order: whatever else the machine does meets all alike. */
const inTurns = async (bench: Bench, places: readonly Place[], load: Load, who: readonly string[]): Promise<Row[]> => {
  const rounds = new Map<string, Row[]>()
  for (let round = 0; round < bench.rounds; round++) {
    for (let turn = 0; turn < places.length; turn++) {
      const place = places[(turn + round) % places.length]!
      bench.log(`  ${place.name}`)
      for (const row of await measure({ ...bench, log: () => undefined }, place, load, who)) {
        rounds.set(row.participant, [...(rounds.get(row.participant) ?? []), row])
      }
    }
  }
  return [...rounds.values()].map((rows) => {
    // A round that went wrong is shown, and not hidden by the others.
    const bad = rows.find(({ note }) => note !== undefined)
    return bad ?? { ...rows[0]!, ...medians(rows.map(({ cells }) => cells)) }
  })
}

/** The CPU of client and server for each, in parts of what the same takes on one server, in %. */
const comparedWithOne = (rows: readonly Row[]): Row[] =>
  rows.map((row) => {
    const one = findRow(rows, `${ONE}: ${row.participant.split(': ').at(-1)}`)
    const part = (key: 'cpu' | 'clientCpu' | 'serverCpu'): number =>
      (100 * (row.cells[key] ?? NaN)) / (one?.cells[key] ?? NaN)
    return {
      ...row,
      cells: { ...row.cells, part: part('cpu'), client: part('clientCpu'), server: part('serverCpu') },
    }
  })

const labelled = (what: string, rows: readonly Row[]): Row[] =>
  rows.map((row) => ({ ...row, participant: `${what}, ${row.participant}` }))

const targetsOf = (apart: readonly Row[], shared: readonly Row[]): Target[] => {
  const ours = (rows: readonly Row[]): Row[] =>
    rows.filter(({ participant, family }) => family === 'holdfast' && participant.includes('cluster'))
  const three = findRow(apart, `${nameOf(3)}: holdfast`)?.cells
  const bus = ours(shared).map(({ cells }) => cells['passed']! + cells['plain']!)
  return [
    inEveryRow('CPU of a pair as on one server ± 10 %', ours(apart), {
      off: ({ cells }) => Math.abs(cells['part']! - 100),
      limit: 10,
      shown: ({ cells }) => `${format(cells['part']!, 1)} %`,
    }),
    target('the least busy of three masters ≥ 90 % of the busiest', three?.['even'], (value) => value >= 90),
    target(
      'messages that masters pass on, or that go to all',
      bus.length > 0 ? Math.max(...bus) : undefined,
      (value) => value === 0,
    ),
  ]
}

export const k: Scenario = {
  id: 'k',
  title: 'K: a cluster, 10,000 locks',
  about: {
    measures:
      'The same load on one server, on a cluster of one master and on one of three. *Apart*: 200 callers in 4 processes go around 10,000 locks, so that nobody waits. *Shared*: ' +
      '100 callers in 4 processes go around 12 locks and hold each for 2 ms, so that releases publish. *Of one* is the CPU of client and server for each pair, in % of that on one server. ' +
      '*Even* is how many scripts the least busy master has run, in % of the busiest. *Sharded* are messages of sharded channels for each pair, *plain* those that each master passes on to all others, ' +
      'and *passed on* is how many messages masters have sent to each other.',
    differs:
      'The bare scripts run through the cluster client of ioredis, which finds the slot and the connection for each command. holdfast runs through the same client.',
    misleads:
      'All masters share the cores of one machine. On three of them, each client has three connections, so fewer commands leave in one write and each master wakes up more often ' +
      'for the same number of commands: at full load on machines of their own they would have more to read at a time. The masters have no replicas.',
  },
  needsServer: true,
  async run(bench) {
    const places: Place[] = [{ name: ONE, server: bench.server! }]
    try {
      for (const masters of [1, 3]) places.push(await placeOf(masters))
      const wanted = (what: string): boolean => what.startsWith(bench.only ?? '')
      const rows = (load: Load, who: readonly string[]): Promise<Row[]> => inTurns(bench, places, load, who)
      const apart = wanted('apart') ? comparedWithOne(await rows(APART, WHO)) : []
      const shared = wanted('shared') ? comparedWithOne(await rows(SHARED, WHO.slice(0, 1))) : []
      return {
        columns: [
          { key: 'rate', title: 'pairs/s', digits: 0 },
          { key: 'cpu', title: 'µs', digits: 1 },
          { key: 'part', title: '% of one', digits: 1 },
          { key: 'clientCpu', title: 'client µs', digits: 1 },
          { key: 'client', title: '% of one', digits: 1 },
          { key: 'serverCpu', title: 'server µs', digits: 1 },
          { key: 'server', title: '% of one', digits: 1 },
          { key: 'requests', title: 'requests each', digits: 2 },
          { key: 'even', title: 'even %', digits: 1 },
          { key: 'sharded', title: 'sharded', digits: 2 },
          { key: 'plain', title: 'plain', digits: 2 },
          { key: 'passed', title: 'passed on', digits: 0 },
        ],
        rows: [...labelled('apart', apart), ...labelled('shared', shared)],
        targets: targetsOf(apart, shared),
      }
    } finally {
      for (const { cluster, server } of places.slice(1)) {
        server.meter.end()
        await cluster?.stop()
      }
    }
  },
}
