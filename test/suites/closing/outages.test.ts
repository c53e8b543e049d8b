import assert from 'node:assert/strict'
import { AcquireTimeoutError, type Client, EngineError, MembersError } from 'holdfast'
import { rejection, watch } from '../contract/lock/kind.js'
import { type Stage, onStage } from '../../support/stage.js'
import { WAITED } from '../../support/surface.js'

/** Or several members say so. */
const isAway = (error: unknown): boolean =>
  error instanceof EngineError
    ? error.code === 'OFFLINE' || error.code === 'NO_REPLY'
    : error instanceof MembersError && error.errors.every((one) => isAway(one.error))

/** What a call of this kind needs on the server; nobody but it is there. */
const prepare = async ({ client, run }: Stage, kind: string): Promise<void> => {
  if (kind === 'semaphore') await run(client.semaphore('x').trySetPermits(1))
  if (kind === 'permitSemaphore') await run(client.permitSemaphore('x').trySetPermits(1))
  if (kind === 'rateLimiter') await run(client.rateLimiter('x').trySetRate({ permits: 1, interval: 1000 }))
  if (kind === 'countDownLatch') await run(client.countDownLatch('x').trySetCount(1))
}

const clean = ({ raw }: Stage): void => {
  raw('DEL', 'x', 'redisson_lock_token:{x}', '{x}:timeout', '{x}:value', '{x}:permits')
}

const LOST: Readonly<Record<string, (stage: Stage) => void>> = {
  'the connection is gone': ({ driver }) => (driver.up = false),
  'the server is silent': ({ driver }) => (driver.loses = () => 'request'),
}

const back = ({ driver }: Stage): void => {
  driver.up = true
  driver.loses = () => undefined
}

const WAITS = [200, 2000]

for (const [kind, { acquire, tryAcquire }] of Object.entries(WAITED)) {
  onStage(`${kind}: the client knows that it is offline, wait: 0 → rejects with OFFLINE at once`, async (stage) => {
    await prepare(stage, kind)
    stage.driver.up = false
    for (const of of [tryAcquire, ...(acquire ? [acquire] : [])]) {
      const call = of(stage.client, 'x', of === acquire ? { wait: 0 } : {})
      const seen = watch(call)
      await stage.clock.advance(80)
      assert.ok(seen.settled, 'it waits')
      const error = await rejection(call)
      assert.ok(isAway(error) || isAway((error as Error).cause), String(error))
    }
    back(stage)
    clean(stage)
  })

  for (const [how, lose] of Object.entries(LOST)) {
    onStage(`${kind}: ${how} while it waits, wait: n → tells so, in time`, async (stage) => {
      await prepare(stage, kind)
      lose(stage)
      for (const wait of WAITS) {
        const inTime = async (call: Promise<unknown>, rejects = true): Promise<unknown> => {
          const seen = watch(call)
          await stage.clock.advance(wait + 80)
          assert.ok(seen.settled, `it waits for more than ${wait} ms`)
          return rejects ? rejection(call) : call.catch((error: unknown) => error)
        }
        // Within so short a time a busy server might not have answered either.
        const rejects = !stage.driver.isUp || wait > 1000
        const tried = await inTime(tryAcquire(stage.client, 'x', { wait }), rejects)
        if (rejects) assert.ok(isAway(tried) || isAway((tried as Error).cause), `tryAcquire, ${wait}: ${String(tried)}`)
        if (acquire === undefined) continue
        const error = await inTime(acquire(stage.client, 'x', { wait }))
        assert.ok(error instanceof AcquireTimeoutError, `${wait}: ${String(error)}`)
        assert.ok(isAway(error.cause), `${wait}: its cause is ${String(error.cause)}`)
      }
      back(stage)
      await stage.clock.advance(120_000)
      clean(stage)
    })
  }

  onStage(`${kind}: a call with a wait begins in an outage that ends before → it is served`, async (stage) => {
    await prepare(stage, kind)
    stage.driver.up = false
    const call = (acquire ?? tryAcquire)(stage.client, 'x', { wait: 5000 })
    const outcome = watch(call)
    await stage.clock.advance(2000)
    assert.ok(!outcome.settled, 'it gave up')
    back(stage)
    if (kind === 'countDownLatch') await stage.run(stage.client.countDownLatch('x').countDown())
    const had = (await stage.run(call)) as { release?: () => Promise<unknown> } | undefined
    await stage.run(Promise.resolve(had?.release?.()))
    clean(stage)
  })
}

onStage('the HTTP limiter in an outage that the client knows of → its verdict comes at once', async (stage) => {
  const limiter = (client: Client) => client.rateLimiter('x').tryAcquire()
  stage.driver.up = false
  const call = limiter(stage.client)
  const seen = watch(call)
  await stage.clock.advance(10)
  assert.ok(seen.settled)
  assert.ok(isAway(await rejection(call)))
  back(stage)
})
