import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shownAddress } from '#src/cli/shown-address.js'
import { frame, HEIGHT, WIDTH, wrap } from '#src/cli/demo/frame.js'
import { plainLine } from '#src/cli/demo/plain-line.js'
import { paint, plainText } from '#src/cli/text/styled-row.js'
import { Stage } from '#src/cli/demo/stage.js'
import { summary } from '#src/cli/demo/summary.js'

const LOCKS = ['orders', 'invoices', 'printer']
const WORKERS = ['ada', 'bob', 'cleo', 'dan', 'eve', 'finn', 'gus', 'hana']

const picture = (stage: Stage, now: number, where = 'memory:'): string[] =>
  frame(stage, { where, now, end: 10_000 }).map(plainText)

const gets = (stage: Stage, worker: string, lock: string, at: number): void => {
  stage.play({ kind: 'asks', worker, lock }, at)
  stage.play({ kind: 'gets', worker, lock, lease: 2000, fixed: false }, at)
}

const row = (stage: Stage, now: number, lock: string, label: string): string => {
  const lines = picture(stage, now)
  const from = lines.findIndex((line) => line.includes(`─ ${lock} ─`))
  return lines.slice(from).find((line) => line.includes(label)) ?? ''
}

const measured = (stage: Stage, now: number, where?: string): void => {
  const lines = picture(stage, now, where)
  assert.equal(lines.length, HEIGHT)
  for (const line of lines) assert.equal(line.length, WIDTH, line)
}

test('every picture is 80 by 24, an empty one and a crowded one', () => {
  const stage = new Stage(LOCKS)
  measured(stage, 0)
  for (let round = 0; round < 40; round++) {
    const at = round * 250
    for (const lock of LOCKS) {
      const worker = WORKERS[round % WORKERS.length] ?? ''
      gets(stage, worker, lock, at)
      for (const other of WORKERS) if (other !== worker) stage.play({ kind: 'asks', worker: other, lock }, at)
      measured(stage, at + 100)
      for (const other of WORKERS) if (other !== worker) stage.play({ kind: 'gives up', worker: other, lock }, at)
      if (round % 3 === 0) stage.play({ kind: 'crashes', worker, lock }, at + 50)
      else if (round % 3 === 1) stage.play({ kind: 'loses', worker, lock }, at + 50)
      else stage.play({ kind: 'frees', worker, lock }, at + 50)
      stage.play({ kind: 'caption', text: 'word '.repeat(60), tone: 'bad' }, at)
      measured(stage, at + 100)
    }
  }
  stage.checks = 123_456_789
  stage.violations = 1234
  measured(stage, 599_000, 'redis+sentinel://a-very-long-name.example.org:26379')
})

test('no escape code is in a picture before it is painted, and none from outside after', () => {
  const stage = new Stage(LOCKS)
  gets(stage, 'a\x1b[31m\u009b2J\x07', 'orders', 0)
  stage.play({ kind: 'caption', text: 'x\x1b]0;title\x07\ny\u202e', tone: 'plain' }, 0)
  // eslint-disable-next-line no-control-regex
  const codes = /[\x00-\x1f\x7f-\x9f\u202e]/u
  for (const line of frame(stage, { where: 'h\x1bc', now: 0, end: 1 })) {
    assert.doesNotMatch(paint(line, false), codes)
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(paint(line, true).replace(/\x1b\[[\d;]+m/g, ''), codes)
  }
})

test('colours are reset at the end of every painted piece', () => {
  assert.equal(paint([{ text: 'a' }, { text: 'b', style: 'good' }], true), 'a\x1b[32mb\x1b[0m')
  assert.equal(paint([{ text: 'a' }, { text: 'b', style: 'good' }], false), 'ab')
})

test('shows the holder with the time left, and who waits, in order', () => {
  const stage = new Stage(LOCKS)
  gets(stage, 'ada', 'orders', 1000)
  stage.play({ kind: 'asks', worker: 'bob', lock: 'orders' }, 1200)
  stage.play({ kind: 'asks', worker: 'eve', lock: 'orders' }, 1300)
  stage.sample('orders', 1000)
  assert.match(row(stage, 1500, 'orders', 'held by'), /ada {4}█{10}░{10} {2}1\.0 s left, renewed {2}inside 0\.5 s/)
  assert.match(row(stage, 1500, 'orders', 'waiting'), /waiting {2}bob 0\.3 s, eve 0\.2 s/)
  assert.match(row(stage, 1500, 'invoices', 'held by'), /nobody/)
})

test('a crash stays in sight until the next one has the lock, then in the trail', () => {
  const stage = new Stage(LOCKS)
  gets(stage, 'cleo', 'orders', 0)
  stage.play({ kind: 'crashes', worker: 'cleo', lock: 'orders' }, 500)
  stage.sample('orders', 1500)
  assert.match(row(stage, 600, 'orders', 'held by'), /cleo .*1\.5 s left, crashed, not renewed/)
  gets(stage, 'dan', 'orders', 2000)
  assert.match(row(stage, 2000, 'orders', 'held by'), /dan/)
  assert.match(row(stage, 2000, 'orders', 'trail'), /cleo × → dan/)
  assert.deepEqual(stage.crashed, [{ worker: 'cleo', lock: 'orders', at: 500, next: { worker: 'dan', after: 1500 } }])
})

test('a lost hold is shown as lost', () => {
  const stage = new Stage(LOCKS)
  gets(stage, 'finn', 'invoices', 0)
  stage.play({ kind: 'loses', worker: 'finn', lock: 'invoices' }, 900)
  assert.match(row(stage, 950, 'invoices', 'held by'), /finn .*lost: noticed in time, stopped/)
  gets(stage, 'eve', 'invoices', 1000)
  assert.match(row(stage, 1000, 'invoices', 'trail'), /finn ! → eve/)
})

test('a hand-over is counted when another had it before, not when the same one comes back', () => {
  const stage = new Stage(LOCKS)
  for (const worker of ['ada', 'ada', 'bob']) {
    gets(stage, worker, 'printer', 0)
    stage.play({ kind: 'frees', worker, lock: 'printer' }, 10)
  }
  assert.equal(stage.lock('printer').handOvers, 1)
  assert.equal(stage.lock('printer').acquired, 3)
  assert.ok(picture(stage, 0).some((line) => line.includes('printer') && line.includes(' 1 hand-over ')))
})

test('a long trail keeps its end', () => {
  const stage = new Stage(LOCKS)
  for (let turn = 0; turn < 30; turn++) gets(stage, WORKERS[turn % 8] ?? '', 'orders', turn)
  assert.match(row(stage, 100, 'orders', 'trail'), /trail {4}… .* → eve → finn +│$/)
})

test('the footer says that there were never two inside, or cries', () => {
  const stage = new Stage(LOCKS)
  stage.checks = 41
  assert.match(picture(stage, 0).at(-1) ?? '', /never two inside: checked 41 times/)
  stage.violations = 2
  assert.match(picture(stage, 0).at(-1) ?? '', /TWO INSIDE: 2 of 41 checks/)
})

test('captions are wrapped to two lines', () => {
  assert.deepEqual(wrap('a bb ccc', 4, 2), ['a bb', 'ccc'])
  assert.deepEqual(wrap('', 4, 2), ['', ''])
})

test('the plain log has seconds, the lock and the words', () => {
  assert.equal(plainLine({ at: 1234, lock: 'orders', text: 'ada waits', tone: 'plain' }), '  1.23  orders    ada waits')
  assert.equal(plainLine({ at: 0, lock: undefined, text: 'hello', tone: 'plain' }), '  0.00  ## hello')
})

test('the summary names what happened, and what is left', () => {
  const stage = new Stage(LOCKS)
  gets(stage, 'cleo', 'orders', 0)
  stage.play({ kind: 'crashes', worker: 'cleo', lock: 'orders' }, 500)
  gets(stage, 'dan', 'orders', 2000)
  stage.checks = 7
  const text = summary(stage, []).map(plainText).join('\n')
  assert.match(text, /orders +2 +1 +0\.00 s/)
  assert.match(text, /crashed +1 {2}cleo, holding 'orders'; dan acquired it 1\.50 s later/)
  assert.match(text, /lost and noticed +0/)
  assert.match(text, /never two inside +checked 7 times/)
  assert.match(text, /nothing: every lock is free/)
  assert.match(text, /npm test[^]*README\.md/)
  stage.violations = 1
  assert.match(summary(stage, ['orders']).map(plainText).join('\n'), /still held: orders[^]*TWO INSIDE +1 of 7 checks/)
})

test('an address is shown without its password, in doubt not at all', () => {
  const shown: [string, string][] = [
    ['redis://localhost:6379', 'redis://localhost:6379'],
    ['rediss://user:s3cret@example.org:6379/1', 'rediss://example.org:6379/1'],
    ['redis://:p@ss:w/rd@example.org', 'redis://example.org'],
    ['redis+sentinel://u:s3cret@a:1,b:2/main?sentinelPassword=s3cret', 'redis+sentinel://a:1,b:2/main'],
    ['redis+sentinel://a:1/main?sentinelPassword=s@cret', 'the given server'],
    ['redis://u:s3?cret@example.org', 'the given server'],
    ['redis+unix:///run/redis.sock', 'redis+unix:///run/redis.sock'],
    ['s3cret', 'the given server'],
    ['memory:demo', 'the engine embedded in this process'],
  ]
  for (const [url, text] of shown) assert.equal(shownAddress(url), text)
  assert.equal(shownAddress(`redis://${'h'.repeat(100)}`).length, 44)
})
