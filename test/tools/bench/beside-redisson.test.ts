import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { picturesOf } from '../../../bench/output/pictures.js'
import { KINDS, TRIALS, type Trial, rowsOf, targetsOf, xk } from '../../../bench/scenarios/xk.js'
import { CALLERS, type Told } from '../../../bench/measure/beside-redisson.js'
import type { Row } from '../../../bench/base/result.js'
import { failuresOf, sampleOf, visitsOf } from '../../../bench/measure/visits.js'
import { INTEROP } from '../../suites/interop/support/build.js'
import type { WorkEvent } from '../../suites/interop/support/java-lock.js'

const step = (worker: string, event: WorkEvent['event'], at: number, more: Partial<WorkEvent> = {}): WorkEvent => ({
  ...{ worker, event, at, ...more },
})

type Times = readonly [asked: number, had: number, left: number]

/** One visit. */
const visit = (worker: string, [asked, had, left]: Times, mode: 'read' | 'write' = 'write') => [
  step(worker, 'invoke', asked, { mode }),
  step(worker, 'granted', had),
  step(worker, 'releasing', left),
  step(worker, 'released', left),
]

const STRETCH = { from: 100, until: 200, end: 250 }

describe('what workers tell of their visits', () => {
  const sampled = (...events: WorkEvent[]) => sampleOf(visitsOf(events), 2, STRETCH)

  it('counts who came in while it counts, for each of them', () => {
    const { pairs, total, visits, held } = sampled(
      ...[...visit('w0', [0, 90, 99]), ...visit('w0', [99, 110, 120])],
      ...[...visit('w1', [90, 120, 190]), ...visit('w1', [190, 210, 220])],
    )
    assert.deepEqual({ pairs, total, visits, held }, { pairs: 2, total: 4, visits: [1, 1], held: 99 })
  })

  it('has the whole wait of who began to wait before, and of who waits still', () => {
    const { waits, asleep } = sampled(...visit('w0', [10, 150, 160]), step('w1', 'invoke', 20))
    assert.deepEqual([...waits], [140, 230])
    assert.equal(asleep, 1)
  })

  it('has no wait that was over before, or began after', () => {
    assert.deepEqual([...sampled(...visit('w0', [10, 50, 60]), ...visit('w0', [205, 210, 215])).waits], [])
  })

  it('tells failures in words', () => {
    const events = [...visit('w0', [0, 1, 2]), step('w0', 'refused', 3, { reason: 'NO_REPLY' }), step('w1', 'lost', 4)]
    assert.deepEqual(failuresOf(events), ['NO_REPLY', 'lost'])
  })
})

describe('XK', () => {
  it('has every kind that the Java side knows, and says why where it is not measured', () => {
    const source = readFileSync(join(INTEROP, 'java/src/main/java/holdfast/interop/Kinds.java'), 'utf8')
    const known = [...source.matchAll(/(?:Map\.entry|startsWith)\("(\w+):?"/g)].map(([, kind]) => kind!)
    const locks = known.filter((kind) => !/topic/i.test(kind) && kind !== 'read')
    assert.ok(locks.length >= 14)
    const measured = KINDS.map(({ java }) => java.split(':')[0]!)
    assert.deepEqual([...new Set(measured)].sort(), locks.sort())
    assert.deepEqual(
      KINDS.filter(({ cannot }) => cannot !== undefined).map(({ name }) => name),
      ['latch'],
    )
    assert.ok(
      KINDS.some(({ reads = 0 }) => reads > 0),
      'reads are those of a read-write lock',
    )
  })

  const trialOf = (kind: string): Trial => TRIALS.find(({ kind: { name } }) => name === kind)!

  /** One of Redisson's in the first process, one of ours in the first one of ours. */
  const told = (theirs: WorkEvent[], ours: WorkEvent[]): Told => ({
    ...{ theirs: [theirs, []], ours: [ours, []], stretch: STRETCH },
  })

  const rows = (kind: string, theirs: WorkEvent[], ours: WorkEvent[]): Row[] =>
    rowsOf(trialOf(kind), told(theirs, ours), 1)

  it('tells the share of Redisson’s, and what each side waited for against the holds of all others', () => {
    const ours = [...visit('w0', [100, 110, 112]), ...visit('w0', [112, 118, 120]), ...visit('w1', [100, 120, 122])]
    const [row] = rows('lock', visit('w0', [100, 130, 132]), ours)
    const { javaShare, rate, due, javaMax, ourMax, apart, wrongs } = row!.cells
    assert.deepEqual({ javaShare, rate, due }, { javaShare: 25, rate: 4, due: (4 * CALLERS - 1) * 2 })
    assert.deepEqual({ javaMax, ourMax, apart, wrongs }, { javaMax: 30, ourMax: 20, apart: 1.5, wrongs: 0 })
    assert.equal(row!.note, undefined)
  })

  it('marks who was inside together, unless all of them may be', () => {
    const [one, other] = [visit('w0', [100, 110, 130]), visit('w0', [100, 120, 140])]
    assert.equal(rows('lock', one, other)[0]!.note, 'VIOLATED')
    assert.equal(rows('semaphore of 3', one, other)[0]!.note, undefined)
    const [reader, another] = [visit('w0', [100, 110, 130], 'read'), visit('w0', [100, 120, 140], 'read')]
    assert.equal(rows('read-write', reader, another)[0]!.note, undefined)
    assert.deepEqual(
      rows('read-write', reader, other).map(({ participant, note }) => [participant, note]),
      [
        ['read-write, ≤ 3 ms: reads', 'VIOLATED'],
        ['read-write, ≤ 3 ms: writes', 'VIOLATED'],
      ],
    )
  })

  it('says which calls failed, and who was never served again', () => {
    const failing = [...visit('w0', [100, 110, 112]), step('w1', 'failed', 120, { reason: 'not owner' })]
    assert.match(rows('lock', failing, visit('w0', [100, 115, 116]))[0]!.note!, /^calls that failed: 1, by not owner/)
    const starved = [...visit('w0', [100, 110, 112]), step('w1', 'invoke', 100)]
    const [row] = rows('lock', visit('w0', [100, 115, 116]), starved)
    assert.match(row!.note!, /^callers never served again: 1/)
    assert.equal(row!.cells['ourMax'], 150)
  })

  const rowOf = (participant: string, javaShare: number, apart: number, wrongs = 0): Row => ({
    ...{ participant, family: 'mixed', version: '', rounds: {} },
    cells: { rate: 1, javaShare, apart, wrongs, javaMax: 1000, ourMax: 1000 / apart },
  })
  const failed: Row = { ...rowOf('gone', 0, 0), cells: {}, note: 'failed: no answer' }
  const cannot: Row = { ...failed, note: 'cannot: no java' }

  it('names the worst row of a target that is missed', () => {
    const [share, apart, wrongs] = targetsOf([rowOf('even', 50, 1), rowOf('theirs', 80, 2), rowOf('ours', 5, 4)])
    assert.deepEqual([share!.reached, apart!.reached, wrongs!.reached], [false, false, true])
    assert.match(share!.measured, /^5\.0 % \(ours\); 2 of 3/)
    assert.match(apart!.measured, /^4\.0 ×: 1,000 ms and ours 250 ms \(ours\); 1 of 3/)
  })

  it('takes a row in which one side never came in for one that misses', () => {
    const [share, apart] = targetsOf([rowOf('even', 50, 1), rowOf('ours alone', 0, NaN)])
    assert.match(share!.measured, /^0\.0 % \(ours alone\); 1 of 2/)
    assert.match(apart!.measured, /^1\.0 ×: .*\(even\); 1 of 2/)
    assert.deepEqual([share!.reached, apart!.reached], [false, false])
  })

  it('does not take a failed row for a good one, nor nothing for anything', () => {
    const reached = (...all: Row[]): boolean[] => targetsOf(all).map((one) => one.reached)
    assert.deepEqual(reached(rowOf('even', 50, 1), cannot), [true, true, true])
    assert.deepEqual(reached(rowOf('even', 50, 1), failed), [false, false, false])
    assert.deepEqual(reached(cannot), [false, false, false])
  })

  it('is drawn: a bar for each row that was measured, and where a share is fair', () => {
    const conditions = { date: '', quick: true, rounds: 1, node: '', platform: '', cpu: '', cores: 2, load: 0 }
    const all = { columns: [], rows: [rowOf('even', 50, 1), rowOf('ours', 5, 4), cannot], targets: [] }
    const [[name, svg] = ['', '']] = picturesOf({ ...xk, ...all, conditions }, xk.headline)
    assert.equal(name, 'xk-shares')
    assert.equal(svg.match(/class="peer"/g)?.length, 2)
    assert.equal(svg.match(/class="mark"/g)?.length, 2)
    assert.match(svg, /5 %; 1\.0 s and 0\.3 s/)
  })
})
