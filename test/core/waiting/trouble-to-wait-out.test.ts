import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { EngineError } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { troublePause, waitsOut } from '#src/core/waiting/trouble-to-wait-out.js'
import { POLL } from '#src/script-times-and-limits.js'

const EXTREMES = [0, 0.999_999] as const

const error = (code: EngineError['code']) => new EngineError(code, 'trouble')

void describe('which trouble a call waits out', () => {
  const cases: [code: EngineError['code'], wait: number, answered: boolean, waits: boolean][] = [
    // One that the server has answered waits out whatever may pass, however long it waits.
    ['OFFLINE', Infinity, true, true],
    ['LOADING', 1000, true, true],
    // One with a time limit does so from the first question on, one without does not; a single try never waits.
    ['OFFLINE', 1000, false, true],
    ['OFFLINE', Infinity, false, false],
    ['OFFLINE', 0, false, false],
    // Slots that move arrive.
    ['TRYAGAIN', Infinity, false, true],
    ['ASK', Infinity, false, true],
    ['TRYAGAIN', 0, false, false],
    // These do not pass.
    ['NOPERM', 1000, true, false],
    ['WRONG_KIND', Infinity, true, false],
  ]
  for (const [code, wait, answered, waits] of cases)
    void test(`${code}, wait ${wait}, ${answered ? '' : 'not '}answered before → ${waits ? 'waits' : 'rejects'}`, () => {
      assert.equal(waitsOut(error(code), { wait }, answered), waits)
    })
})

void describe('the pause after trouble', () => {
  void test('drawn from a quarter either way, longer each time, a poll at most', () => {
    let before = 0
    for (let troubles = 0; troubles < 2000; troubles = troubles < 8 ? troubles + 1 : 10 * troubles) {
      const [least, most] = EXTREMES.map((random) => troublePause({ random: () => random }, troubles)) as [
        number,
        number,
      ]
      const middle = (least + most) / 2
      assert.ok(Math.abs(least / middle - 0.75) < 0.01, `${least} of ${middle}`)
      assert.ok(Math.abs(most / middle - 1.25) < 0.01, `${most} of ${middle}`)
      assert.ok(middle >= before && most <= POLL, `${middle} after ${before}`)
      before = middle
    }
    assert.ok(Math.abs(before - 0.8 * POLL) < 1, String(before))
  })

  void test('clients that meet the same trouble in the same moment → they do not ask again in the same moment', () => {
    const fleet = Array.from({ length: 40 }, (_, seed) => virtualClock(seed))
    for (const troubles of [0, 1, 4, 20]) {
      const pauses = fleet.map((clock) => troublePause(clock, troubles))
      const middle = Math.min(50 * 2 ** troubles, 0.8 * POLL)
      assert.ok(new Set(pauses.map((ms) => Math.floor(ms))).size > 10, pauses.join(' '))
      assert.ok(Math.max(...pauses) - Math.min(...pauses) > 0.3 * middle, pauses.join(' '))
    }
  })
})
