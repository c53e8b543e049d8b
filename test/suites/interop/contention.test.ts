import { describe, test } from 'node:test'
import { leftOut } from '../../support/sample.js'
import { arena } from './support/arena.js'
import { contend, CONTENDED } from './support/contend.js'
import { NEWEST, startRedisson } from './support/redisson.js'

const SECONDS = Number(process.env['HOLDFAST_SOAK_SECONDS'] ?? 6)
const SEED = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

void describe(`two Redisson ${NEWEST} processes and two of ours, seed ${SEED}`, () => {
  const enter = arena(NEWEST)
  for (const [kind, contended] of Object.entries(CONTENDED)) {
    if (kind !== 'plain' && leftOut(`contention ${kind}`)) continue
    void test(
      `${kind} → in as may be, nobody forgotten, nothing left`,
      { timeout: 1000 * SECONDS + 90_000 },
      async (t) => {
        const here = enter(t)
        if (here === undefined) return
        const { url, redis } = here
        const second = await startRedisson({ url })
        try {
          const java = [here.java, second]
          const lines = await contend({ url, redis, java, seconds: SECONDS, seed: SEED }, contended)
          for (const line of lines) t.diagnostic(line)
        } finally {
          await second.kill()
        }
      },
    )
  }
})
