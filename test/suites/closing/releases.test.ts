import assert from 'node:assert/strict'
import { EngineError, LockLostError } from 'holdfast'
import { watch } from '../contract/lock/kind.js'
import { onStage } from '../../support/stage.js'
import { LOCKS } from '../../support/surface.js'

/** What the stage's commands may take, and a poll. */
const LIMIT = 500 + 1000

for (const [kind, lockOf] of Object.entries(LOCKS)) {
  onStage(
    `${kind}: the server dies during using, the work ends while the hold is certain → its result, in time, and the lock is free when the server is back`,
    async ({ client, driver, clock, raw, run }) => {
      const used = lockOf(client, 'l').using(async () => {
        driver.up = false
        await new Promise((resolve) => void clock.setTimer(() => resolve(undefined), 300))
        return 'done'
      })
      const seen = watch(used)
      await clock.advance(300 + LIMIT + 50)
      assert.ok(seen.settled, 'it waits on')
      assert.equal(await used, 'done')
      driver.up = true
      await clock.advance(2000)
      assert.equal(await run(lockOf(client, 'l').isLocked()), false)
      raw('DEL', 'redisson_lock_token:{l}')
    },
  )
}

onStage('the server says at the release that the hold was gone → using rejects with LockLostError', async (stage) => {
  const { client, raw, run } = stage
  const used = client.lock('l').using(() => {
    raw('DEL', 'l')
    return Promise.resolve('done')
  })
  await assert.rejects(run(used), LockLostError)
})

onStage(
  'release() while nobody answers → false after commandTimeout and a poll, and it goes on behind',
  async (stage) => {
    const { client, driver, clock, raw, run } = stage
    const hold = await run(client.lock('l').acquire())
    const permits = client.permitSemaphore('p')
    await run(permits.trySetPermits(1))
    const permit = await run(permits.acquire({ lease: 20_000 }))
    driver.loses = () => 'request'
    const [one, other] = [hold.release(), permit.release()]
    const both = watch(Promise.all([one, other]))
    await clock.advance(LIMIT + 50)
    assert.ok(both.settled)
    assert.deepEqual(await both.promise, [false, false])
    driver.loses = () => undefined
    await clock.advance(2000)
    assert.equal(raw('EXISTS', 'l'), 0)
    assert.equal(raw('GET', 'p'), '1')
    await run(permits.delete())
  },
)

onStage(
  'semaphore.using ends while nobody answers → after commandTimeout and a poll, and it goes on behind',
  async (stage) => {
    const { client, driver, clock, raw, run } = stage
    const semaphore = client.semaphore('s')
    await run(semaphore.trySetPermits(1))
    const used = semaphore.using(() => {
      driver.loses = () => 'request'
      return 'done'
    })
    const seen = watch(used)
    await clock.advance(LIMIT + 100)
    assert.ok(seen.settled)
    assert.equal(await used, 'done')
    driver.loses = () => undefined
    await clock.advance(2000)
    assert.equal(raw('GET', 's'), '1')
    await run(semaphore.delete())
  },
)

// Shorter than the time in which one step is answered, and longer, so that a step fails meanwhile.
for (const away of [400, LIMIT - 300]) {
  onStage(
    `the connection breaks for ${away} ms and the client closes at once → what it held is free when the server is back`,
    async (stage) => {
      const { client, driver, clock, raw, run } = stage
      for (let i = 0; i < 20; i++) await run(client.lock(`l:${i}`).acquire())
      driver.up = false
      const closing = watch(client.close())
      await clock.advance(away)
      assert.ok(!closing.settled)
      driver.up = true
      await run(closing.promise)
      assert.deepEqual(raw('KEYS', '*'), [])
    },
  )
}

onStage('close while the deletion of notes is lost once → closed when they are gone', async (stage) => {
  const { client, driver, raw, run } = stage
  const semaphore = client.semaphore('s')
  await run(semaphore.trySetPermits(1))
  await run(semaphore.using(() => 'done'))
  await run(semaphore.delete())
  assert.notDeepEqual(raw('KEYS', 'holdfast_request:*'), [])
  let lost = 0
  driver.loses = ([command]) => (command === 'DEL' && lost++ === 0 ? 'request' : undefined)
  await run(client.close())
  assert.deepEqual([lost > 1, raw('KEYS', '*')], [true, []])
})

onStage(
  'adopt while nobody answers → rejects in time, and the ticket of a lease that is over is refused',
  async (stage) => {
    const { client, driver, clock, run } = stage
    const ticket = await run((await run(client.lock('l').acquire({ lease: 2000 }))).detach())
    driver.loses = () => 'request'
    const adopting = watch(client.adopt(ticket))
    await clock.advance(LIMIT + 50)
    assert.ok(adopting.settled, 'it waits on')
    await assert.rejects(adopting.promise, { code: 'NO_REPLY' })
    driver.loses = () => undefined
    await clock.advance(2000)
    await assert.rejects(run(client.adopt(ticket)), LockLostError)
  },
)

onStage(
  'the connection stays away and the client closes → it is through in time, and an error tells what is left',
  async (stage) => {
    const { client, driver, clock, errors } = stage
    await stage.run(client.lock('orders').acquire({ lease: 20_000 }))
    driver.up = false
    const closing = watch(client.close())
    await clock.advance(LIMIT + 200)
    assert.ok(closing.settled)
    const told = errors.find((error) => error instanceof EngineError && error.target === 'orders')
    assert.match(
      String(told),
      /could not release 'orders'; the server keeps it until its lease ends, in at most \d+ ms/,
    )
    await clock.advance(3_600_000)
  },
)

onStage('close({ drain }) in an outage → what it could not release is tried until the drain is over', async (stage) => {
  const { client, driver, clock, raw } = stage
  await stage.run(client.lock('l').acquire())
  driver.up = false
  const closing = watch(client.close({ drain: 10_000 }))
  await clock.advance(10_500)
  driver.up = true
  await clock.advance(1000)
  assert.ok(closing.settled)
  assert.deepEqual(raw('KEYS', '*'), [])
})
