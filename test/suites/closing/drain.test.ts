import assert from 'node:assert/strict'
import { ClosedError } from 'holdfast'
import { rejection, watch } from '../contract/lock/kind.js'
import { onStage, type Stage } from '../../support/stage.js'
import { LOCKS, WAITED } from '../../support/surface.js'

const pause = ({ clock }: Stage, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimer(resolve, ms))

/** `using` works for 3 s; the client closes when that has ended, and not before. */
const closesWithTheWork = async ({ client, clock }: Stage): Promise<void> => {
  await clock.advance(100)
  const closing = watch(client.close({ drain: 10_000 }))
  await clock.advance(2500)
  assert.ok(!closing.settled)
  await clock.advance(600)
  assert.ok(closing.settled)
}

for (const [kind, lockOf] of Object.entries(LOCKS)) {
  onStage(
    `${kind}: close({ drain }) while a using works → closed when the work has ended, not before`,
    async (stage) => {
      const { client, run } = stage
      const used = lockOf(client, 'l').using(async () => {
        await pause(stage, 3000)
        return 'done'
      })
      await closesWithTheWork(stage)
      assert.equal(await run(used), 'done')
      stage.raw('DEL', 'redisson_lock_token:{l}')
    },
  )
}

onStage('close({ drain }) while a using works that gave its lock back → waited for', async (stage) => {
  const { client, run } = stage
  const used = client.lock('l').using(async (hold) => {
    await hold.release()
    await pause(stage, 3000)
  })
  await closesWithTheWork(stage)
  await run(used)
})

onStage('close({ drain }) while semaphore.using works → closed when the work has ended', async (stage) => {
  const { client, raw, run } = stage
  await run(client.semaphore('s').trySetPermits(1))
  const used = client.semaphore('s').using(() => pause(stage, 3000))
  await closesWithTheWork(stage)
  await used
  assert.equal(raw('GET', 's'), '1')
  raw('DEL', 's')
})

onStage('close({ drain }) and the work takes longer → ended as without drain, signal and all', async (stage) => {
  const { client, clock, run } = stage
  let reason: unknown
  const used = client.lock('l').using(async ({ signal }) => {
    signal.addEventListener('abort', () => {
      reason = signal.reason
    })
    await pause(stage, 60_000)
  })
  await clock.advance(100)
  const closing = watch(client.close({ drain: 2000 }))
  await clock.advance(2100)
  assert.ok(closing.settled)
  assert.ok(reason instanceof ClosedError)
  assert.ok((await run(rejection(used))) instanceof ClosedError)
})

onStage(
  'close({ drain }) while a hold is had → closed when it is given back; it may be extended until then',
  async (stage) => {
    const { client, clock, run } = stage
    const hold = await run(client.lock('l').acquire({ lease: 5000 }))
    const closing = watch(client.close({ drain: 60_000 }))
    await clock.advance(3000)
    await run(hold.extend(10_000))
    await clock.advance(6000)
    assert.ok(!closing.settled && hold.state === 'held')
    assert.equal(await run(hold.release()), true)
    await clock.advance(100)
    assert.ok(closing.settled)
  },
)

for (const [kind, { acquire, tryAcquire }] of Object.entries(WAITED)) {
  onStage(
    `${kind}: while the client drains → a call that waits and a new one reject with ClosedError`,
    async (stage) => {
      const { client, clock, raw, run } = stage
      const keeps = await run(client.lock('other').acquire())
      raw('SET', '{x}:value', 0)
      raw('SET', 'x', 'semaphore permitSemaphore countDownLatch'.includes(kind) ? 0 : 1)
      if (kind === 'countDownLatch') raw('SET', 'x', 1)
      // Who reads is kept waiting by who writes.
      const holder = LOCKS[kind.replace('.read', '.write')]
      const blocks = holder && (await run(holder(client, 'y').acquire()))
      const name = blocks === undefined ? 'x' : 'y'
      if (kind === 'rateLimiter') {
        raw('DEL', 'x', '{x}:value')
        await run(client.rateLimiter('x').trySetRate({ permits: 1, interval: 60_000 }))
        await run(client.rateLimiter('x').acquire())
      }
      const waiting = watch((acquire ?? tryAcquire)(client, name, { wait: 60_000 }))
      const refused = rejection(waiting.promise)
      await clock.advance(500)
      assert.ok(!waiting.settled, 'it does not wait')
      const closing = watch(client.close({ drain: 10_000 }))
      await clock.advance(1100)
      assert.ok((await refused) instanceof ClosedError)
      for (const of of [tryAcquire, ...(acquire ? [acquire] : [])]) {
        assert.ok((await run(rejection(of(client, name, {})))) instanceof ClosedError)
      }
      assert.ok(!closing.settled)
      await run(Promise.all([keeps.release(), blocks?.release()]))
      await clock.advance(100)
      assert.ok(closing.settled)
      raw('DEL', 'x', '{x}:value', '{x}:permits', '{x}:timeout', 'redisson_lock_token:{y}')
    },
  )
}

onStage('while the client drains, inside a using → the work may take what it still needs', async (stage) => {
  const { client, clock, run } = stage
  const used = client.lock('a').using(async () => {
    await pause(stage, 1000)
    return client.lock('b').using(() => 'both')
  })
  await clock.advance(100)
  const closing = client.close({ drain: 10_000 })
  assert.equal(await run(used), 'both')
  await run(closing)
})

onStage('close() again while the client drains → the drain is over', async (stage) => {
  const { client, clock, run } = stage
  await run(client.lock('l').acquire())
  const closing = watch(client.close({ drain: 60_000 }))
  await clock.advance(1000)
  assert.ok(!closing.settled)
  const again = client.close()
  await clock.advance(100)
  assert.ok(closing.settled)
  await again
})

onStage('client.closing → fires when closing begins', async (stage) => {
  const { client, clock, run } = stage
  const hold = await run(client.lock('l').acquire())
  assert.equal(client.closing.aborted, false)
  const closing = client.close({ drain: 1000 })
  assert.equal(client.closing.aborted, true)
  assert.ok(client.closing.reason instanceof ClosedError)
  await clock.advance(10)
  await hold.release()
  await run(closing)
})

onStage('drain that is no number of ms → a bad argument, and the client stays open', async ({ client, run }) => {
  for (const drain of [-1, NaN, Infinity, '10', null]) {
    const error = await rejection(client.close({ drain: drain as number }))
    assert.ok(error instanceof TypeError || error instanceof RangeError, String(error))
  }
  assert.equal(await run(client.lock('l').isLocked()), false)
})

onStage(
  'health() → up, with what is held and waits; away when the connection is gone or nothing is answered',
  async (stage) => {
    const { client, clock, driver, run } = stage
    const begun = clock.now()
    const hold = await run(client.lock('l').acquire())
    const waiting = client.lock('l').acquire({ wait: 5000 })
    await clock.advance(10)
    const { since, latency, ...rest } = await run(client.health())
    assert.deepEqual(rest, { state: 'up', waiting: 1, held: 1, overdue: 0, leading: 0 })
    assert.ok(since <= begun && typeof latency === 'number')
    driver.up = false
    const away = await run(client.health())
    assert.equal(away.state, 'away')
    assert.ok(away.since >= begun && away.latency === undefined)
    driver.up = true
    driver.loses = () => 'request'
    const silent = watch(client.health())
    await clock.advance(1000)
    assert.equal((await silent.promise).state, 'away')
    driver.loses = () => undefined
    driver.refuses = "NOPERM this user has no permissions to run the 'ping' command"
    assert.equal((await run(client.health())).state, 'up', 'a refusal is an answer')
    driver.refuses = undefined
    const released = hold.release()
    const next = await run(waiting)
    await run(Promise.all([released, next.release()]))
  },
)

onStage(
  'health() and a server that is silent → away within a second, however long a command may take',
  async ({ client, clock, driver, run }) => {
    await run(client.lock('l').isLocked())
    driver.loses = () => 'answer'
    const asked = watch(client.health())
    await clock.advance(1000)
    assert.ok(asked.settled)
    assert.equal((await asked.promise).state, 'away')
    driver.loses = () => undefined
  },
  [],
  60_000,
)

onStage('health() while a using has permits → they count among what is held', async (stage) => {
  const { client, run } = stage
  await run(client.semaphore('s').trySetPermits(2))
  const used = client.semaphore('s').using({ permits: 2 }, async () => (await client.health()).held)
  assert.equal(await run(used), 1)
  assert.equal((await run(client.health())).held, 0)
  await run(client.semaphore('s').delete())
})

onStage(
  'health() while the renewals of a hold fail → it is overdue, until it is confirmed or lost',
  async ({ client, clock, driver, run }) => {
    const hold = await run(client.lock('l').acquire())
    const health = async (): Promise<object> => {
      const { state, held, overdue } = await run(client.health())
      return { state, held, overdue }
    }
    assert.deepEqual(await health(), { state: 'up', held: 1, overdue: 0 })
    const scripts = ([word = '']: readonly string[]) => (word.startsWith('EVAL') ? 'request' : undefined)
    driver.loses = scripts
    await clock.advance(11_000)
    assert.equal(hold.state, 'uncertain')
    assert.deepEqual(await health(), { state: 'up', held: 1, overdue: 1 })
    driver.loses = () => undefined
    await clock.advance(2000)
    assert.deepEqual(await health(), { state: 'up', held: 1, overdue: 0 })
    driver.loses = scripts
    await clock.advance(31_000)
    assert.equal(hold.state, 'lost')
    assert.deepEqual(await health(), { state: 'up', held: 0, overdue: 0 })
    driver.loses = () => undefined
  },
)

onStage('close() → the connection has ended when it resolves', async ({ client, driver, run }) => {
  let ended = false
  const close = driver.close.bind(driver)
  driver.close = async () => {
    await close()
    ended = true
  }
  await run(client.close())
  assert.ok(ended)
})
