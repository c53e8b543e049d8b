import assert from 'node:assert/strict'
import { test } from 'node:test'
import { momentOf } from '#src/base/clock.js'
import { ServerTime } from '#src/core/server/server-time.js'
import { virtualClock } from 'holdfast/testing'

void test('what TIME says → enough to compare waits, but no grant is trusted by it', () => {
  const clock = virtualClock(1)
  const time = new ServerTime(clock)
  time.told(5_000_000, momentOf(clock))
  assert.deepEqual([time.about, time.latest, time.ageOf(4_000_000)], [5_000_000, undefined, undefined])
  time.heard(7_000_000, momentOf(clock))
  assert.deepEqual([time.about, time.latest, time.ageOf(6_000_000)], [7_000_000, 7_000_000, 1000])
  time.forget()
  assert.deepEqual([time.about, time.latest], [undefined, undefined])
})
