import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isSameCycle, type NestedWait, victimOf, WaitGraph } from '#src/core/listing/cycles.js'

/** `a: B < A`: the call `a` waits for B, and its owner holds A. */
const waitsOf = (...lines: readonly string[]): NestedWait[] =>
  lines.map((line, since) => {
    const [id = '', blockedBy = '', holds = ''] = line.split(/[:<]/).map((part) => part.trim())
    const names = (text: string): string[] => text.split(' ').filter((name) => name !== '')
    return { id, since, mayBreak: true, blockedBy: names(blockedBy), holds: names(holds) }
  })

const cycle = (start: string, ...lines: readonly string[]): string | undefined =>
  new WaitGraph(waitsOf(...lines))
    .cycleOf(start)
    ?.map(({ id }) => id)
    .join(' ')

void describe('cycles of waits', () => {
  for (const [what, start, lines, found] of [
    ['two calls, opposite orders', 'a', ['a: B < A', 'b: A < B'], 'a b'],
    ['seen from the other one → the same', 'b', ['a: B < A', 'b: A < B'], 'a b'],
    ['three in a circle', 'c', ['c: A < C', 'a: B < A', 'b: C < B'], 'a b c'],
    ['a call that waits for its own hold', 'a', ['a: A < A'], 'a'],
    ['the holder runs → none', 'a', ['a: B < A', 'b: C < B'], undefined],
    ['behind a cycle, but not in it → none', 'x', ['x: A < X', 'a: B < A', 'b: A < B'], undefined],
    ['two readers, one of them is stuck: a writer waits for both', 'w', ['w: R1 R2 < W', 'r: W < R1'], 'r w'],
    ['a hold with two waits, one of which may end → none', 'a', ['a: B < A', 'b: A < B', 'b2: C < B'], undefined],
    ['a hold with two waits, both stuck', 'a', ['a: B < A', 'b: A < B', 'b2: A < B'], 'a b'],
    ['an unknown call → none', 'z', ['a: B < A', 'b: A < B'], undefined],
  ] as const)
    test(`${what} → ${found ?? 'none'}`, () => assert.equal(cycle(start, ...lines), found))

  test('the order in which the waits were read → makes no difference', () => {
    const lines = ['a: B D < A', 'b: A < B', 'd: A < D', 'e: A < E']
    for (const start of ['a', 'b', 'd', 'e'])
      assert.equal(cycle(start, ...lines), cycle(start, ...[...lines].reverse()), start)
  })

  test('the victim → the youngest of those that may be rejected', () => {
    const waits = waitsOf('a: B < A', 'b: C < B', 'c: A < C')
    assert.equal(victimOf(waits), 2)
    assert.equal(victimOf(waits.map((wait) => ({ ...wait, mayBreak: wait.id !== 'c' }))), 1)
    assert.equal(victimOf(waits.map((wait) => ({ ...wait, mayBreak: false }))), undefined)
    assert.equal(victimOf(waits.map((wait) => ({ ...wait, since: 1 }))), 2)
  })

  test('the second look → the same waits and holds, or another cycle', () => {
    const [first, again, other] = [
      waitsOf('a: B < A', 'b: A < B'),
      waitsOf('a: B < A', 'b: A < B'),
      waitsOf('a: B2 < A', 'b: A < B2'),
    ]
    assert.ok(isSameCycle(first, again))
    assert.ok(!isSameCycle(first, other), 'the lock was released and acquired in between')
    assert.ok(!isSameCycle(first, waitsOf('a: B < A', 'c: A < B')))
    assert.ok(!isSameCycle(first, first.slice(1)))
  })
})
