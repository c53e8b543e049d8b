import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { arena } from './support/arena.js'
import { mixedSoak } from './support/mixed-soak.js'
import { NEWEST } from './support/redisson.js'
import { told } from './support/soak-report.js'

const SECONDS = Number(process.env['HOLDFAST_SOAK_SECONDS'] ?? 45)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

void describe(`one fair lock, two Redisson ${NEWEST} processes and two of ours, killed and stopped`, () => {
  const enter = arena(NEWEST)
  void test(
    'whatever happens → one inside at a time, nobody forgotten, nothing left',
    { timeout: 1000 * SECONDS + 180_000 },
    async (t) => {
      if (enter(t) === undefined) return
      const outcome = await mixedSoak({ seconds: SECONDS, seed: SEED, java: 2, node: 2, killJava: true })
      const lines = told(outcome)
      for (const line of lines) t.diagnostic(line)
      assert.deepEqual([...outcome.violations, ...outcome.mishaps, ...outcome.left], [], lines.join('\n'))
      for (const side of ['java', 'node'])
        assert.ok(
          outcome.lives.some((life) => life.side === side && life.events.some(({ event }) => event === 'granted')),
        )
    },
  )
})
