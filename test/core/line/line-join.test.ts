import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { type Joinable, LineJoin } from '#src/core/line/line-join.js'
import type { Answer, JoinState, LineProtocol } from '#src/core/protocol/line-protocol.js'
import type { Place } from '#src/core/waiting/waiter.js'
import type { LineHost } from '#src/core/waiting/gate-host.js'

const placeOf = (wire: string): Place =>
  ({ wire, waiter: { request: { terms: { lease: 1000 }, wait: Infinity } } }) as unknown as Place

/** A line that everybody joins behind others, but whoever is called 'broken' cannot be told so. */
const stage = () => {
  const clock = virtualClock()
  const asked: string[][] = []
  const told: string[] = []
  const line: Joinable = {
    stays: () => true,
    heard: () => undefined,
    joined: ({ wire }) => {
      if (wire === 'broken') throw new Error('cannot be told')
      told.push(wire)
    },
    troubled: ({ wire }, trouble) => void told.push(`${wire}: ${String(trouble)}`),
  }
  const enqueue = (askers: readonly { owner: string }[]): Promise<Answer<JoinState>> => {
    asked.push(askers.map(({ owner }) => owner))
    return Promise.resolve({ stamp: 1, left: 1000, states: askers.map(() => 'behind others') })
  }
  const runtime = { options: { clock, commandTimeout: 500 }, serverTime: () => ({ latest: undefined }) }
  const host = { runtime, staying: (step: () => Promise<void>) => step() } as unknown as LineHost
  const joining = new LineJoin(host, { key: 'a', enqueue } as unknown as LineProtocol, line)
  return { clock, joining, asked, told, come: (wire: string, patient = false) => joining.join(placeOf(wire), patient) }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

void test('one of those who join cannot be told → the others are', async () => {
  const { asked, told, come } = stage()
  for (const wire of ['a', 'broken', 'b']) come(wire)
  await turn()
  assert.deepEqual(asked, [['a', 'broken', 'b']])
  assert.deepEqual(told, ['a', 'broken: Error: cannot be told', 'b'])
})

void test('more than one question full come while a lock is given back, the last just after → asked for in their order', async () => {
  const { joining, asked, come } = stage()
  const wires = Array.from({ length: 251 }, (_, place) => `w${place}`)
  joining.hold()
  for (const wire of wires.slice(0, 250)) come(wire)
  await turn()
  assert.deepEqual(asked, [])
  joining.go()
  come('w250')
  await turn()
  assert.deepEqual(
    asked.map(({ length }) => length),
    [250, 1],
  )
  assert.deepEqual(asked.flat(), wires)
})

void test('the answer to a release takes long → who waits for it joins 50 ms later all the same', async () => {
  const { clock, joining, asked, come } = stage()
  joining.hold()
  come('a')
  await clock.advance(20)
  // Another release changes nothing of that.
  joining.hold()
  await clock.advance(29)
  assert.deepEqual(asked, [])
  await clock.advance(1)
  await turn()
  assert.deepEqual(asked, [['a']])
})

void test('some who have time come one after the other → they join in one step, 10 ms after the first', async () => {
  const { clock, asked, come } = stage()
  come('a', true)
  await clock.advance(6)
  come('b', true)
  await clock.advance(3)
  await turn()
  assert.deepEqual(asked, [])
  await clock.advance(1)
  await turn()
  assert.deepEqual(asked, [['a', 'b']])
  come('c', true)
  await clock.advance(10)
  await turn()
  assert.deepEqual(asked, [['a', 'b'], ['c']])
})

void test('somebody without time comes behind one who has → both join at once, in their order', async () => {
  const { clock, asked, come } = stage()
  come('a', true)
  come('b')
  await turn()
  assert.deepEqual(asked, [['a', 'b']])
  await clock.advance(20)
  await turn()
  assert.equal(asked.length, 1)
})

void test('a lock is freed while some gather → they join when that is answered', async () => {
  const { clock, joining, asked, come } = stage()
  come('a', true)
  joining.hold()
  come('b', true)
  await clock.advance(20)
  await turn()
  assert.deepEqual(asked, [])
  joining.go()
  await turn()
  assert.deepEqual(asked, [['a', 'b']])
})
