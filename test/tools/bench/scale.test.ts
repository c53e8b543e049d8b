import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { demandOf, requestsOf } from '#src/cli/bench/plan/demand.js'
import { type VirtualLoad, virtualCrowd } from '../../../bench/processes/virtual-crowd.js'

const TRIP = 0.5

/** Both for each second, ms of wait. */
const bothOf = async (load: Omit<VirtualLoad, 'kind' | 'tripMs'>) => {
  const figures = await virtualCrowd({ kind: 'lock', tripMs: TRIP, ...load })
  const rate = load.pauseMs > 0 ? figures.visits : Infinity
  const planned = { clients: load.processes, locks: load.locks, rate, hold: figures.hold, trip: TRIP, lease: 30_000 }
  const requests = [...figures.requests.values()].reduce((all, one) => all + one, 0)
  return { figures: { ...figures, requests }, demand: demandOf(planned) }
}

const within = (what: string, measured: number, planned: number): void => {
  assert.ok(Math.abs(planned / measured - 1) <= 0.1, `${what}: ${planned} planned, ${measured} measured`)
}

describe('docs/scale.md computes what whole clients do, within 10 %', () => {
  it('all want one lock at once', { timeout: 120_000 }, async () => {
    const hot = { processes: 60, locks: 1, holdMs: 40, pauseMs: 0, warm: 8, seconds: 20 }
    const { figures, demand } = await bothOf(hot)
    within('visits', figures.visits, demand.visits)
    within('messages', figures.messages, demand.messages)
    within('wait', figures.wait, demand.wait)
    within('requests', figures.requests, requestsOf(demand))
  })

  it('a lock each, held for longer than a third of the lease', { timeout: 120_000 }, async () => {
    const apart = { processes: 40, locks: 40, holdMs: 25_000, pauseMs: 5000, warm: 90, seconds: 300 }
    const { figures, demand } = await bothOf(apart)
    within('requests', figures.requests, requestsOf(demand))
    assert.deepEqual([figures.messages, demand.messages], [0, 0])
    assert.equal(figures.wait, TRIP)
  })
})
