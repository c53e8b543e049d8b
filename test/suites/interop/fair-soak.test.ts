import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { arena } from './support/arena.js'
import { mixedSoak } from './support/mixed-soak.js'
import { NEWEST } from './support/redisson.js'
import { problemsOf, told, visitsOf } from './support/soak-report.js'

const SECONDS = Number(process.env['HOLDFAST_SOAK_SECONDS'] ?? 45)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

void describe(`one fair lock, two Redisson ${NEWEST} processes and two of ours, killed and stopped`, () => {
  const enter = arena(NEWEST)
  void test(
    'whatever happens → one inside at a time, nobody forgotten, nothing left',
    { timeout: 1000 * SECONDS + 180_000 },
    async (t) => {
      if (enter(t) === undefined) return
      const options = { kind: 'fair', seconds: SECONDS, seed: SEED, java: 2, node: 2, killJava: true } as const
      const outcome = await mixedSoak(options)
      for (const line of told(outcome)) t.diagnostic(line)
      assert.equal(problemsOf(outcome).join('\n\n'), '')
      for (const side of ['java', 'node'] as const) assert.ok(visitsOf(outcome, side, 'exclusive') > 0, side)
    },
  )
})
