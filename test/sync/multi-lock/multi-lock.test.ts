import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Hold, Lock } from 'holdfast'
import {
  AcquireTimeoutError,
  BusyError,
  ClosedError,
  connect,
  DeadlockError,
  HoldfastError,
  LockLostError,
  MembersError,
  NotOwnerError,
} from 'holdfast'
import { exists, held, lasted, rejection, SHORT, timed, times, watch } from '../../suites/contract/lock/kind.js'
import type { Client, World } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'
import type { Stay } from '../../support/history.js'
import { checkHistory } from '../../support/history.js'

const namesOf = (w: World, count = 3): string[] => times(count, (i) => `${w.id}:${i}`)
const plain = (client: Client, names: readonly string[]): Lock[] => names.map((name) => client.lock(name))
const heldOnServer = async (w: World, names: readonly string[]): Promise<boolean[]> =>
  Promise.all(names.map((name) => exists(w, name)))

for (const engine of engines) {
  void describe(`multi-lock on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)

    scenario('M01: taken with a lease → every member is held by its owner; released → none', async (w) => {
      const client = await w.connect()
      const names = namesOf(w)
      const lock = client.multiLock(...plain(client, names))
      assert.equal(lock.name, names.join(', '))
      const hold = await w.run(lock.acquire({ lease: 10_000 }))
      assert.deepEqual(await heldOnServer(w, names), [true, true, true])
      assert.deepEqual(
        hold.members.map(({ name, owner }) => [name, owner]),
        names.map((name) => [name, hold.owner]),
      )
      assert.equal(hold.state, 'held')
      assert.equal(hold.remaining() <= Math.min(...hold.members.map((member) => member.remaining())) + 5, true)
      assert.equal(await lock.isLocked(), true)
      assert.equal((await lock.inspect()).holders.length, 3)
      assert.ok(((await lock.remaining()) ?? 0) > 9000 - w.slack)
      assert.equal(await w.run(hold.release()), true)
      assert.equal(hold.release(), hold.release())
      assert.equal(hold.state, 'released')
      assert.equal(hold.remaining(), 0)
      assert.deepEqual(await heldOnServer(w, names), [false, false, false])
      assert.equal(await lock.remaining(), undefined)
    })

    scenario(
      'M02: ten owners at once, no wait → all answered, one has it, nothing is left of the others',
      async (w) => {
        const clients = [await w.connect(), await w.connect()]
        const names = namesOf(w)
        const tries = times(10, (i) => {
          const client = clients[i % 2] as Client
          return client.multiLock(...plain(client, names)).tryAcquire({ lease: 10_000 })
        })
        const { value: holds, ms } = await timed(w, () => Promise.all(tries))
        lasted(w, ms, 0, 1000)
        const had = holds.filter((hold) => hold !== undefined)
        assert.equal(had.length, 1)
        assert.equal(await w.run((had[0] as Hold).release()), true)
        assert.deepEqual(await heldOnServer(w, names), [false, false, false])
      },
    )

    scenario('M03: another owner holds all for 800 ms → waits for it, then has it', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const names = namesOf(w)
      const hold = await w.run(one.multiLock(...plain(one, names)).acquire())
      const next = watch(two.multiLock(...plain(two, names)).acquire())
      await w.pass(800)
      assert.equal(next.settled, false)
      assert.equal(await w.run(hold.release()), true)
      const { value, ms } = await timed(w, () => next.promise)
      lasted(w, ms, 0, 1200)
      assert.equal(await w.run(value.release()), true)
    })

    scenario('X01: taken → each of its members is locked', async (w) => {
      const client = await w.connect()
      const names = namesOf(w, 2)
      const hold = await w.run(client.multiLock(...plain(client, names)).acquire())
      for (const lock of plain(client, names)) assert.equal(await lock.isLocked(), true)
      assert.equal(await w.run(hold.release()), true)
      for (const lock of plain(client, names)) assert.equal(await lock.isLocked(), false)
    })

    scenario('G-21: members of every kind and of two clients, in opposite orders → one inside at a time', async (w) => {
      const [one, two, elsewhere] = [await w.connect(), await w.connect(), await connect('memory:')]
      const owners: readonly ((client: Client) => Lock)[] = [
        (client) => client.lock(`${w.id}:plain`),
        (client) => client.fairLock(`${w.id}:fair`),
        (client) => client.readWriteLock(`${w.id}:rw`).write,
        (client) => client.readWriteLock(`${w.id}:frw`, { fair: true }).write,
        (client) => client.spinLock(`${w.id}:spin`),
        (client) => client.fencedLock(`${w.id}:fenced`),
        (client) => client.keyedLock(`${w.id}:keyed`, ['a', 'b']),
      ]
      const stays: Stay[] = []
      let clock = 0n
      const visit = async (index: number): Promise<void> => {
        const own = owners.map((open, place) => open((place + index) % 2 === 0 ? one : two))
        // The embedded engine has a clock of its own: it is one more member, of another kind of server.
        const members = [...own, ...(w.virtual ? [] : [elsewhere.lock('elsewhere')])]
        const lock = one.multiLock(...(index % 2 === 0 ? members : members.reverse()))
        for (let round = 0; round < 3; round++) {
          await lock.using(async (hold) => {
            assert.equal(hold.members.length, members.length)
            const from = (clock += 1n)
            await w.pause(2)
            stays.push({ who: `${index}/${round}`, from, to: (clock += 1n) })
          })
        }
      }
      try {
        const { ms } = await timed(w, () => Promise.all(times(4, visit)))
        assert.ok(ms < 40_000, `${ms} ms`)
        assert.equal(stays.length, 12)
        checkHistory(stays)
      } finally {
        await elsewhere.close()
      }
    })

    scenario('G-21: reads beside one another, a write alone, as members of several locks', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const [reads, alsoReads] = [one, two].map((client) =>
        client.multiLock(client.readWriteLock(w.id).read, client.lock(`${w.id}:${client.id}`)),
      )
      const writes = two.multiLock(two.lock(`${w.id}:x`), two.readWriteLock(w.id).write)
      assert.ok(reads !== undefined && alsoReads !== undefined)
      const holds = [await w.run(reads.acquire()), await w.run(alsoReads.acquire())]
      assert.equal(await w.run(writes.tryAcquire()), undefined)
      assert.equal(await exists(w, `${w.id}:x`), false, 'all or nothing')
      const waiting = watch(writes.acquire())
      await w.pass(200)
      assert.equal(waiting.settled, false)
      for (const hold of holds) assert.equal(await w.run(hold.release()), true)
      const hold = await w.run(waiting.promise)
      assert.equal(await w.run(reads.tryAcquire()), undefined)
      assert.equal(await w.run(hold.release()), true)
    })

    scenario('G-21: opposite and overlapping orders → all end, one inside at a time', async (w) => {
      const clients = [await w.connect(), await w.connect()]
      const names = namesOf(w)
      const stays: Stay[][] = names.map(() => [])
      let clock = 0n
      const worker = async (index: number): Promise<void> => {
        const client = clients[index % 2] as Client
        for (let round = 0; round < 8; round += 1) {
          const order = [
            [0, 1],
            [1, 0],
            [1, 2],
            [2, 0, 1],
          ][(index + round) % 4] as number[]
          const lock = client.multiLock(...order.map((i) => client.lock(names[i] as string)))
          await lock.using(async () => {
            const from = (clock += 1n)
            await w.pause(2)
            const to = (clock += 1n)
            for (const i of order) stays[i]?.push({ who: `${index}/${round}/${i}`, from, to })
          })
        }
      }
      const { ms } = await timed(w, () => Promise.all(times(6, worker)))
      assert.ok(ms < 30_000, `${ms} ms`)
      for (const some of stays) checkHistory(some)
      assert.equal(stays.flat().length, 6 * 2 * (2 + 2 + 2 + 3))
      assert.deepEqual(await heldOnServer(w, names), [false, false, false])
    })

    scenario('a member held elsewhere → not had; in time; the others are free again', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const names = namesOf(w)
      for (const taken of names) {
        const hold = await two.lock(taken).acquire()
        const lock = one.multiLock(...plain(one, names))
        assert.equal(await w.run(lock.tryAcquire()), undefined)
        const { value, ms } = await timed(w, () => lock.tryAcquire({ wait: 200 }))
        assert.equal(value, undefined)
        lasted(w, ms, 100, 200)
        assert.ok((await rejection(w.run(lock.acquire({ wait: 50 })))) instanceof AcquireTimeoutError)
        assert.deepEqual(
          await heldOnServer(w, names),
          names.map((name) => name === taken),
        )
        assert.equal(await w.run(hold.release()), true)
      }
    })

    scenario('aborted while it waits, and on its way → the signal’s reason, nothing held', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const names = namesOf(w)
      const hold = await two.lock(names[2] as string).acquire()
      const controller = new AbortController()
      const lock = one.multiLock(...plain(one, names))
      const waiting = rejection(lock.acquire({ signal: controller.signal }))
      await w.pass(150)
      const reason = new Error('enough')
      controller.abort(reason)
      assert.equal(await w.run(waiting), reason)
      assert.equal(await rejection(lock.acquire({ signal: controller.signal })), reason)
      await w.eventually(async () => (await heldOnServer(w, names)).filter(Boolean).length === 1)
      assert.equal(await w.run(hold.release()), true)
      for (const delay of [0, 0, 1, 2]) {
        const late = new AbortController()
        const taking = lock.acquire({ signal: late.signal }).then(
          (had) => had.release(),
          () => true,
        )
        await w.pass(delay)
        late.abort()
        assert.equal(await w.run(taking), true)
        await w.eventually(async () => !(await heldOnServer(w, names)).includes(true))
      }
    })

    scenario('G-21: members that fail → each told with its index, nothing held', async (w) => {
      const client = await w.connect()
      const names = namesOf(w)
      await w.raw('SET', names[1] as string, 'x')
      await w.raw('SET', names[2] as string, 'x')
      const error = await rejection(w.run(client.multiLock(...plain(client, names)).acquire()))
      assert.ok(error instanceof MembersError, String(error))
      assert.equal(error.code, 'MEMBERS')
      assert.deepEqual(
        error.errors.map(({ index, name }) => [index, name]),
        [
          [1, names[1]],
          [2, names[2]],
        ],
      )
      for (const { error: own } of error.errors) assert.equal((own as HoldfastError).code, 'WRONG_KIND')
      assert.match(error.message, /\[1\].*another (?:type|kind).*\[2\].*another (?:type|kind)/s)
      assert.equal(await exists(w, names[0] as string), false)
      for (const name of names) await w.raw('DEL', name)
    })

    scenario('one member lost → the whole is, at once; the others are given back a moment later', async (w) => {
      const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect({ watchdog: SHORT })]
      const names = namesOf(w)
      const [a, b, c] = names as [string, string, string]
      const lock = one.multiLock(one.lock(a), two.fencedLock(b), two.fairLock(c))
      const hold = await w.run(lock.acquire())
      await held(w, hold)
      await w.raw('DEL', b)
      await w.eventually(() => hold.signal.aborted, 4000)
      assert.equal(hold.state, 'lost')
      assert.equal(hold.lost, true)
      assert.equal(hold.remaining(), 0)
      const reason: unknown = hold.signal.reason
      assert.ok(reason instanceof LockLostError)
      assert.ok(reason.message.includes(b), reason.message)
      await w.eventually(async () => !(await heldOnServer(w, names)).includes(true), 4000)
      assert.equal(await w.run(hold.release()), false)
    })

    scenario('a fixed lease runs out → lost with the first; `extend` → of all', async (w) => {
      const client = await w.connect()
      const lock = client.multiLock(...plain(client, namesOf(w)))
      const hold = await w.run(lock.acquire({ lease: 1500 }))
      await hold.extend(4000)
      assert.ok(hold.remaining() > 4000 - 200 - w.slack)
      await w.eventually(() => hold.state === 'lost', 8000)
      assert.ok((await rejection(hold.extend(1000))) instanceof LockLostError)
      const watched = await w.run(lock.acquire())
      assert.ok((await rejection(watched.extend(1000))) instanceof RangeError)
      assert.equal(await w.run(watched.release()), true)
      assert.ok((await rejection(watched.extend(1000))) instanceof NotOwnerError)
    })

    scenario('`using` → its work may take it, and a member, again; another owner may not', async (w) => {
      const client = await w.connect()
      const names = namesOf(w)
      const members = plain(client, names)
      const lock = client.multiLock(...members)
      const value = await w.run(
        lock.using(async (hold) => {
          await client.multiLock(...members).using((inner) => {
            assert.equal(inner.owner, hold.owner)
          })
          // Through other objects of the same locks, too.
          await client.multiLock(...plain(client, names)).using((inner) => {
            assert.equal(inner.owner, hold.owner)
          })
          await client.lock(names[1] as string).using((inner) => {
            assert.equal(inner.owner, hold.owner)
          })
          const others = await rejection(lock.acquire({ owner: client.owner() }))
          assert.ok(others instanceof DeadlockError, String(others))
          assert.ok(others.cause instanceof MembersError)
          assert.deepEqual([others.target, others.cause.errors[0]?.index], [lock.name, 0])
          assert.equal(await lock.tryAcquire({ owner: client.owner() }), undefined)
          return 42
        }),
      )
      assert.equal(value, 42)
      const error = new Error('of the work')
      assert.equal(await rejection(w.run(lock.using(() => Promise.reject(error)))), error)
      assert.deepEqual(await heldOnServer(w, names), [false, false, false])
    })

    scenario(
      'members of several clients, one closes → told with its error; the other’s member is given back',
      async (w) => {
        const [one, two] = [await w.connect(), await w.connect()]
        const names = namesOf(w, 2)
        const lock = one.multiLock(one.lock(names[0] as string), two.spinLock(names[1] as string))
        const hold = await w.run(lock.acquire())
        await w.run(two.close())
        await w.eventually(() => hold.signal.aborted)
        assert.equal((hold.signal.reason as HoldfastError).code, 'CLOSED')
        await w.eventually(async () => !(await heldOnServer(w, names)).includes(true), 4000)
        const error = await rejection(w.run(lock.acquire()))
        assert.ok(error instanceof ClosedError, String(error))
        assert.ok(error.cause instanceof MembersError)
        assert.deepEqual(
          error.cause.errors.map(({ index, name }) => [index, name]),
          [[1, names[1]]],
        )
        assert.equal(await exists(w, names[0] as string), false)
      },
    )

    scenario('Redisson’s words → `lock`, `unlock`, `isHeld`, `holdCount`; NotOwnerError changes nothing', async (w) => {
      const client = await w.connect()
      const names = namesOf(w)
      const me = client.owner('me')
      const mine = client.multiLock(...plain(client, names)).for(me)
      await w.run(mine.lock())
      assert.equal(await w.run(mine.tryLock()), true)
      assert.equal(await mine.holdCount(), 2)
      assert.equal(await mine.isLocked(), true)
      const there = client.multiLock(...plain(client, names)).for(me)
      await w.run(there.unlock())
      assert.equal(await there.isHeld(), true)
      assert.ok((await mine.remainTimeToLive()) > 0)
      await w.run(there.unlock())
      assert.equal(await mine.isHeld(), false)
      assert.equal(await mine.remainTimeToLive(), -2)
      await client
        .lock(names[0] as string)
        .for(me)
        .lock()
      assert.ok((await rejection(w.run(mine.unlock()))) instanceof NotOwnerError)
      assert.equal(await exists(w, names[0] as string), true)
      await w.pass(5)
      assert.equal(await mine.forceUnlock(), true)
      assert.equal(await mine.forceUnlock(), false)
      assert.deepEqual(await heldOnServer(w, names), [false, false, false])
    })

    scenario('a part of it is held by its owner → `unlock` is a NotOwnerError, and the part stays held', async (w) => {
      const client = await w.connect()
      const names = namesOf(w)
      const me = client.owner('me')
      const mine = client.multiLock(...plain(client, names)).for(me)
      await w.run(mine.lock())
      const part = client.lock(names[0] as string).for(me)
      await w.run(part.unlock())
      const before = await heldOnServer(w, names)
      assert.equal(before.filter(Boolean).length, before.length - 1)
      assert.ok((await rejection(w.run(mine.unlock()))) instanceof NotOwnerError)
      assert.deepEqual(await heldOnServer(w, names), before)
      assert.equal(await mine.forceUnlock(), true)
    })

    scenario('no lock, what is no lock, a ticket, bad options → refused, and it says why', async (w) => {
      const client = await w.connect()
      assert.throws(() => client.multiLock(), RangeError)
      assert.throws(() => client.multiLock({} as Lock), /locks\[0\]/)
      const lock = client.multiLock(client.lock(w.id), client.lock(`${w.id}:2`))
      assert.ok((await rejection(lock.acquire({ lease: 0 }))) instanceof RangeError)
      const hold = await w.run(lock.acquire())
      const error = await rejection(hold.detach())
      assert.ok(error instanceof HoldfastError)
      assert.equal(error.code, 'UNSUPPORTED')
      assert.match(error.message, /hold\.members/)
      assert.equal(await w.run(hold.release()), true)
    })

    scenario('members of one key → refused at once, and both are named', async (w) => {
      const [client, other] = [await w.connect(), await w.connect()]
      const lock = client.lock(w.id)
      const { read, write } = client.readWriteLock(w.id)
      const inner = client.multiLock(client.lock('x'), client.fairLock(w.id))
      for (const second of [lock, client.lock(w.id), client.nonReentrantLock(w.id), client.fencedLock(w.id), inner])
        assert.throws(
          () => client.multiLock(client.lock('y'), lock, second),
          (thrown) => thrown instanceof TypeError && thrown.message.includes('locks[1] and locks[2]'),
        )
      assert.throws(() => client.multiLock(read, write), TypeError)
      assert.throws(() => client.redLock(lock, client.lock('z'), client.spinLock(w.id)), TypeError)
      assert.equal(client.multiLock(lock, other.lock(w.id)).name, `${w.id}, ${w.id}`, 'of another client')
    })

    scenario('too many wait → BusyError, which tells the member', async (w) => {
      const [one, two] = [await w.connect({ maxWaiters: 1 }), await w.connect()]
      const names = namesOf(w, 2)
      const holds = await Promise.all(names.map((name) => two.lock(name).acquire()))
      const waiting = watch(one.lock(names[0] as string).acquire())
      await w.pass(50)
      const error = await rejection(w.run(one.multiLock(...plain(one, names)).acquire()))
      assert.ok(error instanceof BusyError, String(error))
      assert.ok(error.cause instanceof MembersError)
      assert.equal(error.cause.errors[0]?.index, 0)
      assert.equal(await w.run((holds[0] as Hold).release()), true)
      assert.equal(await w.run((await w.run(waiting.promise)).release()), true)
      assert.equal(await w.run((holds[1] as Hold).release()), true)
    })
  })
}
