import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BusyError, type Client, ClosedError, LockLostError, connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { lockRenew, lockSetLevel } from '#src/lua/scripts.gen.js'
import { SlowDriver } from '../../support/slow-driver.js'
import { SwitchedDriver } from '../../support/switched-driver.js'

interface Stage {
  readonly clock: ReturnType<typeof virtualClock>
  readonly url: string
  readonly a: Client
  readonly b: Client
}

let stages = 0

/** Two clients of one embedded server under one virtual clock; nothing of them may be left at the end. */
const scene = (name: string, play: (stage: Stage) => Promise<void>): void => {
  void test(name, { timeout: 30_000 }, async () => {
    const clock = virtualClock(++stages)
    const url = `memory:races-${stages}`
    const [a, b] = [await connect({ url, clock }), await connect({ url, clock })]
    try {
      await play({ clock, url, a, b })
    } finally {
      await Promise.all([a.close(), b.close()])
    }
  })
}

/** Lets time pass until it has settled. */
const during = async <T>(clock: Stage['clock'], promise: Promise<T>): Promise<T> => {
  let settled = false
  const note = (): void => {
    settled = true
  }
  promise.then(note, note)
  for (let i = 0; i < 2000; i++) {
    await clock.advance(20)
    if (settled) break
  }
  return promise
}

scene(
  'a level asked for in the turn in which the hold is passed on → never a second owner inside',
  async ({ clock, a }) => {
    const lock = a.lock('x')
    const owner = a.owner()
    const first = await lock.acquire({ owner })
    const second = await lock.acquire({ owner, lease: 20_000 })
    const waiting = lock.acquire()
    void second.extend().catch(() => undefined)
    void second.release()
    const again = lock.acquire({ owner })
    void first.release()
    const inside = await during(clock, Promise.race([waiting, again]))
    await clock.advance(5000)
    const held = [waiting, again].map((call) => Promise.race([call, Promise.resolve(undefined)]))
    const holds = (await Promise.all(held)).filter((hold) => hold?.state === 'held')
    assert.equal(holds.length, 1)
    assert.equal(await inside.release(), true)
    const next = await during(clock, inside === (await waiting) ? again : waiting)
    assert.equal(await next.release(), true)
  },
)

scene('a try that finds its own hold gone → a hold like any other, unlocked by its owner', async ({ clock, a, b }) => {
  const lock = a.lock('x')
  await lock.acquire()
  await clock.advance(100)
  assert.equal(await b.lock('x').forceRelease(), true)
  const mine = lock.for(a.owner())
  assert.equal(await mine.tryLock(), true)
  assert.equal(await mine.isHeld(), true)
  await mine.unlock()
  assert.equal(await lock.isLocked(), false)
})

scene('re-entering a hold that is gone → a fresh hold, released by close', async ({ clock, a, b }) => {
  const lock = a.lock('x')
  const owner = a.owner()
  await lock.acquire({ owner })
  await clock.advance(100)
  await b.lock('x').forceRelease()
  const hold = await lock.acquire({ owner })
  await a.close()
  assert.ok(hold.signal.aborted)
  assert.equal(await b.lock('x').isLocked(), false)
})

scene('forced open in the millisecond in which it was taken → told; taken just after → not', async ({ a }) => {
  // Its script is known to the server from here on: what reads need not wait for it.
  await a.readWriteLock('z').read.forceRelease()
  for (const lock of [a.lock('x'), a.fairLock('y'), a.readWriteLock('z').read]) {
    const before = await lock.acquire()
    const forced = lock.forceRelease()
    const after = lock.acquire()
    assert.equal(await forced, true)
    assert.equal(before.state, 'lost')
    assert.equal((await after).state, 'held')
    assert.equal(await (await after).release(), true)
  }
})

void test('a hold turns out to be gone when its owner takes it again → the limit counts from the call', async () => {
  const clock = virtualClock()
  const server = new MemoryServer(clock)
  const driver = new SlowDriver(server, clock)
  const options = settle({ url: 'memory:', clock, presence: false, commandTimeout: 3000 }, {})
  const a = await during(clock, start(options, driver))
  const b = await start(options, new MemoryDriver(server, undefined))
  const owner = a.owner()
  await during(clock, a.lock('x').acquire({ owner }))
  await b.lock('x').forceRelease()
  const taken = await b.lock('x').acquire()
  const late = (): Promise<void> => new Promise((resolve) => void clock.setTimer(resolve, 600))
  driver.stop = { op: 'lock/set-level', phase: 'reply', name: 'x', until: late }
  const since = clock.now()
  assert.equal(await during(clock, a.lock('x').tryAcquire({ owner, wait: 800 })), undefined)
  const ms = clock.now() - since
  assert.ok(ms >= 800 && ms <= 900, `${ms} ms`)
  await taken.release()
  await during(clock, Promise.all([a.close(), b.close()]))
})

void test('nobody answers that an inner level is given back, and the outer one is, too → freed at once, not renewed', async () => {
  const clock = virtualClock()
  const driver = new SwitchedDriver(new MemoryDriver(new MemoryServer(clock), undefined))
  const options = { url: 'memory:', clock, presence: false, watchdog: 3000, commandTimeout: 100 }
  const a = await start(settle(options, {}), driver)
  const lock = a.lock('x')
  const owner = a.owner()
  const outer = await lock.acquire({ owner })
  const inner = await lock.acquire({ owner })
  driver.loses = (words) => (words[1] === lockSetLevel.sha ? 'request' : undefined)
  assert.equal(await during(clock, inner.release()), false)
  driver.sent.length = 0
  const since = clock.now()
  assert.equal(await during(clock, outer.release()), true)
  assert.ok(clock.now() - since <= 700, `${clock.now() - since} ms`)
  assert.equal(await lock.isLocked(), false)
  await clock.advance(3000)
  assert.ok(!driver.sent.some((words) => words[1] === lockRenew.sha))
  await a.close()
})

void test('an inner level that the server refused to lower, then the outer one → whoever is next has one level there', async () => {
  const clock = virtualClock()
  const driver = new SwitchedDriver(new MemoryDriver(new MemoryServer(clock), undefined))
  const a = await start(settle({ url: 'memory:', clock, presence: false }, {}), driver)
  const lock = a.lock('x')
  const owner = a.owner()
  const outer = await lock.acquire({ owner })
  const inner = await lock.acquire({ owner })
  const waiting = lock.acquire()
  driver.refuses = 'OOM command not allowed'
  const lowered = inner.release()
  await clock.advance(1)
  driver.refuses = undefined
  const freed = outer.release()
  const next = await during(clock, waiting)
  assert.deepEqual(await Promise.all([lowered, freed]), [true, true])
  assert.deepEqual(
    (await lock.inspect()).holders.map(({ count }) => count),
    [1],
  )
  assert.equal(await next.release(), true)
  await a.close()
})

scene('a wall clock that jumps past the lease → the next hold is released by close', async ({ clock, a, b }) => {
  await a.lock('x').acquire({ lease: 1000 })
  await clock.advance(10)
  clock.stepWall(2000)
  const hold = await during(clock, a.lock('x').acquire())
  await a.close()
  assert.ok(hold.signal.aborted)
  assert.equal(await b.lock('x').isLocked(), false)
})

scene('a ticket adopted while the client closes → ClosedError, and nothing is left', async ({ a, b }) => {
  const ticket = await (await b.lock('x').acquire()).detach()
  const adopting = a.adopt(ticket)
  const closed = a.close()
  await assert.rejects(adopting, ClosedError)
  await closed
  assert.equal(await b.lock('x').isLocked(), false)
})

scene('a fixed inner level left alone by its renewed outer one → lost at its own time', async ({ clock, a, b }) => {
  const owner = a.owner()
  const outer = await a.lock('x').acquire({ owner })
  const inner = await a.lock('x').acquire({ owner, lease: 1000 })
  await outer.release()
  await clock.advance(1500)
  assert.equal(inner.signal.aborted, true)
  assert.ok(inner.signal.reason instanceof LockLostError)
  const next = await during(clock, b.lock('x').acquire({ wait: 3000 }))
  assert.equal(await next.release(), true)
})

scene('`using` whose lock was taken by force → LockLostError with the result', async ({ a, b }) => {
  const done = a.lock('x').using(async () => {
    await b.lock('x').forceRelease()
    return 'result'
  })
  await assert.rejects(done, (error) => error instanceof LockLostError && error.result === 'result')
})

scene('`using` whose client is closed meanwhile → ClosedError, not success', async ({ clock, a }) => {
  const done = a.lock('x').using(
    () =>
      new Promise((resolve) =>
        clock.setTimer(() => {
          resolve('done')
        }, 100),
      ),
  )
  done.catch(() => undefined)
  await clock.advance(10)
  await a.close()
  await clock.advance(200)
  await assert.rejects(done, ClosedError)
})

scene(
  'a renewed level inside a long lease, forced open → told within a third of the watchdog time',
  async ({ clock, a, b }) => {
    const owner = a.owner()
    await a.lock('x').acquire({ owner, lease: 300_000 })
    const inner = await a.lock('x').acquire({ owner })
    await b.lock('x').forceRelease()
    await clock.advance(11_000)
    assert.equal(inner.state, 'lost')
  },
)

scene('a renewal → never shortens what `extend` promised', async ({ clock, a }) => {
  const owner = a.owner()
  const hold = await a.lock('x').acquire({ owner, lease: 10_000 })
  await hold.extend(300_000)
  const inner = await a.lock('x').acquire({ owner })
  await clock.advance(20_000)
  await inner.release()
  assert.ok(hold.remaining() > 270_000, String(hold.remaining()))
  assert.ok(((await a.lock('x').remaining()) ?? 0) > 270_000)
})

scene('a nested acquire on its way while the client closes → ClosedError', async ({ a }) => {
  const owner = a.owner()
  await a.lock('x').acquire({ owner })
  const nested = a.lock('x').acquire({ owner })
  const closed = a.close()
  await assert.rejects(nested, ClosedError)
  await closed
})

scene('`detach` on its way while the client closes → no ticket', async ({ a, b }) => {
  const hold = await a.lock('x').acquire()
  const detaching = hold.detach()
  const closed = a.close()
  await assert.rejects(detaching)
  await closed
  assert.equal(await b.lock('x').isLocked(), false)
})

scene('`detach` while another level is on its way → one of the two, never a dead hold', async ({ a }) => {
  const owner = a.owner()
  const hold = await a.lock('x').acquire({ owner })
  const nested = a.lock('x').acquire({ owner })
  await assert.rejects(hold.detach(), { code: 'NESTED_HOLD' })
  assert.equal((await nested).state, 'held')
})

scene(
  'others come while the first of them asks → each is served in the order of the calls',
  async ({ clock, a, b }) => {
    const held = await b.lock('x').acquire()
    const order: number[] = []
    const calls = [0, 1, 2].map(async (i) => {
      const hold = await a.lock('x').acquire()
      order.push(i)
      await hold.release()
    })
    await clock.advance(100)
    assert.deepEqual(await a.lock('x').tryAcquire(), undefined)
    await held.release()
    await during(clock, Promise.all(calls))
    assert.deepEqual(order, [0, 1, 2])
  },
)

scene('the client closes while the first call asks → it rejects, and nothing is held', async ({ a, b }) => {
  const asking = a.lock('x').acquire()
  const behind = a.lock('x').acquire()
  const closing = a.close()
  await assert.rejects(asking, ClosedError)
  await assert.rejects(behind, ClosedError)
  await closing
  assert.equal(await b.lock('x').isLocked(), false)
})

scene(
  'too many wait already when a first call must → it is told so, and is not among them',
  async ({ clock, url, b }) => {
    const c = await connect({ url, clock, maxWaiters: 1 })
    const [x, y] = [await b.lock('x').acquire(), await b.lock('y').acquire()]
    const waiting = c.lock('y').acquire()
    await clock.advance(10)
    await assert.rejects(c.lock('x').acquire(), BusyError)
    await Promise.all([x.release(), y.release()])
    await (await during(clock, waiting)).release()
    assert.notEqual(await c.lock('x').tryAcquire(), undefined)
    await c.close()
  },
)
