import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { settle } from '#src/config/settings.js'
import { healthOf } from '#src/core/client/health.js'
import { Runtime } from '#src/core/client/runtime.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { SwitchedDriver } from '../../support/switched-driver.js'

void test('a server that was never reached → connecting since the start; reached → up; gone again → away', async () => {
  const clock = virtualClock()
  const driver = new SwitchedDriver(new MemoryDriver(new MemoryServer(clock), 'health'))
  const runtime = new Runtime({ id: 'health', ...settle({ url: 'memory:health', clock }, {}) }, driver)
  const health = () => healthOf(runtime, () => 0, new Set())
  const begun = clock.now()
  driver.up = false
  await clock.advance(5000)
  const rest = { waiting: 0, held: 0, overdue: 0, leading: 0 }
  assert.deepEqual(await health(), { state: 'connecting', since: begun, ...rest })
  driver.up = true
  await runtime.link.open()
  assert.equal((await health()).state, 'up')
  driver.up = false
  const away = await health()
  assert.deepEqual([away.state, away.since], ['away', clock.now()])
  await runtime.link.close()
})
