import { holdfast } from '../participants/holdfast.js'
import type { Bench, Scenario } from '../measure/bench.js'
import { columnsFor, compared, timesAsFast } from '../measure/columns.js'
import { Crew } from '../processes/crew.js'
import { digest, violations } from '../measure/digest.js'
import { type Figures, type Row, medians, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'

const PROCESSES = 4
const CALLERS = 8
const LOAD = {
  kind: 'writeLock',
  engine: 'redis',
  processes: PROCESSES,
  callers: CALLERS,
  names: 'one',
  holdMs: 1,
  places: PROCESSES * CALLERS,
  reads: 0.95,
} as const

/** From one to the next, and nothing else. */
const HANDED = { engine: 'redis', processes: PROCESSES, callers: CALLERS, names: 'one', holdMs: 0 } as const
const FAIR = 'holdfast: fair lock, no hold'
const FAIR_WRITES = 'holdfast: fair read-write lock, writes only, no hold'

/** The fair read-write lock beside the fair lock, in turns. */
const handOffs = async (bench: Bench): Promise<Row[]> => {
  const seconds = bench.quick ? 0.4 : 4
  const entries = (['fairLock', 'fairWriteLock'] as const).map((kind) => ({
    name: kind === 'fairLock' ? FAIR : FAIR_WRITES,
    kind,
    figures: [] as Figures[],
    violated: false,
  }))
  for (let round = 0; round < bench.rounds; round++) {
    for (const entry of round % 2 === 0 ? entries : [...entries].reverse()) {
      const crew = await Crew.open(holdfast, bench.server!.redis.url, { ...HANDED, kind: entry.kind })
      try {
        const samples = await crew.work({ startAt: Date.now() + 30, warm: bench.quick ? 0.4 : 3, seconds })
        entry.violated ||= violations(samples) > 0
        entry.figures.push(digest(samples, seconds))
      } finally {
        await crew.end()
      }
    }
  }
  const rows = entries.map(({ name, figures, violated }): Row => ({
    ...{ participant: name, family: 'holdfast', version: holdfast.version() ?? '' },
    ...medians(figures),
    ...(violated && { note: 'VIOLATED' }),
  }))
  return compared(rows, () => undefined)
}

export const rw: Scenario = {
  id: 'rw',
  title: 'RW: one read-write lock, 4 processes × 8 callers, 95 % reads, held for 1 ms',
  headline: { what: 'read-write lock, 95 % reads: acquisitions/s', key: 'rate', digits: 0 },
  about: {
    measures:
      'Each of 32 callers reads 19 times of 20, and writes else. That writers are alone is checked from when each caller was ' +
      'inside, by the one clock of the machine; readers may be in together, and a round lasts as long as its slowest. Below, ' +
      'how fast the fair lock and the writing side of the fair read-write lock go from one to the next, with no hold time.',
    differs:
      'Readers of one process ask together in ours, each for itself in Redisson. In ours readers and writers take turns where ' +
      'both wait; in Redisson who comes first has it, and a writer waits for a gap between readers.',
    misleads:
      'The more the writers are starved, the more reads there are in a second: but each caller must have written before it ' +
      'reads on, so the writers’ waits bound the rate. Look at p99 and max. When a write ends, Redisson wakes those of its ' +
      'threads that sleep just then; one that is on the way to sleep misses that, and sleeps for the rest of the lease if ' +
      'nobody comes after it. The last turns of a round are waited for for 5 s, and who sleeps on is counted. Eight threads of Redisson’s in each process ' +
      'block; ours do not. The CPU of the client includes the threads that sleep for the holds, alike for all.',
  },
  needsServer: true,
  async run(bench) {
    const rows = compared(await runRounds(bench, { load: LOAD, seconds: 4 }), () => undefined)
    const handed = await handOffs(bench)
    return {
      columns: columnsFor('acquisition', undefined, [{ key: 'hold', title: 'hold ms', digits: 2 }]),
      rows: [...rows, ...handed],
      targets: [
        target('≥ 2 × Redisson', timesAsFast(rows, 'holdfast', 'Redisson'), (value) => value >= 2),
        target(
          'the fair lock ≤ 1.3 × its hand-offs/s',
          timesAsFast(handed, FAIR, FAIR_WRITES),
          (value) => value <= 1.3,
        ),
      ],
    }
  },
}
