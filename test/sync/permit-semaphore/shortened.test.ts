import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stage } from '../../support/line-stage.js'

void test('a lease that is shortened by the id, and the answer is late → the holder has lost it before another has it', async () => {
  const { clock, clients, drivers, run, end } = await stage(2)
  const [ours, theirs] = clients.map((client) => client.permitSemaphore('x'))
  assert.equal(await run(ours!.trySetPermits(1)), true)
  const permit = await run(ours!.acquire({ lease: 60_000 }))
  // The server knows the script from then on.
  assert.equal(await run(ours!.extend(permit.id, 50_000)), true)
  drivers[0]!.back = { replies: [], messages: [] }
  const shortened = ours!.extend(permit.id, 100)
  await clock.advance(110)
  const other = await run(theirs!.acquire({ lease: 60_000 }))
  assert.ok(other.remaining() > 0)
  assert.equal(permit.remaining(), 0)
  assert.equal(permit.state, 'lost')
  await run(drivers[0]!.arrive())
  assert.equal(await run(shortened), true)
  assert.equal(permit.remaining(), 0)
  assert.equal(await run(other.release()), true)
  await run(ours!.delete())
  await end()
})
