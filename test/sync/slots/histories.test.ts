import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EngineError, LockLostError, type SlotResult, type SlotRun } from 'holdfast'
import { stage } from '../../support/line-stage.js'
import { seeded } from '../../support/random.js'

/** HOLDFAST_HISTORIES=500 HOLDFAST_SEED=1: so many, from this seed on. */
const HISTORIES = Number(process.env['HOLDFAST_HISTORIES'] ?? 12)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1e6)
const LEASE = 3000
const SLOTS = 8
const PROCESSES = 4

interface Sum {
  begun: number
  again: number
  ended: number
}

/**
 * Processes that come for the same slots, and whose connections fall silent and slow at random. A slot is run once; again only if it may be retried,
 * and only when whoever ran it has lost it; it ends once; and when all is well again, nobody waits on.
 */
const play = async (seed: number): Promise<Sum> => {
  const draw = seeded(seed)
  const pick = (most: number): number => Math.floor(draw() * most)
  const { clock, clients, drivers, pause, run } = await stage(PROCESSES)
  const retry = pick(2) * 3
  const runs = new Map<string, SlotRun[]>()
  const ends = new Map<string, number>()
  const sum: Sum = { begun: 0, again: 0, ended: 0 }
  const believed = (slot: string): SlotRun[] => (runs.get(slot) ?? []).filter(({ signal }) => !signal.aborted)

  const work = async (one: SlotRun): Promise<number> => {
    const { slot, token, attempt } = one
    const before = runs.get(slot) ?? []
    assert.ok(!ends.has(slot), `seed ${seed}: ${slot} runs again, though it ran to its end`)
    assert.deepEqual(believed(slot), [], `seed ${seed}: ${slot} runs already`)
    const newest = before.at(-1)
    assert.ok(newest === undefined || (token > newest.token && attempt > newest.attempt), `seed ${seed}: ${slot}`)
    assert.ok(attempt <= 1 + retry, `seed ${seed}: attempt ${attempt} of ${slot}`)
    runs.set(slot, [...before, one])
    sum.begun++
    if (before.length > 0) sum.again++
    for (const until = clock.monotonic() + pick(2 * LEASE); clock.monotonic() < until && !one.signal.aborted;) {
      assert.equal(believed(slot).length, 1, `seed ${seed}: ${slot} runs twice`)
      await pause(41)
    }
    if (draw() < 0.2) throw new Error('the work failed')
    return attempt
  }
  const settled = (slot: string, result: SlotResult<number>): void => {
    // Work that failed may have lost its slot before that.
    if (result.outcome !== 'ran') return
    ends.set(slot, (ends.get(slot) ?? 0) + 1)
    sum.ended++
  }
  const come = async (place: number): Promise<void> => {
    for (let i = 0; i < SLOTS; i++) {
      await pause(pick(2000))
      try {
        settled(`s${i}`, await clients[place]!.slots('jobs').run(`s${i}`, { retry, lease: LEASE }, work))
      } catch (error) {
        assert.ok(error instanceof EngineError || error instanceof LockLostError, `seed ${seed}: ${String(error)}`)
      }
    }
  }
  for (const client of clients) client.on('error', () => undefined)
  const all = Promise.all(Array.from({ length: PROCESSES }, (_, place) => come(place)))
  all.catch(() => undefined)
  for (let round = 0; round < 20; round++) {
    const driver = drivers[pick(PROCESSES)]!
    const trouble = pick(4)
    if (trouble === 0) driver.mute = true
    if (trouble === 1) driver.lag = pick(1500)
    await clock.advance(pick(2 * LEASE))
    for (const one of drivers) if (draw() < 0.6) [one.mute, one.lag] = [false, 0]
  }
  for (const one of drivers) [one.mute, one.lag] = [false, 0]
  let over = false
  all.then(
    () => (over = true),
    () => (over = true),
  )
  for (let step = 0; !over && step < 40; step++) await clock.advance(10_000)
  assert.ok(over, `seed ${seed}: somebody waits for ever`)
  await all
  for (const [slot, count] of ends) assert.equal(count, 1, `seed ${seed}: ${slot} ended ${count} times`)
  if (retry === 0) assert.ok([...runs.values()].every(({ length }) => length === 1))
  await run(Promise.all(clients.map((client) => client.close())))
  return sum
}

void test(`${HISTORIES} histories from seed ${SEED} on → a slot ends once, and runs again by retry only`, async (t) => {
  const sum: Sum = { begun: 0, again: 0, ended: 0 }
  for (let seed = SEED; seed < SEED + HISTORIES; seed++) {
    const { begun, again, ended } = await play(seed)
    sum.begun += begun
    sum.again += again
    sum.ended += ended
  }
  t.diagnostic(`${sum.begun} runs, ${sum.again} of them again, ${sum.ended} ended`)
  assert.ok(sum.begun > HISTORIES * SLOTS * 0.8 && sum.ended > 0)
})
