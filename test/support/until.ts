import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/** Looks again and again, and fails when it is not so in time. */
export const until = async (condition: () => Promise<boolean> | boolean, limit = 30_000): Promise<void> => {
  for (const end = performance.now() + limit; !(await condition()); await sleep(10)) {
    assert.ok(performance.now() < end, `not so within ${limit} ms: ${String(condition)}`)
  }
}
