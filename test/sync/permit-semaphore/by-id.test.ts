import assert from 'node:assert/strict'
import { EngineError, NotOwnerError } from 'holdfast'
import { rejection } from '../../suites/contract/lock/kind.js'
import { onStage } from '../../support/stage.js'

const taken = (raw: (...words: string[]) => unknown): unknown => raw('ZCARD', '{x}:timeout')

onStage('shortened, the answer is lost, and a copy comes after it was extended → it changes nothing', async (stage) => {
  const { client, clock, driver, run } = stage
  const p = client.permitSemaphore('x')
  await run(p.trySetPermits(1))
  const permit = await run(p.acquire({ lease: 60_000 }))
  // The server knows the script from then on.
  assert.equal(await run(p.extend(permit.id, 50_000)), true)
  driver.loseNext('late', permit.id)
  await Promise.allSettled([run(p.extend(permit.id, 2000))])
  assert.equal(await run(p.extend(permit.id, 60_000)), true)
  await driver.comeLate()
  await clock.advance(1)
  assert.ok((await run(p.leaseTime(permit.id))) > 50_000)
  assert.ok(permit.remaining() > 50_000)
  assert.equal(await run(permit.release()), true)
  await run(p.delete())
})

onStage(
  'shortened twice at once, and the first answer is lost → the later word counts',
  async ({ client, clock, driver, run }) => {
    const p = client.permitSemaphore('x')
    await run(p.trySetPermits(1))
    const permit = await run(p.acquire())
    assert.equal(await run(p.extend(permit.id, 50_000)), true)
    driver.loseNext('late', permit.id)
    const both = Promise.all([p.extend(permit.id, 2000), p.extend(permit.id, 40_000)])
    assert.deepEqual(await run(both), [true, true])
    await driver.comeLate()
    await clock.advance(1)
    assert.ok((await run(p.leaseTime(permit.id))) > 30_000)
    assert.ok(permit.remaining() > 30_000)
    assert.equal(await run(permit.release()), true)
    await run(p.delete())
  },
)

onStage('shortened while nobody answers → over here, and given back when the server answers', async (stage) => {
  const { client, clock, driver, run, raw } = stage
  const p = client.permitSemaphore('x')
  await run(p.trySetPermits(1))
  const permit = await run(p.acquire())
  driver.up = false
  assert.ok((await rejection(run(p.extend(permit.id, 1000)))) instanceof EngineError)
  assert.ok(permit.remaining() <= 1000)
  await clock.advance(1000)
  assert.equal(permit.state, 'lost')
  driver.up = true
  await clock.advance(2000)
  assert.equal(taken(raw), 0)
  assert.equal(await run(p.available()), 1)
  await run(p.delete())
})

onStage('given back by its id, no answer yet → it has ended here', async ({ client, clock, driver, run, raw }) => {
  const p = client.permitSemaphore('x')
  await run(p.trySetPermits(2))
  for (const ids of [1, 2]) {
    const [first, ...more] = await run(p.acquireMany(ids))
    driver.loseNext('answer', first!.id)
    const released = p.release([first!.id, ...more.map(({ id }) => id)])
    // Of several it is not known that it will be done: they end when the answer is lost.
    await clock.advance(ids === 1 ? 0 : 500)
    for (const permit of [first!, ...more]) {
      assert.equal(permit.state, 'released')
      assert.equal(permit.remaining(), 0)
    }
    assert.equal(taken(raw), 0)
    await run(released)
    assert.equal(await run(first!.release()), false)
    await clock.advance(1)
  }
  await run(p.delete())
})

onStage('given back by its id, and never an answer → it has ended here, and closing asks again', async (stage) => {
  const { client, driver, run, raw } = stage
  const p = client.permitSemaphore('x')
  await run(p.trySetPermits(3))
  const permits = await run(p.acquireMany(3))
  const [alone, one, other] = permits.map(({ id }) => id) as [string, string, string]
  driver.loses = (words) => (words.some((word) => permits.some(({ id }) => word.includes(id))) ? 'request' : undefined)
  for (const ids of [alone, [one, other]])
    assert.equal(((await rejection(run(p.release(ids)))) as EngineError).code, 'NO_REPLY')
  assert.deepEqual(
    permits.map(({ state }) => state),
    ['released', 'released', 'released'],
  )
  driver.loses = () => undefined
  assert.equal(taken(raw), 3)
  // Each way works again.
  assert.equal(await run(p.tryRelease(alone)), true)
  assert.equal(await run(permits[1]!.release()), true)
  assert.equal(taken(raw), 1)
  await run(client.close())
  assert.equal(taken(raw), 0)
  raw('DEL', 'x')
})

onStage('given back by its id while offline → it has ended here, and its own release gives it back', async (stage) => {
  const { client, driver, run, raw } = stage
  const p = client.permitSemaphore('x')
  await run(p.trySetPermits(1))
  const permit = await run(p.acquire({ renew: true }))
  driver.up = false
  assert.equal(((await rejection(run(p.release(permit.id)))) as EngineError).code, 'OFFLINE')
  assert.equal(permit.state, 'released')
  driver.up = true
  assert.equal(await run(permit.release()), true)
  assert.equal(await run(permit.release()), false)
  assert.equal(taken(raw), 0)
  await run(p.delete())
})

onStage('given back with one that is unknown, or at another name → it is held still', async ({ client, run, raw }) => {
  const [p, q] = [client.permitSemaphore('x'), client.permitSemaphore('y')]
  await run(p.trySetPermits(1))
  await run(q.trySetPermits(1))
  const permit = await run(p.acquire({ lease: 60_000 }))
  assert.ok((await rejection(run(p.release([permit.id, 'f'.repeat(32)])))) instanceof NotOwnerError)
  assert.equal(await run(q.tryRelease(permit.id)), false)
  assert.equal(await run(q.extend(permit.id, 5)), false)
  assert.equal(permit.state, 'held')
  assert.ok(permit.remaining() > 50_000)
  assert.equal(taken(raw), 1)
  assert.equal(await run(permit.release()), true)
  await run(p.delete())
  await run(q.delete())
})
