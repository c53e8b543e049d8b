import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { behind, HOLDS_PER_PAGE, newPage, type Place, SharedProof } from '#src/core/hold/proof-between-threads.js'

const EXACTLY = { least: 0, most: 0 }

const two = (place: Place = { page: newPage(), index: 0 }, clocks = EXACTLY): [SharedProof, SharedProof] => [
  new SharedProof(place, 7, 0, clocks),
  new SharedProof(place, 7, 1, clocks),
]

void test('each side hears the newest of the other, once', () => {
  const [one, other] = two()
  assert.equal(other.hear(), undefined)
  one.tell({ mono: 1, wall: 2 }, 3)
  one.tell({ mono: 4, wall: 5 }, 6)
  assert.deepEqual(other.hear(), { mono: 4, wall: 5, left: 6 })
  assert.equal(other.hear(), undefined)
  other.tell({ mono: 10, wall: 11 }, -2)
  assert.deepEqual(one.hear(), { mono: 10, wall: 11, left: -2 })
})

void test('the clocks of two threads are never so compared that a proof seems younger', () => {
  const [one, other] = two(undefined, { least: 99.9, most: 100.1 })
  one.tell({ mono: 50, wall: 0 }, 1)
  assert.ok(Math.abs((other.hear()?.mono ?? NaN) - 49.8) < 1e-6)
})

void test('`behind` encloses the difference of the clocks', () => {
  const clock = virtualClock(1)
  assert.deepEqual(
    behind(clock, () => clock.monotonic() + 5),
    { least: 5, most: 5 },
  )
})

void test('what was told of an earlier hold in the same place does not count', () => {
  const place = { page: newPage(), index: HOLDS_PER_PAGE - 1 }
  const [one] = two(place)
  const later = new SharedProof(place, 8, 1, EXACTLY)
  one.tell({ mono: 1, wall: 2 }, 3)
  assert.equal(later.hear(), undefined)
})

void test('neighbours do not disturb one another', () => {
  const page = newPage()
  const pairs = Array.from({ length: HOLDS_PER_PAGE }, (_, index) => two({ page, index }))
  pairs.forEach(([one, other], i) => {
    one.tell({ mono: i, wall: i }, i)
    other.tell({ mono: -i, wall: -i }, -i)
  })
  pairs.forEach(([one, other], i) => {
    assert.deepEqual(other.hear(), { mono: i, wall: i, left: i })
    assert.equal(one.hear()?.left, -i)
  })
})

void test('a half that is being written is not believed, and can be written again after its thread has died', () => {
  const place = { page: newPage(), index: 0 }
  const [one, other] = two(place)
  one.tell({ mono: 1, wall: 2 }, 3)
  new Int32Array(place.page)[0]! += 1
  assert.equal(other.hear(), undefined)
  one.tell({ mono: 4, wall: 5 }, 6)
  assert.deepEqual(other.hear(), { mono: 4, wall: 5, left: 6 })
})
