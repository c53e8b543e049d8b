import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { coresOf, ENOUGH, limitsOf } from '#src/cli/bench/plan/cost.js'
import { capacityOf, demandOf, type Load, requestsOf } from '#src/cli/bench/plan/demand.js'

const LOAD: Load = { clients: 100, locks: 1000, rate: 1000, hold: 19, trip: 1, lease: 30_000 }
const near = (value: number, expected: number, part = 0.02): void => {
  assert.ok(Math.abs(value / expected - 1) <= part, `${value}, not ${expected}`)
}

void describe('what a load asks of a server', () => {
  void test('more locks than clients: nobody waits, an acquisition is two requests, and nobody is woken up', () => {
    const demand = demandOf(LOAD)
    assert.deepEqual([demand.visits, demand.busy, demand.contended], [1000, 0.02, 0])
    assert.deepEqual([demand.wait, demand.waiting, demand.messages], [1, 0, 0])
    assert.deepEqual(demand.requests.visits, 2000)
    assert.deepEqual([demand.holds, capacityOf(LOAD)], [19, 50_000])
  })

  void test('all want one lock at once: it is always busy, each waits for all others, and each hold is a message', () => {
    const demand = demandOf({ ...LOAD, locks: 1, rate: Infinity })
    assert.deepEqual([demand.visits, demand.busy, demand.messages], [50, 1, 50])
    assert.equal(demand.wait, 100 * 20 - 19 - 1)
    near(demand.waiting, 99)
    assert.equal(demand.requests.visits, 150)
    // 1,98 s are two polls, nearly always.
    near(demand.requests.polls, 50 * 2, 0.1)
  })

  void test('half as much as one lock can do: half of the calls wait, for half a turn on average', () => {
    const { busy, contended, wait } = demandOf({ ...LOAD, clients: 1000, locks: 1, rate: 25 })
    assert.equal(busy, 0.5)
    near(contended, 0.5)
    near(wait, 1 + 10)
  })

  void test('of two clients, only one can be in the way', () => {
    near(demandOf({ ...LOAD, clients: 2, locks: 1, rate: 25 }).contended, 0.25)
  })

  void test('long waits: about one poll a second and waiter', () => {
    const demand = demandOf({ ...LOAD, clients: 10_000, locks: 1, rate: Infinity })
    near(demand.requests.polls, 10_000 / 0.951)
  })

  void test('long holds are renewed each third of the lease, and published', () => {
    const { requests } = demandOf({ ...LOAD, clients: 300, locks: 300, rate: 10, hold: 25_000 })
    assert.deepEqual([requests.renewals, requests.listing], [20, 40])
  })

  void test('one client renews all its holds in few requests', () => {
    const { requests } = demandOf({ ...LOAD, clients: 1, locks: 10_000, rate: 10, hold: 1_000_000 })
    assert.equal(requests.renewals, 1)
  })

  void test('clients that do nothing show that they are there', () => {
    near(requestsOf(demandOf({ ...LOAD, clients: 1000, rate: 0.001 })), 1000 * (0.2 + 1 / 30))
  })
})

void describe('what it takes of the server', () => {
  const costs = { alone: 50, contended: 100 }

  void test('alone: what an acquisition costs; contended: what that costs; all others: half of one alone', () => {
    const alone = demandOf({ ...LOAD, clients: 1 })
    near(coresOf(alone, costs), 0.05)
    const all = demandOf({ ...LOAD, locks: 1, rate: Infinity })
    const others = requestsOf(all) - 150
    near(coresOf(all, costs), (50 * 100 + others * 25) / 1e6)
  })

  void test('each limit takes as much of a core as is enough', () => {
    const limits = limitsOf(costs)
    near(limits.alone * 50e-6, ENOUGH)
    near(limits.contended * 100e-6, ENOUGH)
    near(limits.idle * 25e-6 * 0.2333, ENOUGH)
    near(limits.waiting * 25e-6 * (1 / 0.95 + 0.1 + 0.2333), ENOUGH)
  })
})
