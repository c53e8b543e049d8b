import assert from 'node:assert/strict'
import { onServer } from '../../support/server.js'
import { Party } from '../../support/fair-party.js'

const RUNS = 20
const WAITERS = 20
/** Wall clocks of the three processes, ms off. */
const CLOCKS = { right: [0, 0, 0], 'a minute off': [60_000, 0, -60_000] }

const inOrder = async (party: Party, runs: number, off: readonly number[]): Promise<number> => {
  const [first, ...others] = await Promise.all(
    off.map((ms, index) => party.invite(`p${index}`, { off: ms, watchdog: 30_000 })),
  )
  assert.ok(first !== undefined)
  const members = [first, ...others]
  for (let run = 0; run < runs; run += 1) {
    party.events.length = 0
    const holder = await party.holds(first)
    const calls = [holder]
    for (let index = 0; index < members.length * WAITERS; index += 1) {
      calls.push(await party.enqueue(members[(index * 7 + run + Math.floor(index / 5)) % members.length] ?? first))
    }
    first.order({ release: holder })
    await party.until(() => calls.every((call) => party.of(call, 'released') !== undefined))
    assert.deepEqual(party.order, calls, `run ${run}`)
  }
  await party.check()
  return runs * members.length * WAITERS
}

for (const [clocks, off] of Object.entries(CLOCKS)) {
  onServer(
    `3 processes × ${WAITERS} waiters, clocks ${clocks}, ${RUNS} runs → in the order in which they came`,
    async (broken) => {
      const party = new Party(broken.server.url, 'orders')
      try {
        const began = performance.now()
        const waits = await inOrder(party, RUNS, off)
        console.log(`${RUNS} of ${RUNS} runs in order: ${waits} waits, ${Math.round(performance.now() - began)} ms`)
      } finally {
        await party.close()
      }
    },
  )
}

onServer('nonReentrantFairLock: 3 processes × 20 waiters → the same', async (broken) => {
  const party = new Party(broken.server.url, 'orders', 'nonReentrantFairLock')
  try {
    await inOrder(party, 1, CLOCKS.right)
  } finally {
    await party.close()
  }
})
