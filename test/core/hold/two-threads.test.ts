import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { momentOf } from '#src/base/clock.js'
import { ReleaseCallerLimit } from '#src/core/hold/release-caller-limit.js'
import { newPage, SharedProof } from '#src/core/hold/proof-between-threads.js'
import { type TenureHost, Tenure } from '#src/core/hold/tenure.js'

const LEASE = 30_000
const EXACTLY = { least: 0, most: 0 }

/** A hold, and the side of the other thread. */
const shared = () => {
  const clock = virtualClock(1)
  const heard: string[] = []
  const never = (): never => assert.fail('nobody asks for this')
  const runtime: TenureHost['runtime'] = {
    options: { clock },
    releases: new ReleaseCallerLimit(clock, LEASE),
    watchdog: { moved: () => undefined, leftOf: never },
    lockEvents: {
      lost: never,
      doubted: () => void heard.push('doubted'),
      renewed: () => void heard.push('renewed'),
    },
    retry: { insist: never },
    unanswered: { add: never },
    writes: false,
    untilClosed: never,
  }
  const host: TenureHost = {
    ...{ name: 'a', kind: { name: 'lock' }, runtime, protocol: { key: 'a' } as TenureHost['protocol'] },
    ...{ lost: () => void heard.push('lost'), giveBack: never, ticketOf: never, detach: never },
  }
  const tenure = new Tenure(host, 'wire', { lease: LEASE, watched: true }, momentOf(clock))
  const place = { page: newPage(), index: 0 }
  tenure.shared = new SharedProof(place, 1, 0, EXACTLY)
  const other = new SharedProof(place, 1, 1, EXACTLY)
  return { clock, heard, tenure, other }
}

void test('the deadline moves by what the other thread has proven, and no further', async () => {
  const { clock, heard, tenure, other } = shared()
  await clock.advance(12_000)
  other.tell(momentOf(clock), LEASE)
  await clock.advance(20_000)
  assert.equal(tenure.status(), 'uncertain', 'more than half of the renewed lease is over')
  assert.equal(tenure.remaining(), 12_000 + LEASE - 500 - 32_000)
  await clock.advance(9500)
  assert.equal(tenure.status(), 'lost')
  assert.deepEqual(heard, ['renewed', 'lost'])
})

void test('a longer lease than was asked for is not believed', async () => {
  const { clock, tenure, other } = shared()
  await clock.advance(1)
  other.tell(momentOf(clock), 10 * LEASE)
  assert.equal(tenure.remaining(), LEASE - 500)
})

void test('what the other thread finds lost is lost at once', () => {
  const { clock, heard, tenure, other } = shared()
  other.tell(momentOf(clock), -2)
  assert.equal(tenure.remaining(), 0)
  assert.ok(tenure.taken)
  assert.deepEqual(heard, ['lost'])
})

void test('an answer that was not read for long does not undo what the other thread has proven since', async () => {
  const { clock, tenure, other } = shared()
  await clock.advance(10_000)
  const sent = momentOf(clock)
  await clock.advance(22_000)
  other.tell(momentOf(clock), LEASE)
  await clock.advance(10_000)
  assert.equal(tenure.status(), 'held')
  assert.equal(tenure.found(sent, LEASE), true)
  assert.equal(tenure.status(), 'held')
  assert.equal(tenure.remaining(), LEASE - 500 - 10_000)
})

void test('after a reconnect here, only an answer here counts', async () => {
  const { clock, tenure, other } = shared()
  await clock.advance(1000)
  tenure.question(momentOf(clock), new Error('another server may answer'))
  await clock.advance(1000)
  other.tell(momentOf(clock), LEASE)
  assert.equal(tenure.status(), 'uncertain')
  assert.equal(tenure.remaining(), LEASE - 500 - 2000)
  assert.equal(tenure.found(momentOf(clock), LEASE), true)
  assert.equal(tenure.status(), 'held')
})
