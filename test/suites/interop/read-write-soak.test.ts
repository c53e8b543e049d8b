import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { arena } from './support/arena.js'
import { mixedSoak } from './support/mixed-soak.js'
import { NEWEST } from './support/redisson.js'
import { problemsOf, told, visitsOf } from './support/soak-report.js'

const SECONDS = Number(process.env['HOLDFAST_SOAK_SECONDS'] ?? 20)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

void describe(`one read-write lock, a Redisson ${NEWEST} process and three of ours, killed and stopped`, () => {
  const enter = arena(NEWEST)
  for (const kind of ['readWrite', 'fairReadWrite'] as const) {
    for (const reads of [0.95, 0.5]) {
      void test(
        `${kind}, ${100 * reads} % reads → no reader beside a writer, nobody forgotten, nothing left`,
        { timeout: 1000 * SECONDS + 180_000 },
        async (t) => {
          if (enter(t) === undefined) return
          const options = { kind, reads, seconds: SECONDS, seed: SEED, java: 1, node: 3, killJava: true }
          const outcome = await mixedSoak(options)
          for (const line of told(outcome)) t.diagnostic(line)
          assert.equal(problemsOf(outcome).join('\n\n'), '')
          for (const side of ['java', 'node'] as const) {
            for (const mode of ['shared', 'exclusive'] as const) {
              assert.ok(visitsOf(outcome, side, mode) > 0, `${side}: none ${mode}`)
            }
          }
        },
      )
    }
  }
})
