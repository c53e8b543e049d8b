import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { DeadlockError, LockLostError } from 'holdfast'
import {
  SHORT,
  exists,
  held,
  isNotOwner,
  lasted,
  rejection,
  releaseAll,
  timed,
  times,
  watch,
} from '../../suites/contract/lock/kind.js'
import type { Scenario } from '../../support/engines.js'
import { engines, memoryEngine, scenarios } from '../../support/engines.js'
import { fairly, open, thread } from './sides.js'

const sharing = (scenario: Scenario): void => {
  scenario('readers of two clients → inside together; a writer → alone', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const readers = [await one.read.acquire(), await one.read.acquire(), await two.read.acquire()]
    for (const side of [one, two]) {
      assert.equal(await side.write.tryAcquire(), undefined)
      assert.equal(await side.read.isLocked(), true)
      assert.equal(await side.write.isLocked(), false)
    }
    const { holders } = await two.write.inspect()
    assert.deepEqual(
      holders.map(({ client, count, mode }) => [client, count, mode]),
      [one, one, two].map(({ client }) => [client.id, 1, 'read']),
    )
    await releaseAll(w, readers)
    const writer = await one.write.acquire()
    for (const side of [one, two]) {
      assert.equal(await side.read.tryAcquire(), undefined)
      assert.equal(await side.write.tryAcquire(), undefined)
      assert.equal(await side.write.isLocked(), true)
      assert.equal(await side.read.isLocked(), false)
      assert.deepEqual(
        (await side.read.inspect()).holders.map(({ mode }) => mode),
        ['write'],
      )
    }
    assert.equal(await writer.release(), true)
  })

  scenario('RW11: 20 readers behind a writer → all let in together when it ends', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const writer = await one.write.acquire()
    const readers = times(20, (i) => (i % 2 === 0 ? one : two).read.acquire())
    await w.pass(300)
    const { value, ms } = await timed(w, async () => {
      assert.equal(await writer.release(), true)
      return Promise.all(readers)
    })
    lasted(w, ms, 0, 1000)
    assert.equal((await one.read.inspect()).holders.length, 20)
    await releaseAll(w, value)
  })

  scenario('a single try to read, while another reader here waits → answered at once', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const writer = await two.write.acquire()
    const waiting = one.read.acquire()
    await w.pass(300)
    const { value, ms } = await timed(w, () => one.read.tryAcquire())
    assert.equal(value, undefined)
    assert.ok(ms < (w.virtual ? 50 : 800), `took ${ms} ms`)
    await writer.release()
    await (await w.run(waiting)).release()
  })

  scenario('a write detached while its owner asks to read → one of the two is refused', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const owner = one.client.owner()
    const write = await one.write.acquire({ owner })
    const [ticket, read] = await w.run(Promise.allSettled([write.detach(), one.read.acquire({ owner, wait: 200 })]))
    assert.ok(ticket.status === 'rejected' || read.status === 'rejected')
    if (read.status === 'fulfilled') await read.value.release()
    if (ticket.status === 'fulfilled') await (await two.client.adopt(ticket.value)).release()
    else await write.release()
  })

  scenario('RW28: tasks of three clients with a random side → writers alone, no update lost', async (w) => {
    const sides = await Promise.all(times(3, () => open(w)))
    let [reading, writing, most] = [0, 0, 0]
    const key = `${w.id}:count`
    const task = async (i: number): Promise<void> => {
      const { read, write } = sides[i % 3] as (typeof sides)[0]
      for (let round = 0; round < 5; round++) {
        if ((i + round) % 4 === 0) {
          await write.using(async () => {
            assert.deepEqual([reading, writing++], [0, 0])
            const seen = Number((await w.raw('GET', key)) ?? 0)
            await w.pause(2)
            await w.raw('SET', key, seen + 1)
            writing--
          })
        } else {
          await read.using(async () => {
            most = Math.max(most, ++reading)
            assert.equal(writing, 0)
            await w.pause(3)
            reading--
          })
        }
      }
    }
    await w.run(Promise.all(times(16, task)))
    assert.equal(Number(await w.raw('GET', key)), 20)
    assert.ok(most > 1, 'never two readers at a time')
    await w.raw('DEL', key)
  })

  scenario('RW04: a name with braces and colons → taken and given back by many at once', async (w) => {
    const { client } = await open(w)
    const { read, write } = client.readWriteLock(`{${w.id}}:abc:key`)
    await w.run(Promise.all(times(10, async () => read.using(() => w.pause(1)))))
    await w.run(write.using(() => w.pause(1)))
  })
}

const deadlines = (scenario: Scenario): void => {
  scenario('RW01: a short read given back → the longer one keeps its lease, the writer waits for that', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const long = await one.read.acquire({ lease: 20_000 })
    const short = await two.read.acquire({ lease: 5000 })
    const writing = watch(one.write.acquire({ lease: 20_000 }))
    await w.pass(300)
    assert.equal(await w.run(short.release()), true)
    await w.pass(300)
    assert.equal(writing.settled, false)
    const left = await two.read.remaining()
    assert.ok(left !== undefined && left > 20_000 - 600 - w.slack && left <= 20_000, String(left))
    assert.equal(await w.run(long.release()), true)
    assert.equal(await (await w.run(writing.promise)).release(), true)
  })

  scenario('RW07: a write left to its lease → both readers are in at its end', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const { value, ms } = await timed(w, async () => {
      await one.write.acquire({ lease: 1500 })
      return Promise.all([one.read.acquire(), two.read.acquire()])
    })
    lasted(w, ms, 1500, 1600)
    await releaseAll(w, value)
  })

  scenario(
    'RW08: a visit beside a read left to its lease → does not prolong it, the writer is in at its end',
    async (w) => {
      const [one, two] = [await open(w), await open(w)]
      const { value: writer, ms } = await timed(w, async () => {
        await one.read.acquire({ lease: 2000 })
        const visit = await two.read.acquire({ lease: 20_000 })
        assert.equal(await visit.release(), true)
        return one.write.acquire({ lease: 10_000 })
      })
      lasted(w, ms, 2000, 2100)
      assert.equal(await w.run(writer.release()), true)
    },
  )

  scenario('RW09: an inner read given back → the outer one ends by its own lease', async (w) => {
    const { client, read, write } = await open(w)
    const owner = client.owner()
    const { value: writer, ms } = await timed(w, async () => {
      await read.acquire({ owner, lease: 3000 })
      await w.pause(1000)
      const inner = await read.acquire({ owner, lease: 3000 })
      assert.equal(await inner.release(), true)
      return write.acquire()
    })
    lasted(w, ms, 2800, 3100)
    assert.equal(await w.run(writer.release()), true)
  })

  scenario('RW31: a reader that died → keeps no writer out longer than its own lease', async (w) => {
    const dead = await open(w, { watchdog: SHORT })
    const living = await open(w, { watchdog: SHORT })
    await dead.read.acquire()
    const hold = await living.read.acquire()
    await dead.client.close({ release: false })
    await w.pass(SHORT * 1.3)
    assert.equal((await living.read.inspect()).holders.length, 1)
    await held(w, hold)
    assert.equal(await w.run(hold.release()), true)
    const writer = await living.write.tryAcquire()
    assert.ok(writer !== undefined)
    assert.equal(await w.run(writer.release()), true)
  })

  scenario('RW19: a writer that died → free for others when its lease is over', async (w) => {
    const [dead, living] = [await open(w, { watchdog: SHORT }), await open(w)]
    await dead.write.acquire()
    await dead.client.close({ release: false })
    const { value, ms } = await timed(w, () => living.read.acquire())
    lasted(w, ms, 0, SHORT)
    assert.equal(await w.run(value.release()), true)
  })

  scenario('RW03: 50 readers, ten at a time, held longer than the watchdog time → all renewed', async (w) => {
    const sides = [await open(w, { watchdog: SHORT }), await open(w, { watchdog: SHORT })]
    for (let round = 0; round < 2; round++) {
      const holds = await w.run(Promise.all(times(25, (i) => (sides[i % 2] as (typeof sides)[0]).read.acquire())))
      await w.pass(SHORT * 1.4)
      for (const hold of holds) await held(w, hold)
      assert.equal((await (sides[0] as (typeof sides)[0]).read.inspect()).holders.length, 25)
      await releaseAll(w, holds)
    }
    assert.equal(await exists(w, w.id), false)
  })

  scenario(
    'more readers than one script looks at, in one part of the hash → `inspect` shows each of them',
    async (w) => {
      const { read } = await open(w)
      if (!w.engine.startsWith('memory')) await w.raw('CONFIG', 'SET', 'hash-max-listpack-entries', 5000)
      const holds = await w.run(Promise.all(times(1500, () => read.acquire())))
      const { holders, more } = await w.run(read.inspect())
      assert.deepEqual([new Set(holders.map(({ owner }) => owner)).size, holders.length, more], [1500, 1500, undefined])
      await releaseAll(w, holds)
    },
  )

  scenario('G-22: two readers with leases of their own → each renewed or over by its own', async (w) => {
    const { read } = await open(w, { watchdog: SHORT })
    const [fixed, renewed] = [await read.acquire({ lease: 1000 }), await read.acquire()]
    await w.pass(SHORT * 1.5)
    assert.equal(fixed.state, 'lost')
    assert.ok(fixed.signal.reason instanceof LockLostError)
    await held(w, renewed)
    assert.equal((await read.inspect()).holders.length, 1)
    assert.equal(await w.run(renewed.release()), true)
    assert.equal(await w.run(fixed.release()), false)
  })

  scenario(
    'RW16: written and read without a lease → both renewed, and the read when the write has ended',
    async (w) => {
      const { client, read, write } = await open(w, { watchdog: SHORT })
      const writer = await write.acquire()
      const reader = await read.acquire({ owner: writer.owner })
      await w.pass(SHORT * 1.5)
      for (const hold of [writer, reader]) await held(w, hold)
      assert.equal(await writer.release(), true)
      await w.pass(SHORT * 1.5)
      await held(w, reader)
      const left = await client.readWriteLock(w.id).read.remaining()
      assert.ok(left !== undefined && left > SHORT / 2 - w.slack / 4, String(left))
      assert.equal(await reader.release(), true)
    },
  )

  scenario('a read by a key that somebody deleted → told, though others go on reading', async (w) => {
    const { client, read } = await open(w, { watchdog: SHORT })
    const [one, two] = [await read.acquire(), await read.acquire()]
    const [first] = (await read.inspect()).holders
    assert.equal(first?.client, client.id)
    await w.raw('DEL', `{${w.id}}:${first.owner}:rwlock_timeout:1`)
    await w.eventually(() => one.lost, SHORT)
    await held(w, two)
    await releaseAll(w, [two])
  })
}

const oneOwner = (scenario: Scenario): void => {
  scenario('RW02 RW10: a writer reads, too → its read ends, it writes on; its write ends, it is free', async (w) => {
    const { client, read, write } = await open(w)
    const me = thread(client, w.id)
    await me.write.lock()
    assert.equal(await read.isLocked(), false)
    assert.equal(await me.read.tryLock(10_000), true)
    assert.equal(await read.isLocked(), true)
    await me.read.unlock()
    assert.equal(await write.isLocked(), true)
    await me.write.unlock()
    assert.equal(await write.isLocked(), false)
    assert.equal(await exists(w, w.id), false)
  })

  scenario('RW12: a write that ends while its owner reads → a read; no write again before that ends', async (w) => {
    const { client } = await open(w)
    const [me, other] = [thread(client, w.id), thread(await w.connect(), w.id)]
    await me.write.lock()
    assert.equal(await me.read.tryLock(), true)
    assert.equal(await other.read.tryLock(), false)
    await me.write.unlock()
    assert.equal(await other.read.tryLock(), true, 'it is a read like others')
    await other.read.unlock()
    assert.equal(await me.write.tryLock(), false)
    await me.read.unlock()
    assert.equal(await me.write.tryLock(), true)
    await me.write.unlock()
  })

  scenario('RW13: written twice, read inside → each level counts', async (w) => {
    const [me, other] = [thread(await w.connect(), w.id), thread(await w.connect(), w.id)]
    assert.equal(await me.write.tryLock(), true)
    assert.equal(await me.write.tryLock(), true)
    assert.equal(await me.write.holdCount(), 2)
    assert.equal(await other.write.isHeld(), false)
    assert.equal(await other.write.isLocked(), true)
    assert.equal(await other.read.tryLock(), false)
    await me.write.unlock()
    assert.equal(await me.write.isHeld(), true)
    assert.equal(await me.read.tryLock(), true)
    await me.write.unlock()
    assert.equal(await other.read.tryLock(1000), true)
    assert.equal(await other.read.tryLock(), true)
    assert.equal(await other.write.tryLock(), false)
    assert.equal(await other.write.isLocked(), false)
    assert.equal(await other.write.isHeld(), false)
    for (const side of [me, other, other]) await side.read.unlock()
    assert.equal(await exists(w, w.id), false)
  })

  scenario('RW14: two readers come and go → no write before the last has gone', async (w) => {
    const [me, other] = [thread(await w.connect(), w.id), thread(await w.connect(), w.id)]
    assert.equal(await me.read.forceUnlock(), false)
    await me.read.lock()
    assert.equal(await me.write.tryLock(), false)
    await other.read.lock()
    await me.read.unlock()
    assert.equal(await me.read.isLocked(), true)
    assert.equal(await me.write.tryLock(), false)
    await other.read.unlock()
    assert.equal(await me.read.isLocked(), false)
    for (let round = 0; round < 2; round++) {
      assert.equal(await me.write.tryLock(), true)
      assert.equal(await me.write.isHeld(), true)
      await me.write.unlock()
    }
  })

  scenario('RW15: forced open by the other side → stays; by its own → free, and told', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const reader = await one.read.acquire()
    assert.equal(await one.write.forceRelease(), false)
    assert.equal(reader.state, 'held')
    await w.pass(5)
    assert.equal(await one.read.forceRelease(), true)
    assert.equal(reader.state, 'lost')
    assert.equal(await two.read.isLocked(), false)
    const writer = await one.write.acquire()
    const inner = await one.read.acquire({ owner: writer.owner })
    assert.equal(await two.read.forceRelease(), false)
    await w.pass(5)
    assert.equal(await one.write.forceRelease(), true)
    assert.deepEqual([writer.state, inner.state], ['lost', 'lost'])
    assert.equal(await two.write.isLocked(), false)
    assert.equal(await exists(w, w.id), false)
  })

  scenario('RW25: another’s read given back → NotOwnerError', async (w) => {
    const [me, other] = [thread(await w.connect(), w.id), thread(await w.connect(), w.id)]
    await other.read.lock()
    assert.ok(isNotOwner(w.id)(await rejection(me.read.unlock())))
    assert.ok(isNotOwner(w.id)(await rejection(other.write.unlock())))
    assert.equal(await me.read.forceUnlock(), true)
  })

  scenario(
    'who reads and would write → DeadlockError at once when it would wait, not had when it would not',
    async (w) => {
      const { client, read, write } = await open(w)
      const owner = client.owner()
      const reader = await read.acquire({ owner })
      for (const wait of [undefined, 1, 60_000]) {
        const { value, ms } = await timed(w, () => rejection(write.acquire({ owner, wait })))
        assert.ok(value instanceof DeadlockError, String(value))
        lasted(w, ms, 0, 100)
      }
      assert.equal(await write.tryAcquire({ owner }), undefined)
      assert.equal(await reader.release(), true)
      await read.using(async () => {
        assert.ok((await rejection(write.acquire())) instanceof DeadlockError)
        assert.ok((await rejection(write.acquire({ owner }))) instanceof DeadlockError)
        assert.equal(await write.tryAcquire(), undefined)
      })
      assert.equal(await exists(w, w.id), false)
    },
  )

  scenario('nested `using` → reads within its own write, writes again within that', async (w) => {
    const { read, write } = await open(w)
    await write.using(async (outer) => {
      await read.using(async (inner) => {
        assert.equal(inner.owner, outer.owner)
        await write.using(async (again) => {
          assert.equal(again.owner, outer.owner)
          assert.deepEqual((await read.inspect()).holders.map(({ count, mode }) => `${mode} ${count}`).sort(), [
            'read 1',
            'write 2',
          ])
        })
      })
      await read.using(async (inner) => assert.equal(inner.state, 'held'))
    })
    assert.equal(await exists(w, w.id), false)
  })

  scenario('two reads at once under one write → both had, and both given back', async (w) => {
    const { read, write } = await open(w)
    const writer = await write.acquire()
    const { owner } = writer
    const reads = await Promise.all(times(3, () => read.acquire({ owner })))
    assert.equal(await w.run(writer.release()), true)
    await releaseAll(w, reads)
    assert.equal(await exists(w, w.id), false)
  })

  scenario('a write that ends while its owner reads → readers who wait are in at once', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const writer = await one.write.acquire()
    const inner = await one.read.acquire({ owner: writer.owner })
    const reading = [one, two].map(({ read }) => watch(read.acquire()))
    await w.pass(300)
    assert.ok(reading.every(({ settled }) => !settled))
    assert.equal(await w.run(writer.release()), true)
    const readers = await w.run(Promise.all(reading.map(({ promise }) => promise)))
    assert.equal(inner.state, 'held')
    await releaseAll(w, [...readers, inner])
    assert.equal(await exists(w, w.id), false)
  })

  scenario('a write that ends while its owner reads → writers who wait are not in before that ends', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const writer = await one.write.acquire()
    const inner = await one.read.acquire({ owner: writer.owner })
    const [writing, local] = [watch(two.write.acquire()), watch(one.write.acquire())]
    await w.pass(300)
    assert.equal(await w.run(writer.release()), true)
    await w.pass(200)
    assert.deepEqual([writing.settled, local.settled], [false, false])
    await releaseAll(w, [inner])
    for (const { promise } of [writing, local]) void promise.then((hold) => hold.release())
    await w.run(Promise.all([writing.promise, local.promise]))
    await w.eventually(async () => !(await exists(w, w.id)))
  })

  scenario('what its owner reads and writes → not detached; a read alone → adopted elsewhere', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const writer = await one.write.acquire()
    const inner = await one.read.acquire({ owner: writer.owner })
    for (const hold of [writer, inner]) await assert.rejects(hold.detach(), { code: 'NESTED_HOLD' })
    assert.equal(await writer.release(), true)
    const ticket = await inner.detach()
    assert.equal(await one.write.tryAcquire(), undefined)
    const adopted = await two.client.adopt(ticket)
    assert.deepEqual(
      (await one.read.inspect()).holders.map(({ client, mode }) => [client, mode]),
      [[two.client.id, 'read']],
    )
    assert.ok((await rejection(one.client.adopt(ticket))) instanceof LockLostError)
    assert.equal(await w.run(adopted.release()), true)
    const taken = await two.client.adopt(await (await one.write.acquire()).detach())
    assert.equal(await one.read.tryAcquire(), undefined)
    assert.equal(await w.run(taken.release()), true)
    assert.equal(await exists(w, w.id), false)
  })
}

for (const engine of engines) {
  void describe(`the read-write lock on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)
    for (const part of [sharing, oneOwner]) part(scenario)
    // On the real clock, a server of its own keeps the time also while this process is starved.
    if (engine !== memoryEngine) deadlines(scenario)
  })
  void describe(`the fair read-write lock on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = fairly(scenarios(engine))
    for (const part of [sharing, oneOwner]) part(scenario)
    if (engine !== memoryEngine) deadlines(scenario)
  })
}
