import assert from 'node:assert/strict'
import { AcquireTimeoutError, DeadlockError } from 'holdfast'
import { exists, fieldsOf, isNotOwner, rejection, releaseAll, timed, lasted, watch, held } from './kind.js'
import type { Hold, Part } from './kind.js'

export const ownership: Part = ({ make, reentrant, several }, scenario, excludes) => {
  excludes('G-01: two acquires at once on one lock object → they exclude each other', async (w) => {
    const lock = make(await w.connect(), w.id)
    const [first, second] = [watch(lock.acquire()), watch(lock.acquire())]
    const hold = await w.run(Promise.race([first.promise, second.promise]))
    await w.pass(100)
    assert.equal([first, second].filter((one) => one.settled).length, 1)
    assert.equal(await lock.tryAcquire(), undefined)
    assert.equal(await hold.release(), true)
    const both = await w.run(Promise.all([first.promise, second.promise]))
    assert.notEqual(both[0].owner, both[1].owner)
    assert.equal(await w.run((both.find((one) => one !== hold) as Hold).release()), true)
  })

  scenario('an owner of one client → valid for every client of the process', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const owner = one.owner('me')
    assert.equal(owner.label, 'me')
    assert.equal(one.owner().label, undefined)
    const there = make(two, w.id).for(owner)
    const hold = await make(two, w.id).acquire({ owner })
    assert.equal(hold.owner, owner)
    assert.equal(there.owner, owner)
    assert.equal(there.name, w.id)
    assert.equal(await there.isHeld(), true)
    assert.equal(await hold.release(), true)
    assert.equal(await there.isHeld(), false)
    await there.lock()
    assert.equal(await make(one, w.id).isLocked(), true)
    await there.unlock()
    assert.equal(await exists(w, w.id), false)
  })

  scenario('G-11: unlocked through another lock object of the same owner → freed', async (w) => {
    const client = await w.connect()
    const owner = client.owner()
    await make(client, w.id).for(owner).lock()
    await make(client, w.id).for(owner).unlock()
    assert.equal(await exists(w, w.id), false)
  })

  scenario(
    'G-11: never locked, unlocked twice, forced, expired, or another’s → NotOwnerError with the name',
    async (w) => {
      const [client, other] = [await w.connect(), await w.connect()]
      const lock = make(client, w.id)
      const me = lock.for(client.owner())
      const refused = async (): Promise<void> => {
        const error = await rejection(w.run(me.unlock()))
        assert.ok(isNotOwner(w.id)(error))
        // The names that its members have it by are several.
        assert.ok(several === true || String(error).includes(client.id), `${String(error)} does not name the owner`)
      }
      await refused()
      await me.lock()
      await me.unlock()
      await refused()
      await me.lock()
      assert.equal(await lock.forceRelease(), true)
      await refused()
      await me.lock(500)
      await w.pass(600)
      await refused()
      const hold = await make(other, w.id).acquire()
      await refused()
      assert.equal(await hold.release(), true)
    },
  )

  excludes('the owner of a released hold → does not re-enter what the next waiter has', async (w) => {
    const lock = make(await w.connect(), w.id)
    const first = await lock.acquire()
    const second = lock.acquire()
    await w.pass(20)
    assert.equal(await first.release(), true)
    const hold = await w.run(second)
    assert.equal(await w.run(lock.tryAcquire({ owner: first.owner })), undefined)
    assert.ok(isNotOwner(w.id)(await rejection(w.run(lock.for(first.owner).unlock()))))
    assert.equal(await lock.for(first.owner).isHeld(), false)
    assert.equal(await lock.for(hold.owner).isHeld(), true)
    assert.equal(await hold.release(), true)
    assert.equal(await lock.isLocked(), false)
  })

  scenario('`using` → the work has the hold, its value is returned, and the lock is free after it', async (w) => {
    const lock = make(await w.connect(), w.id)
    let seen: Hold | undefined
    const value = await w.run(
      lock.using(async (hold) => {
        seen = hold
        await held(w, hold)
        assert.equal(await lock.isLocked(), true)
        assert.equal(Object.keys(await fieldsOf(w, w.id)).length, 1)
        return 42
      }),
    )
    assert.equal(value, 42)
    assert.equal(seen?.state, 'released')
    assert.equal(await exists(w, w.id), false)
    assert.equal(await w.run(lock.using(undefined, () => 'plain')), 'plain')
    assert.equal(await w.run(lock.using({ lease: 5000, wait: 20_000 }, (hold) => hold.remaining() <= 5000)), true)
  })

  scenario('`using` whose work throws or rejects → its own error, and the lock is free', async (w) => {
    const lock = make(await w.connect(), w.id)
    const error = new Error('of the work')
    const works: (() => Promise<never>)[] = [
      async () => {
        assert.equal(await exists(w, w.id), true)
        throw error
      },
      () => Promise.reject(error),
      () => {
        throw error
      },
    ]
    for (const work of works) {
      assert.equal(await rejection(w.run(lock.using(work))), error)
      assert.equal(await exists(w, w.id), false)
    }
  })

  excludes('`using` whose acquire fails → the work never runs', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const hold = await lock.acquire()
    const work = (): never => assert.fail('must not run')
    assert.ok((await rejection(w.run(lock.using({ wait: 50 }, work)))) instanceof AcquireTimeoutError)
    assert.equal(await rejection(w.run(lock.using({ signal: AbortSignal.abort('no') }, work))), 'no')
    assert.equal(await hold.release(), true)
  })

  scenario('`using` whose work released early → fine, and not released twice', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    let other: Hold | undefined
    await w.run(
      make(one, w.id).using(async (hold) => {
        assert.equal(await hold.release(), true)
        other = await make(two, w.id).tryAcquire()
      }),
    )
    assert.equal(other?.state, 'held')
    await releaseAll(w, [other])
  })

  excludes('a callback that outlives `using` → a fresh owner', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    let late: Promise<unknown> = Promise.resolve()
    let go = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    let old: Hold | undefined
    await w.run(
      lock.using((hold) => {
        old = hold
        late = gate.then(() => lock.tryAcquire())
      }),
    )
    const hold = await lock.acquire()
    go()
    assert.equal(await w.run(late), undefined, 'it must not enter beside the new holder')
    assert.notEqual(hold.owner, old?.owner)
    assert.equal(await hold.release(), true)
  })

  excludes('two callbacks that outlive one `using` → exclude one another', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    let go = (): void => undefined
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    const late: Promise<Hold | undefined>[] = []
    await w.run(
      lock.using(() => {
        for (let i = 0; i < 2; i += 1) late.push(gate.then(() => lock.tryAcquire()))
      }),
    )
    go()
    const [first, second] = await w.run(Promise.all(late))
    assert.equal(first?.state, 'held')
    assert.equal(second, undefined, 'they are no unit of work any more')
    await releaseAll(w, [first])
  })

  excludes('a callback that outlives `using`, while another `using` holds → waits its turn', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    let inside = 0
    let most = 0
    const work = async (): Promise<void> => {
      inside += 1
      most = Math.max(most, inside)
      await w.pause(5)
      inside -= 1
    }
    const stray: Promise<unknown>[] = []
    const visit = async (): Promise<void> => {
      let end = (): void => undefined
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      await lock.using(async () => {
        stray.push(ended.then(() => lock.using(work)))
        await work()
      })
      end()
    }
    await w.run(Promise.all([visit(), visit(), visit(), visit()]))
    await w.run(Promise.all(stray))
    assert.equal(stray.length, 4)
    assert.equal(most, 1)
  })

  excludes('inside `using`, another lock taken twice at once → excludes', async (w) => {
    const client = await w.connect()
    const other = make(client, `${w.id}:other`)
    let inside = 0
    let most = 0
    const work = async (): Promise<void> => {
      inside += 1
      most = Math.max(most, inside)
      await w.pause(10)
      inside -= 1
    }
    await w.run(make(client, w.id).using(() => Promise.all([other.using(work), other.using(work), other.using(work)])))
    assert.equal(most, 1)
  })

  excludes('inside `using`, the same name through another client → not re-entered', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    await w.run(
      make(one, w.id).using(async () => {
        assert.equal(await make(two, w.id).tryAcquire(), undefined)
        const error = await rejection(make(two, w.id).acquire({ wait: 50 }))
        assert.ok(error instanceof AcquireTimeoutError, String(error))
      }),
    )
  })

  excludes('inside `using`, waiting without limit as another owner → DeadlockError, not a hang', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const { ms } = await timed(w, () =>
      lock.using(async (hold) => {
        const owner = client.owner()
        const error = await rejection(lock.acquire({ owner }))
        assert.ok(error instanceof DeadlockError, String(error))
        assert.equal(error.target, w.id)
        assert.equal(await lock.tryAcquire({ owner }), undefined)
        await held(w, hold)
      }),
    )
    lasted(w, ms, 0)
    assert.equal(await exists(w, w.id), false)
  })

  if (!reentrant) return

  scenario('inside `using`, the same lock in code that it awaits → re-enters, level by level', async (w) => {
    const client = await w.connect()
    const lock = make(client, w.id)
    const counts = async (): Promise<number[]> => Object.values(await fieldsOf(w, w.id))
    const deep = async (): Promise<void> => {
      await w.pause(5)
      await make(client, w.id).using(async (inner) => {
        assert.deepEqual(await counts(), [2])
        const third = await lock.tryAcquire()
        assert.equal(third?.owner, inner.owner)
        assert.deepEqual(await counts(), [3])
        assert.equal(await third.release(), true)
      })
    }
    await w.run(
      lock.using(async (hold) => {
        await deep()
        assert.deepEqual(await counts(), [1])
        await held(w, hold)
        await Promise.all([deep(), w.pause(1)])
      }),
    )
    assert.equal(await exists(w, w.id), false)
  })

  scenario('inside `using`, the same lock twice at once → both re-enter', async (w) => {
    const lock = make(await w.connect(), w.id)
    await w.run(
      lock.using(async (hold) => {
        const holds = await Promise.all([lock.acquire(), lock.acquire()])
        for (const inner of holds) {
          assert.equal(inner.owner, hold.owner)
          assert.equal(await inner.release(), true)
        }
      }),
    )
    assert.equal(await exists(w, w.id), false)
  })

  scenario('`using` with `owner: hold.owner` → re-enters from outside', async (w) => {
    const lock = make(await w.connect(), w.id)
    const hold = await lock.acquire()
    const inner = await w.run(lock.using({ owner: hold.owner }, (one) => one.owner))
    assert.equal(inner, hold.owner)
    await held(w, hold)
    assert.equal(await lock.isLocked(), true)
    assert.equal(await hold.release(), true)
  })

  scenario('two locks, one inside the other, re-entered crosswise → each keeps its own owner', async (w) => {
    const client = await w.connect()
    const [a, b] = [make(client, `${w.id}:a`), make(client, `${w.id}:b`)]
    await w.run(
      a.using((first) =>
        b.using(async (second) => {
          assert.notEqual(first.owner, second.owner)
          const holds = await Promise.all([a.acquire(), b.acquire()])
          assert.deepEqual(
            holds.map((hold) => hold.owner),
            [first.owner, second.owner],
          )
          for (const hold of holds) assert.equal(await hold.release(), true)
        }),
      ),
    )
  })
}
