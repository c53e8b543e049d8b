import { setTimeout as sleep } from 'node:timers/promises'
import { type Costs, coresOf } from '#src/cli/bench/plan/cost.js'
import { type Demand, type Load as Planned, demandOf, requestsOf } from '#src/cli/bench/plan/demand.js'
import type { Load } from '../base/load.js'
import { type Row, type Target, format, inEveryRow, medians } from '../base/result.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { runRounds } from '../measure/rounds.js'
import type { VirtualFigures, VirtualLoad } from '../processes/virtual-crowd.js'
import { Child } from '../processes/child.js'

const LEASE = 30_000
const TRIP = 0.5
/** How far a prediction may be off: of what is counted, and of CPU time. */
const COUNTS = 0.1
const CPU = 0.15
/** MB. Each virtual process has a client of its own. */
const HEAP = '--max-old-space-size=12000'
/** ms. */
const PATIENCE = 24 * 3_600_000

interface Virtual {
  readonly name: string
  readonly load: VirtualLoad
  /** Takes seconds; or hours, and runs only by `--only`. */
  readonly size: 'quick' | 'usual' | 'long'
}

const hot = { kind: 'lock', locks: 1, holdMs: 5, pauseMs: 0, tripMs: TRIP } as const
/** Holds that are renewed, with pauses. */
const apart = { kind: 'lock', holdMs: 25_000, pauseMs: 5000, tripMs: TRIP, warm: 60 } as const

const VIRTUAL: readonly Virtual[] = [
  { name: '200 processes on one lock', load: { ...hot, processes: 200, warm: 12, seconds: 20 }, size: 'quick' },
  {
    name: '100 processes on 10 locks, at random',
    load: { kind: 'lock', processes: 100, locks: 10, holdMs: 20, pauseMs: 300, tripMs: TRIP, warm: 12, seconds: 60 },
    size: 'quick',
  },
  {
    name: '100 processes on 100 locks',
    load: { ...apart, processes: 100, locks: 100, seconds: 120 },
    size: 'quick',
  },
  { name: '1,000 processes on one lock', load: { ...hot, processes: 1000, warm: 20, seconds: 60 }, size: 'usual' },
  {
    name: '10,000 processes on one lock, a round of the line',
    load: { ...hot, processes: 10_000, warm: 70, seconds: 62 },
    size: 'long',
  },
  {
    name: '10,000 processes on one lock, an hour',
    load: { ...hot, processes: 10_000, warm: 130, seconds: 3600 },
    size: 'long',
  },
  {
    name: '10,000 processes on 10,000 locks, a minute',
    load: { ...apart, processes: 10_000, locks: 10_000, seconds: 60 },
    size: 'long',
  },
  {
    name: '10,000 processes on 10,000 locks, an hour',
    load: { ...apart, processes: 10_000, locks: 10_000, seconds: 3600 },
    size: 'long',
  },
]

const virtualName = ({ name }: Virtual): string => `virtual: ${name}`

const chosenOf = ({ quick, only }: Bench): readonly Virtual[] => {
  const usual = VIRTUAL.filter(({ size }) => size === 'quick' || (size === 'usual' && !quick))
  return only === undefined ? usual : VIRTUAL.filter((one) => virtualName(one).startsWith(only))
}

const run = async (load: VirtualLoad): Promise<VirtualFigures> => {
  const child = await Child.open('virtual.js', [], [HEAP])
  try {
    return (await child.ask(load, PATIENCE)) as VirtualFigures
  } finally {
    await child.end()
  }
}

const off = (measured: number, predicted: number): number => Math.abs(predicted / measured - 1)

/** What was measured of a load, beside what is computed; where there is nothing, nothing is off. */
const beside = (pairs: Readonly<Record<string, readonly [measured: number, predicted: number]>>): Row['cells'] => {
  const entries = Object.entries(pairs).filter(([, [measured, predicted]]) => measured > 0 || predicted > 0)
  return {
    ...Object.fromEntries(
      entries.flatMap(([key, [measured, predicted]]) => [
        [key, measured],
        [`${key}Planned`, predicted],
      ]),
    ),
    off: 100 * Math.max(...entries.map(([, pair]) => off(...pair))),
  }
}

const rowOf = (participant: string, cells: Row['cells'], note?: string): Row => ({
  ...{ participant, family: 'holdfast', version: '', cells, rounds: {} },
  ...(note !== undefined && { note }),
})

/** The hold is what timers make of it. Whoever pauses says how often it wants its lock; all others want it at once. */
const plannedOf = (load: VirtualLoad, { hold, visits }: VirtualFigures): Planned => ({
  ...{ clients: load.processes, locks: load.locks, hold, trip: load.tripMs, lease: LEASE },
  rate: load.pauseMs > 0 ? visits : Infinity,
})

/** Of few messages and waits chance decides; a wait that is hardly more than a trip is none. */
const FEW = 0.05

const virtualRow = async (one: Virtual): Promise<Row> => {
  const figures = await run(one.load)
  const demand = demandOf(plannedOf(one.load, figures))
  const requests = [...figures.requests.values()].reduce((all, each) => all + each, 0)
  const waits = demand.contended > FEW
  return rowOf(
    virtualName(one),
    beside({
      visits: [figures.visits, demand.visits],
      requests: [requests, requestsOf(demand)],
      ...(waits && { messages: [figures.messages, demand.messages], wait: [figures.wait, demand.wait] }),
    }),
  )
}

// ---- a real server -----------------------------------------------------------------------------------------------

const one = { kind: 'lock', engine: 'redis', processes: 1, callers: 1, names: 'each', holdMs: 2 } as const

/** What the costs are from. */
const FITTED: readonly (readonly [string, Load])[] = [
  ['8 processes, a lock each, 2 ms', { ...one, processes: 8 }],
  ['4 processes on one lock, 2 ms', { ...one, processes: 4, names: 'one' }],
]
/** What is computed by them: other numbers of clients, and other holds. */
const PREDICTED: readonly (readonly [string, Load])[] = [
  ['8 processes, a lock each, 5 ms', { ...one, processes: 8, holdMs: 5 }],
  ['16 processes on one lock, 5 ms', { ...one, processes: 16, names: 'one', holdMs: 5 }],
  [
    '64 clients in 8 processes on one lock, 1 ms',
    { ...one, processes: 8, callers: 8, clients: 'each', names: 'one', holdMs: 1 },
  ],
  ['64 clients in 8 processes, a lock each, 20 ms', { ...one, processes: 8, callers: 8, clients: 'each', holdMs: 20 }],
]

/** µs of CPU in a second in which nobody asks for anything. */
const baseOf = async ({ server }: Bench): Promise<number> => {
  const { meter } = server!
  const [before, from] = [await meter.read(), performance.now()]
  await sleep(2000)
  const after = await meter.read()
  return (1000 * (after.cpu - before.cpu)) / (performance.now() - from)
}

/** ms that a caller may take for its last turn. */
const LAST = 10_000

const measure = async (bench: Bench, load: Load): Promise<Row> => {
  const quiet = { ...bench, log: (): void => undefined }
  const [row] = await runRounds(quiet, { load, seconds: 3, quick: 1.5, who: ['holdfast'], first: 1, patience: LAST })
  return row!
}

/** Of callers that each have a lock of their own, as fast as they were. */
const demandNow = (load: Load, { cells }: Row): Demand => {
  const clients = load.processes * load.callers
  const { rate = NaN, hold = load.holdMs, trip = NaN } = cells
  const each = load.names === 'each'
  return demandOf({
    ...{ clients, locks: each ? clients : 1, hold, trip, lease: LEASE },
    rate: each ? rate : Infinity,
  })
}

const serverRow = ([name, load]: readonly [string, Load], row: Row, costs: Costs): Row => {
  const demand = demandNow(load, row)
  const { requests = NaN, serverCpu = NaN } = row.cells
  const planned = {
    each: requestsOf(demand) / demand.visits,
    cpu: (1_000_000 * coresOf(demand, costs)) / demand.visits,
  }
  return rowOf(`server: ${name}`, beside({ each: [requests, planned.each], cpu: [serverCpu, planned.cpu] }), row.note)
}

/** All loads in turn, again and again: whatever else the machine does meets all alike. */
const serverRows = async (bench: Bench): Promise<Row[]> => {
  if (bench.only?.startsWith('virtual') === true) return []
  const loads = [...FITTED, ...PREDICTED]
  const rounds: Row[][] = []
  for (let round = 0; round < bench.rounds; round++) {
    bench.log(`  server, round ${round + 1} of ${bench.rounds}`)
    const rows: Row[] = []
    for (const [, load] of loads) rows.push(await measure({ ...bench, rounds: 1 }, load))
    rounds.push(rows)
  }
  const rows = loads.map((_, i): Row => ({ ...rounds[0]![i]!, ...medians(rounds.map((all) => all[i]!.cells)) }))
  const base = await baseOf(bench)
  const [alone, contended] = rows.map(({ cells }) => cells['serverCpu']! - base / cells['rate']!)
  const costs: Costs = { alone: alone!, contended: contended!, base }
  return [
    ...FITTED.map(([name], i) => rowOf(`fitted: ${name}`, { cpu: rows[i]!.cells['serverCpu']! })),
    ...PREDICTED.map((each, i) => serverRow(each, rows[FITTED.length + i]!, costs)),
  ]
}

const within = (text: string, rows: readonly Row[], kind: string, limit: number): Target =>
  inEveryRow(
    text,
    rows.filter(({ participant }) => participant.startsWith(kind)),
    {
      off: ({ cells }) => cells['off'] ?? NaN,
      limit: 100 * limit,
      shown: ({ cells }) => `${format(cells['off']!, 1)} %`,
    },
  )

const pair = (key: string, title: string, digits: number) => [
  { key, title, digits },
  { key: `${key}Planned`, title: 'planned', digits },
]

export const z: Scenario = {
  id: 'z',
  title: 'Z: what docs/scale.md computes, and what happens',
  about: {
    measures:
      '*Virtual* rows run that many whole clients in one process, on the embedded server and a network of constant speed, by a clock whose time costs nothing. They hold for 5 ms and ' +
      'ask again at once; or have pauses of random lengths; or each has a lock of its own, and holds it for 25 s. Beside each figure is what the model of ' +
      '[scale](scale.md) computes from the load. *Server* rows are measured: from two loads, which are shown as *fitted*, the model has the costs of a lock alone and of one that is handed over, ' +
      'and computes loads with other numbers of clients and other holds: requests and CPU time of the server for each visit. *Off* is the worst of a row.',
    differs: 'holdfast alone.',
    misleads:
      'The model gets the hold and the trip as they were measured and, where callers pause, how often they wanted the lock. The rows with 10,000 processes take long, and run only ' +
      'by name: `npm run bench -- z --only "virtual: 10,000"`.',
  },
  needsServer: true,
  async run(bench) {
    const rows = await serverRows(bench)
    for (const each of chosenOf(bench)) {
      bench.log(`  ${virtualName(each)}`)
      rows.push(await virtualRow(each))
    }
    const only = bench.only
    const wanted = rows.filter(({ participant }) => only === undefined || participant.startsWith(only))
    return {
      columns: [
        ...pair('visits', 'visits/s', 1),
        ...pair('requests', 'requests/s', 1),
        ...pair('messages', 'messages/s', 1),
        ...pair('wait', 'wait ms', 1),
        ...pair('each', 'requests a visit', 2),
        ...pair('cpu', 'server µs a visit', 1),
        { key: 'off', title: 'off %', digits: 1 },
      ],
      rows: wanted,
      targets: [
        within('virtual: commands, messages and waits as planned ± 10 %', rows, 'virtual', COUNTS),
        within('server: requests and CPU as planned ± 15 %', rows, 'server', CPU),
      ],
    }
  },
}
