import { resolve } from 'node:path'
import { before, holdfast } from './participants/holdfast.js'
import type { Bench } from './measure/bench.js'
import type { Load } from './base/load.js'
import { type Row, format } from './base/result.js'
import { runRounds } from './measure/rounds.js'
import { median, quantile } from './base/stats.js'
import { asLines } from './output/table.js'

/** As many rounds as tell 3 % apart here, when nobody says how many. */
const ROUNDS = 30

const one = { kind: 'lock', engine: 'redis', processes: 1, callers: 1, names: 'one', holdMs: 0 } as const
const four = { ...one, processes: 4, callers: 8 } as const

/** The loads of the scenarios of the same names. */
const LOADS: Readonly<Record<string, Load>> = {
  u1: { ...one, names: 'each' },
  u64: { ...one, callers: 64, names: 'each' },
  c: { ...four, holdMs: 2 },
  h: { ...one, callers: 256 },
  cf: { ...four, kind: 'fairLock', holdMs: 2 },
  f32: { ...four, kind: 'fairLock' },
  s: { ...four, kind: 'semaphore', places: 4, holdMs: 2 },
  rw: { ...four, kind: 'writeLock', places: 32, reads: 0.95, holdMs: 1 },
}

/** Round by round, so that what slows both leaves the ratio alone. */
const ratioOf = (key: string, now: Row, then: Row): readonly number[] =>
  (now.rounds[key] ?? []).map((value, round) => value / (then.rounds[key]?.[round] ?? NaN))

/** This build and another one in turns: how many times as fast this one is, and what it costs, for each load. */
export const beside = async (bench: Bench, [folder, ...names]: readonly string[], seconds: number): Promise<void> => {
  process.env['HOLDFAST_BEFORE'] = resolve(folder ?? '.')
  const chosen = names.length > 0 ? names.map((name) => name.toLowerCase()) : Object.keys(LOADS)
  const rows = [['', 'rate', 'half of the rounds', 'client CPU', 'server CPU', 'requests', 'p99 wait']]
  for (const name of chosen) {
    const load = LOADS[name]
    if (load === undefined) throw new Error(`beside: no load '${name}'; there are ${Object.keys(LOADS).join(', ')}`)
    bench.log(name)
    const rounds = bench.rounds > 3 ? bench.rounds : ROUNDS
    const plan = { load, seconds, who: [holdfast.name, before.name] }
    const [now, then] = (await runRounds({ ...bench, rounds, log: () => undefined }, plan)) as [Row, Row]
    const note = now.note ?? then.note
    if (note !== undefined) throw new Error(`${name}: ${note}`)
    const of = (key: string): string => format(median(ratioOf(key, now, then)), 3)
    const sorted = [...ratioOf('rate', now, then)].sort((a, b) => a - b)
    const half = `${format(quantile(sorted, 0.25), 2)}–${format(quantile(sorted, 0.75), 2)}`
    rows.push([name, of('rate'), half, of('clientCpu'), of('serverCpu'), of('requests'), of('p99')])
  }
  console.log(`This build for each of the other one's:\n${asLines(rows, [0]).join('\n')}`)
}
