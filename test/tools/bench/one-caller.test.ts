import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { holdfast } from '../../../bench/participants/holdfast.js'
import { greedy, leaky } from '../../../bench/participants/trials.js'
import { picturesOf } from '../../../bench/output/pictures.js'
import { p } from '../../../bench/scenarios/p.js'
import { judged, measured } from '../../../bench/scenarios/p/measured.js'
import { targetsOf } from '../../../bench/scenarios/p/targets.js'
import { SORTS, type Trial, nameOf, trialsOf } from '../../../bench/scenarios/p/trials.js'
import type { Bench } from '../../../bench/measure/bench.js'
import type { Row, Target } from '../../../bench/base/result.js'
import { ServerMeter } from '../../../bench/measure/server-meter.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const trialOf = (kind: string, clients = 3, holdMs = 1): Trial => ({
  ...{ sort: SORTS.find((sort) => sort.kind === kind)!, clients, holdMs },
})

const LOCK = trialOf('lock')
const FAIR = trialOf('fairLock')
const LIMITER = trialOf('limiter', 3, 0)

const targetNamed = (targets: readonly Target[], text: RegExp): Target => targets.find((one) => text.test(one.text))!

describe('P, with three processes', () => {
  let redis: RedisServer
  let bench: Bench

  before(async () => {
    redis = await startRedis()
    const server = { redis, meter: new ServerMeter(redis.url) }
    bench = { quick: true, rounds: 1, server, log: () => undefined }
  })
  after(async () => {
    bench.server?.meter.end()
    await redis.stop()
  })

  const rowsOf = (one: Trial, ...who: string[]): Promise<Row[]> => measured(bench, one, { who, seconds: 1 })

  it('marks who does not exclude', async () => {
    // It lets one of a hundred in, and on a busy machine a process has fewer visits than that in a second.
    const marks: (string | undefined)[] = []
    while (marks.length < 8 && marks.at(-1) === undefined) marks.push((await rowsOf(LOCK, leaky.name))[0]!.note)
    assert.equal(marks.at(-1), 'VIOLATED')
  })

  it('sees who is starved by one that excludes', async () => {
    const rows = await rowsOf(LOCK, greedy.name, holdfast.name)
    assert.deepEqual(
      rows.map(({ participant, note }) => [participant, note]),
      [
        [`lock, 3 clients, 1 ms: ${greedy.name}`, undefined],
        ['lock, 3 clients, 1 ms: holdfast', undefined],
      ],
    )
    const unfair = rows[0]!.cells
    assert.equal(unfair['least'], 0)
    assert.ok(unfair['most']! > 20 && unfair['share']! < 0.1, 'one of them had it all the time')
    assert.ok(unfair['longest']! >= 1000, 'who was never served in the counted time waited for all of it')
    assert.ok(unfair['late']! > 10)
    const ours = rows[1]!.cells
    for (const key of ['rate', 'ratio', 'scripts', 'requests', 'commands', 'serverCpu', 'clientCpu', 'p50', 'p99']) {
      assert.ok(ours[key]! > 0, key)
    }
    const targets = targetsOf(rows, [LOCK], greedy.name)
    for (const text of [/^least ÷ most/, /^longest wait/]) {
      const { reached, measured: worst } = targetNamed(targets, text)
      assert.equal(reached, false)
      assert.match(worst, /trial: keeps it\); 1 of 1 rows missed/)
    }
    assert.equal(targetNamed(targetsOf(rows, [LOCK], leaky.name), /^nobody inside together/).reached, false)
  })

  it('has the fair lock beside the plain kinds: all are served alike', async () => {
    const [row] = await rowsOf(FAIR, holdfast.name)
    assert.equal(row!.note, undefined)
    assert.ok(row!.cells['share']! > 0.5, 'within what a busy machine does to three processes')
    assert.ok(row!.cells['scripts']! < 5)
  })

  it('says what is left out when the time is over, and does not take it for a target reached', async () => {
    const rows = await measured(bench, LOCK, { who: [holdfast.name], until: 0 })
    assert.match(rows[0]!.note!, /^failed: left out/)
    assert.ok(targetsOf(rows, [LOCK]).every(({ text, reached }) => !reached || text.startsWith('no peer')))
  })
})

describe('P, what it makes of its figures', () => {
  const rowOf = (participant: string, cells: Row['cells'], family = 'holdfast'): Row => ({
    ...{ participant, family, version: '', rounds: {}, cells },
  })

  it('counts the visit that the end may have cut off to who has least', () => {
    const shareOf = (least: number, most: number): number =>
      judged(rowOf('one', { rate: 1, least, most }), LOCK, 1).cells['share']!
    assert.deepEqual([shareOf(2, 3), shareOf(0, 50), shareOf(49, 99), shareOf(0, 1)], [1, 0.02, 50 / 99, NaN])
  })

  it('compares the longest wait with that of a line in which all stand once', () => {
    const late = (one: Trial, cells: Row['cells']): number =>
      judged(rowOf('one', { rate: 500, longest: 30, hold: 1.5, trip: 0.5, ...cells }), one, 1).cells['late']!
    assert.equal(late(LOCK, {}), 30 / (3 * 2))
    assert.equal(late(trialOf('semaphore'), {}), 30 / 3)
    assert.equal(late(LIMITER, {}), 30 / 15)
    assert.equal(late(trialOf('lock', 3, 0), {}), 30 / 6)
  })

  it('marks a limiter that grants more than its rate', () => {
    const noteOf = (rate: number): string | undefined => judged(rowOf('one', { rate }), LIMITER, 5).note
    assert.deepEqual([noteOf(200), noteOf(240), noteOf(250)], [undefined, undefined, 'VIOLATED'])
  })

  it('names a peer that is above us', () => {
    const named = (who: string, cells: Row['cells'], family?: string): Row =>
      rowOf(`${nameOf(LOCK)}: ${who}`, { rate: 100, share: 0.9, longest: 50, ...cells }, family)
    const last = (...rows: Row[]): Target => targetsOf(rows, [LOCK]).at(-1)!
    assert.equal(last(named('holdfast', {}), named('redlock 5', {}, 'redlock 5')).reached, true)
    const { reached, text } = last(named('holdfast', {}), named('redlock 5', { rate: 120 }, 'redlock 5'))
    assert.equal(reached, false)
    assert.match(text, /redlock 5, lock, 3 clients, 1 ms: visits$/)
  })

  it('has every kind with every number of clients, in a run that is bounded, and by name all others', () => {
    const usual = trialsOf({ quick: false, only: undefined })
    for (const sort of SORTS) {
      const sizes = usual.filter((one) => one.sort === sort).map(({ clients }) => clients)
      assert.deepEqual([...new Set(sizes)], [4, 16, 64, 256, 1024])
    }
    assert.ok(trialsOf({ quick: true, only: undefined }).length < usual.length / 3)
    assert.deepEqual(trialsOf({ quick: false, only: 'fair lock, 16' }).map(nameOf).length, 3)
    assert.deepEqual(trialsOf({ quick: false, only: 'lock, 4 clients, 20' }).map(nameOf), ['lock, 4 clients, 20 ms'])
  })

  it('is drawn: requests and longest waits of the lock, and the scripts of our kinds', () => {
    const cells = { rate: 100, requests: 4, scripts: 3, late: 2 }
    const named = (kind: string, clients: number, who: string): Row =>
      rowOf(`${nameOf(trialOf(kind, clients, 5))}: ${who}`, cells, who)
    const all = ['lock', 'fairLock'].flatMap((kind) =>
      [4, 1024].flatMap((clients) => ['holdfast', 'redlock 5'].map((who) => named(kind, clients, who))),
    )
    const conditions = { date: '', quick: true, rounds: 1, node: '', platform: '', cpu: '', cores: 2, load: 0 }
    const pictures = picturesOf({ ...p, columns: [], rows: all, targets: [], conditions }, p.headline)
    assert.deepEqual(
      pictures.map(([name]) => name),
      ['p-requests', 'p-late', 'p-kinds'],
    )
    assert.match(pictures[2]![1], />fair lock</)
  })
})
