import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atDistance } from './measure/at-distance.js'
import type { Bench } from './measure/bench.js'
import { blockedHolder } from './measure/blocked-holder.js'
import { manyClients } from './measure/many-clients.js'
import { promisesAlone } from './measure/promises-alone.js'
import type { Load } from './base/load.js'
import { readJson, root } from './base/paths.js'
import { type Figures, type Row, bestOf, format, medians } from './base/result.js'
import { runRounds } from './measure/rounds.js'
import { holdfast, holdfastThread } from './participants/holdfast.js'
import { median } from './base/stats.js'
import { asLines } from './output/table.js'

/** What is kept: a slower machine, or a busy one, moves both sides of a ratio. What goes by the clock all the same is kept low. */
const KEPT = 'bench/guard.json'
/** Below this part of it a ratio is too low. */
const ENOUGH = 0.85
const ATTEMPTS = 3
const SECONDS = 1
const FIRST = 0.7

interface Seen {
  readonly ours: Row
  /** The fastest of the others, or a queue of promises and nothing else. */
  readonly other: Row
}

/** What is measured in a way of its own, and compared with nobody. More is better. */
interface Look {
  readonly name: string
  readonly enough?: number
  readonly look: (bench: Bench) => Promise<Readonly<Record<string, number>>>
}

interface Check {
  readonly name: string
  readonly load: Load
  /** None: a queue of promises, in the same rounds. */
  readonly others: readonly string[]
  /** One unless said. */
  readonly seconds?: number
  /** Who is looked at, if not who the command names. */
  readonly subject?: string
  /** ms that the server is away, there and back. */
  readonly distance?: number
  /** What part of what is kept is enough, where something is counted that no machine changes. */
  readonly enough?: number
  /** More is better, and none has a unit. */
  readonly ratios: Readonly<Record<string, (seen: Seen) => number>>
}

const RAW = ['raw', 'raw, auto-pipelining']
const SCHEME = ["Redisson's scheme"]
const one = { kind: 'lock', engine: 'redis', processes: 1, callers: 1, names: 'one', holdMs: 0 } as const

/** Round by round, so that what slows both leaves it alone. */
const byRound = (one: readonly number[] = [], other: readonly number[] = []): number =>
  median(one.map((value, round) => value / (other[round] ?? NaN)))

const timesAsFast = ({ ours, other }: Seen): number => byRound(ours.rounds['rate'], other.rounds['rate'])

/** Other programs make it last longer, and its share of the CPU not larger. */
const timesAsCheap =
  (key: 'cpu' | 'clientCpu') =>
  ({ ours, other }: Seen): number =>
    byRound(other.rounds[key], ours.rounds[key])

/** How little one acquisition asks of the server. */
const perCommand = ({ ours }: Seen): number => 1 / ours.cells['commands']!
const perRequest = ({ ours }: Seen): number => 1 / ours.cells['requests']!
const perScript = ({ ours }: Seen): number => 1 / ours.cells['scripts']!

/** Of those that may have it as often as they like. */
const leastServed = ({ ours }: Seen): number => ours.cells['share']!

const perTurn = ({ ours }: Seen): number => 1 / ours.cells['turns']!
/** One between a release and the next hold elsewhere is the least; of the quickest, to which a busy machine adds little. */
const perTrip = ({ ours }: Seen): number => ours.cells['trip']! / ours.cells['leastGap']!
const partOfIdeal = ({ ours }: Seen): number => {
  const { rate, hold, trip } = ours.cells
  return (rate! * (hold! + trip!)) / 1000
}

/** ms. So long is a trip that what a busy machine adds to it is little. */
const FAR = 5

const CHECKS: readonly Check[] = [
  {
    ...{ name: 'u1', load: { ...one, names: 'each' }, others: RAW },
    ratios: {
      'pairs/s, × raw': timesAsFast,
      'pairs for the CPU of one of raw': timesAsCheap('cpu'),
      'pairs for each command': perCommand,
    },
  },
  {
    ...{ name: 'u1s', load: { ...one, names: 'each' }, others: RAW, subject: "holdfast, release: 'sent'" },
    ratios: { 'pairs/s, × raw': timesAsFast, 'pairs for the CPU of one of raw': timesAsCheap('cpu') },
  },
  {
    ...{ name: 'u64', load: { ...one, callers: 64, names: 'each' }, others: RAW },
    ratios: { 'pairs/s, × raw': timesAsFast, 'pairs for the CPU of one of raw': timesAsCheap('cpu') },
  },
  {
    ...{ name: 'h', load: { ...one, callers: 256 }, others: [] },
    ratios: { 'hand-offs for the CPU of one of promises alone': timesAsCheap('clientCpu') },
  },
  {
    ...{ name: 'hf', load: { ...one, kind: 'fairLock', callers: 256 }, others: SCHEME },
    ratios: {
      "hand-offs for the CPU of one by Redisson's scheme": timesAsCheap('cpu'),
      'hand-offs for each command': perCommand,
    },
  },
  {
    ...{ name: 'c', load: { ...one, processes: 4, callers: 8, holdMs: 2 }, others: [] },
    ratios: { 'acquisitions for each request': perRequest },
  },
  {
    ...{ name: 'cf', load: { ...one, kind: 'fairLock', processes: 4, callers: 8, holdMs: 2 }, others: SCHEME },
    ratios: {
      "acquisitions/s, × Redisson's scheme": timesAsFast,
      "acquisitions for the CPU of one by Redisson's scheme": timesAsCheap('cpu'),
      'acquisitions for each command': perCommand,
    },
  },
  {
    ...{ name: 's', load: { ...one, kind: 'semaphore', processes: 4, callers: 8, places: 4, holdMs: 2 }, others: [] },
    ratios: { 'acquisitions for each request': perRequest },
  },
  ...(
    [
      ['fairLock', 'fair lock'],
      ['lock', 'lock'],
      ['writeLock', 'write lock'],
    ] as const
  ).map(([kind, called]): Check => ({
    // 64 clients with one caller each, as if each were alone in a process. What is kept lets a visit take 3.5 scripts, and the least served
    // have 0.8 times as many visits as the most served.
    ...{ name: 'p', load: { ...one, kind, processes: 8, callers: 8, clients: 'each', holdMs: 1 }, others: [] },
    seconds: 3,
    ratios: {
      [`${called}, 64 clients: visits for each script`]: perScript,
      [`${called}, 64 clients: visits of the least served for each of the most`]: leastServed,
    },
  })),
  {
    // What is kept lets a pair take two trips: one more in twenty pairs is seen.
    ...{ name: 'n', load: { ...one, names: 'each' }, others: [], distance: FAR },
    enough: 0.97,
    ratios: { [`${FAR} ms away: pairs for each trip`]: perTurn },
  },
  ...(['lock', 'fairLock'] as const).map((kind): Check => ({
    ...{ name: 'n', load: { ...one, kind, processes: 4, callers: 8, holdMs: 2 }, others: [], distance: FAR },
    seconds: 2,
    ratios: {
      [`${kind}, ${FAR} ms away: hand-offs between processes for each trip`]: perTrip,
      [`${kind}, ${FAR} ms away: acquisitions/s, × ideal`]: partOfIdeal,
    },
  })),
  {
    ...{ name: 'm', load: { ...one, engine: 'memory', names: 'each' }, others: [] },
    ratios: { 'pairs for the CPU of a hundred promises handed over': (seen) => 100 * timesAsCheap('clientCpu')(seen) },
  },
]

const LOOKS: readonly Look[] = [
  {
    name: 'b',
    async look(bench) {
      const [beside, alone] = [
        await blockedHolder(bench, holdfastThread, SECONDS),
        await blockedHolder(bench, holdfast, SECONDS),
      ]
      // The second one is in vain if a hold would last without the thread.
      const kept = beside['kept']! - beside['overlap']! - alone['kept']!
      return {
        'blocked for three leases: holds kept by the thread': kept,
        'threads in 100 MB': 100 / (beside['memory']! - alone['memory']!),
      }
    },
  },
  {
    name: 'g2',
    async look() {
      const { connected, shared } = await manyClients({ who: 'holdfast', clients: 200, seconds: 1, after: 3 })
      return {
        '200 clients: connected for a second of CPU': 1e6 / connected['clientCpu']!,
        '200 clients after a restart: seconds for ten requests of one': 10 / shared['worst']!,
        '200 clients after a restart: how often in 10 s all are back': 10 / shared['over']!,
      }
    },
  },
]

const measure = async (bench: Bench, check: Check | Look, subject: string): Promise<[string, number][]> => {
  if ('look' in check) {
    const found = Object.entries(await check.look(bench))
    return found.map(([text, ratio]) => [`${check.name}: ${text}`, ratio])
  }
  const { distance } = check
  if (distance === undefined) return measureHere(bench, check, subject)
  return atDistance(bench, distance, (far) => measureHere(far, check, subject))
}

const measureHere = async (
  bench: Bench,
  { name, load, others, ratios, seconds = SECONDS, ...check }: Check,
  named: string,
): Promise<[string, number][]> => {
  // What the one before left is of another kind.
  await bench.server?.meter.clear()
  const floors: Figures[] = []
  const beside = async (): Promise<void> => void floors.push(await promisesAlone({ ...load, callers: 256 }, seconds))
  // A trial by another name takes the place of holdfast in every check.
  const subject = named === 'holdfast' ? (check.subject ?? named) : named
  const plan = {
    load,
    seconds,
    first: FIRST,
    who: [subject, ...others],
    ...(others.length === 0 && { beside }),
  }
  const [ours, ...rest] = (await runRounds(bench, plan)) as [Row, ...Row[]]
  if (ours.note !== undefined) throw new Error(`${name}: ${ours.note}`)
  const floor: Row = { participant: 'promises alone', family: 'floor', version: '', ...medians(floors) }
  const other = bestOf([...rest, floor], () => true, 'rate') ?? floor
  return Object.entries(ratios).map(([text, ratio]) => [`${name}: ${text}`, ratio({ ours, other })])
}

const kept = (): Record<string, number> => (readJson(KEPT) ?? {}) as Record<string, number>

const tooLow = ({ enough = ENOUGH }: Check | Look, name: string, ratio: number): boolean =>
  !(ratio >= enough * (kept()[name] ?? NaN))

/** What is too low is measured again: a machine that did something else meanwhile is no slower program. */
const settle = async (bench: Bench, check: Check | Look, subject: string): Promise<Map<string, number>> => {
  const best = new Map<string, number>()
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    bench.log(`  ${check.name}${attempt > 1 ? `, once more (${attempt} of ${ATTEMPTS})` : ''}`)
    for (const [name, ratio] of await measure(bench, check, subject)) {
      best.set(name, Math.max(best.get(name) ?? 0, ratio))
    }
    if (![...best].some(([name, ratio]) => tooLow(check, name, ratio))) break
  }
  return best
}

export interface GuardOptions {
  readonly checks: readonly string[]
  /** By name: who is looked at. */
  readonly subject: string
  /** Writes what was measured down as what is to be kept. */
  readonly keep: boolean
}

/** Resolves to whether all ratios are as good as those that are kept, or nearly. */
export const guard = async (bench: Bench, { checks, subject, keep }: GuardOptions): Promise<boolean> => {
  const quiet = { ...bench, log: (): void => undefined }
  const rows: string[][] = []
  const measured: Record<string, number> = {}
  const low: string[] = []
  for (const check of [...CHECKS, ...LOOKS].filter(({ name }) => checks.length === 0 || checks.includes(name))) {
    bench.log(check.name)
    const found = keep ? new Map(await measure(quiet, check, subject)) : await settle(quiet, check, subject)
    for (const [name, ratio] of found) {
      const good = keep || !tooLow(check, name, ratio)
      measured[name] = Number(ratio.toPrecision(3))
      const row = [name, format(ratio, 3), format(kept()[name] ?? NaN, 3), good ? 'good' : 'TOO LOW']
      rows.push(row)
      if (!good) low.push(`✘ ${row.join('  ')}`)
    }
  }
  console.log(asLines([['', 'measured', 'kept', ''], ...rows], [0, 3]).join('\n'))
  if (keep) writeFileSync(join(root, KEPT), `${JSON.stringify({ ...kept(), ...measured }, undefined, 2)}\n`)
  else
    console.log(
      `\nA ratio may fall to ${100 * ENOUGH} % of what is kept in ${KEPT}, and the trips of a pair not at all.`,
    )
  for (const line of low) console.log(line)
  return low.length === 0
}
