import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { AcquireOptions, MultiHold, MultiLock } from 'holdfast'
import { AcquireTimeoutError, EngineError, LockLostError, MembersError, NotOwnerError } from 'holdfast'
import { rejection, times, watch } from '../../suites/contract/lock/kind.js'
import type { Client } from '../../support/engines.js'
import { checkHistory, type Stay } from '../../support/history.js'
import { until } from '../../support/until.js'
import { ringOf } from './servers.js'

const LEASE = 4000
/** What a loaded machine takes. */
const SLACK = 1000

const timed = async <T>(work: Promise<T>): Promise<{ value: T; ms: number }> => {
  const begun = performance.now()
  const value = await work
  return { value, ms: performance.now() - begun }
}

/** A majority has granted it; from here on all have. */
const whole = (hold: MultiHold, count: number): Promise<void> => until(() => hold.members.length === count)

for (const count of [3, 5]) {
  const most = Math.floor(count / 2)
  // Each has servers of its own, and mostly waits for those that are silent.
  void describe(`red-lock of ${count} servers`, { concurrency: 4 }, () => {
    const scenario = ringOf(count)

    scenario('taken and given back → on all of them, with what is certain less than the lease', async (ring) => {
      const lock = (await ring.seat()).lock(ring.name)
      const hold = await lock.acquire({ lease: LEASE })
      assert.equal(hold.state, 'held')
      await whole(hold, count)
      assert.equal(await ring.held(), count)
      // Its own margin, and a hundredth for the clocks.
      assert.ok(hold.remaining() <= LEASE - LEASE / 20 - LEASE / 100, String(hold.remaining()))
      assert.equal(await lock.isLocked(), true)
      assert.ok(((await lock.remaining()) ?? 0) > 0)
      assert.equal((await lock.inspect()).holders.length, count)
      assert.equal(await hold.release(), true)
      assert.equal(await ring.held(), 0)
      assert.equal(hold.state, 'released')
      assert.equal(await lock.isLocked(), false)
      assert.equal(await lock.remaining(), undefined)
    })

    scenario('R08: a minority is killed → had and given back without waiting for it', async (ring) => {
      const lock = (await ring.seat()).lock(ring.name)
      for (let index = 0; index < most; index++) await ring.kill(index)
      await sleep(100)
      const { value: hold, ms } = await timed(lock.acquire({ lease: LEASE }))
      assert.ok(ms < 2000, `${ms} ms`)
      assert.equal(hold.state, 'held')
      const freed = await timed(hold.release())
      assert.equal(freed.value, true)
      assert.ok(freed.ms < 2000, `${freed.ms} ms`)
    })

    scenario('a minority is stopped → the same: nobody waits for its replies', async (ring) => {
      const lock = (await ring.seat()).lock(ring.name)
      for (let index = 0; index < most; index++) ring.stop(index)
      const { value: hold, ms } = await timed(lock.acquire({ lease: LEASE }))
      assert.ok(ms < 1200, `${ms} ms`)
      assert.equal(hold.members.length, count - most)
      const freed = await timed(hold.release())
      assert.equal(freed.value, true)
      assert.ok(freed.ms < 1000, `${freed.ms} ms`)
    })

    scenario(
      'one answers after its time → joins the hold that was had without it, and is given back with it',
      async (ring) => {
        const lock = (await ring.seat()).lock(ring.name)
        ring.stop(0)
        const hold = await lock.acquire({ lease: LEASE })
        await sleep(700)
        assert.equal(hold.members.length, count - 1)
        ring.go(0)
        await whole(hold, count)
        assert.equal(await ring.held(), count)
        assert.equal(await hold.release(), true)
        await until(async () => (await ring.held()) === 0)
      },
    )

    scenario(
      'in the course of `using` one grants after its time → taken there again by the same owner',
      async (ring) => {
        const seat = await ring.seat()
        const [late] = seat.clients as [Client]
        ring.stop(0)
        await seat.lock(ring.name).using({ lease: LEASE }, async (hold) => {
          await sleep(700)
          ring.go(0)
          await whole(hold, count)
          const inner = await late.lock(ring.name).acquire({ wait: 1000 })
          assert.equal(inner.owner, hold.owner)
          assert.equal(await inner.release(), true)
        })
      },
    )

    scenario(
      'a minority is silent → had, or not where one more is another’s, within the wait asked for',
      async (ring) => {
        const [one, two] = [await ring.seat(), await ring.seat()]
        const lock = one.lock(ring.name)
        for (let index = 0; index < most; index++) ring.stop(index)
        const { value: hold, ms } = await timed(lock.acquire({ wait: 1500, lease: LEASE }))
        assert.ok(ms < 1500, `${ms} ms`)
        assert.equal(hold.state, 'held')
        assert.equal(await hold.release(), true)
        const others = (two.clients[count - 1] as Client).lock(ring.name)
        const other = await others.acquire({ lease: 20_000 })
        for (const wait of [100, 900]) {
          const missed = await timed(rejection(lock.acquire({ wait, lease: LEASE })))
          assert.ok(missed.value instanceof AcquireTimeoutError, String(missed.value))
          assert.ok(missed.ms < wait + SLACK, `${missed.ms} ms of ${wait}`)
        }
        assert.equal(await other.release(), true)
      },
    )

    scenario('a majority is silent → told in time which, and nothing is left on the others', async (ring) => {
      const lock = (await ring.seat()).lock(ring.name)
      for (let index = 0; index <= most; index++) ring.stop(index)
      const { value: error, ms } = await timed(rejection(lock.acquire({ lease: LEASE })))
      assert.ok(ms < 2500, `${ms} ms`)
      assert.ok(error instanceof MembersError, String(error))
      assert.deepEqual(
        error.errors.map(({ index }) => index),
        times(most + 1, (index) => index),
      )
      assert.ok(error.errors.every((failure) => failure.error instanceof EngineError))
      assert.equal(await ring.held(), 0)
    })

    scenario('the majority goes during the hold → lost, and told before another can have it', async (ring) => {
      const watchdog = 1800
      const lock = (await ring.seat({ watchdog })).lock(ring.name)
      const hold = await lock.acquire()
      await sleep(watchdog)
      assert.equal(hold.state, 'held', 'renewed')
      let told = NaN
      hold.signal.addEventListener('abort', () => {
        told = performance.now()
      })
      for (let index = 0; index <= most; index++) ring.stop(index)
      const silent = performance.now()
      while (Number.isNaN(told) && performance.now() < silent + 5000) {
        const left = hold.remaining()
        assert.equal(left > 0, hold.state === 'held' || hold.state === 'uncertain')
        await sleep(20)
      }
      assert.ok(told - silent < watchdog, `told after ${told - silent} ms`)
      assert.equal(hold.state, 'lost')
      assert.equal(hold.remaining(), 0)
      const reason: unknown = hold.signal.reason
      assert.ok(reason instanceof LockLostError)
      assert.equal(await hold.release(), false)
      // Given back to who needs it, where that can be.
      for (const end = performance.now() + 5000; (await ring.held()) > 0 && performance.now() < end;) await sleep(50)
      assert.equal(await ring.held(), 0)
    })

    scenario('a minority goes during the hold → held on, and renewed', async (ring) => {
      const watchdog = 1800
      const lock = (await ring.seat({ watchdog })).lock(ring.name)
      const hold = await lock.acquire()
      await whole(hold, count)
      await ring.kill(0)
      await sleep(2 * watchdog)
      assert.equal(hold.state, 'held')
      assert.equal(hold.signal.aborted, false)
      assert.equal(await hold.release(), true)
    })

    scenario('waits of a millisecond or two, over before all have answered → not had, no error', async (ring) => {
      const [one, two] = [await ring.seat(), await ring.seat()]
      const other = await two.lock(ring.name).acquire()
      for (let round = 0; round < 300; round++) {
        const wait = 1 + (round % 3)
        assert.equal(await one.lock(ring.name).tryAcquire({ wait, lease: LEASE }), undefined)
      }
      assert.equal(await other.release(), true)
    })

    scenario('R05, R06: a majority held elsewhere → not had, a minority → had', async (ring) => {
      const [one, two] = [await ring.seat(), await ring.seat()]
      const lock = one.lock(ring.name)
      const others = await Promise.all(
        two.clients.slice(0, most + 1).map((client) => client.lock(ring.name).acquire({ lease: 20_000 })),
      )
      assert.equal(await lock.tryAcquire(), undefined)
      const { value, ms } = await timed(rejection(lock.acquire({ wait: 400, lease: LEASE })))
      assert.ok(value instanceof AcquireTimeoutError, String(value))
      assert.ok(ms < 2500, `${ms} ms`)
      // A server that answers after its time is given back when its answer comes.
      await until(async () => (await ring.held()) === most + 1)
      const waiting = watch(lock.acquire({ lease: LEASE }))
      await sleep(200)
      assert.equal(waiting.settled, false)
      assert.equal(await others[0]?.release(), true)
      const hold = await waiting.promise
      assert.equal(hold.state, 'held')
      assert.equal(await hold.release(), true)
      for (const other of others.slice(1)) assert.equal(await other.release(), true)
    })

    scenario('G-21: contenders in opposite orders → all end, one inside at a time', async (ring) => {
      const seats = [await ring.seat(), await ring.seat()]
      const order = times(count, (index) => index)
      const stays: Stay[] = []
      let inside = 0
      const work = async (seat: number): Promise<void> => {
        const lock = (seats[seat % 2] as (typeof seats)[number]).lock(
          ring.name,
          seat % 2 === 0 ? order : [...order].reverse(),
        )
        for (let round = 0; round < 5; round++) {
          await lock.using(async () => {
            const from = process.hrtime.bigint()
            assert.equal((inside += 1), 1, 'two inside')
            await sleep(3)
            inside -= 1
            stays.push({ who: `${seat}/${round}`, from, to: process.hrtime.bigint() })
          })
        }
      }
      await Promise.all(times(4, work))
      checkHistory(stays)
      assert.equal(stays.length, 20)
    })

    scenario('two of five, or one of three, are silent → asked with a wait: had in time', async (ring) => {
      const lock = (await ring.seat()).lock(ring.name)
      for (let index = 0; index < most; index++) ring.stop(count - 1 - index)
      for (const options of [{ wait: 2000 }, { wait: 2000, lease: LEASE }, { wait: 300, lease: LEASE }]) {
        const { value: hold, ms } = await timed(lock.acquire(options))
        assert.ok(ms < options.wait + SLACK, `${ms} ms`)
        assert.equal(hold.state, 'held')
        assert.equal(await hold.release(), true)
      }
    })

    scenario('two of five, or one of three, are silent, and others have the rest → not had, in time', async (ring) => {
      const [one, two] = [await ring.seat(), await ring.seat()]
      const other = await two.lock(ring.name).acquire()
      await whole(other, count)
      for (let index = 0; index < most; index++) ring.stop(index)
      for (const wait of [300, 1000]) {
        const { value, ms } = await timed(rejection(one.lock(ring.name).acquire({ wait })))
        assert.ok(value instanceof AcquireTimeoutError, String(value))
        assert.ok(ms >= wait - 2 && ms < wait + SLACK, `${ms} ms`)
      }
      assert.equal(await other.release(), true)
    })

    scenario('aborted, also where servers are silent → the reason, at once, and nothing is left', async (ring) => {
      const [one, two] = [await ring.seat(), await ring.seat()]
      const other = await two.lock(ring.name).acquire()
      await whole(other, count)
      const controller = new AbortController()
      const waiting = rejection(one.lock(ring.name).acquire({ signal: controller.signal }))
      await sleep(200)
      ring.stop(count - 1)
      const reason = new Error('enough')
      const begun = performance.now()
      controller.abort(reason)
      assert.equal(await waiting, reason)
      assert.ok(performance.now() - begun < 1000)
      assert.equal(await other.release(), true)
    })

    scenario('R07: `using`, its members, and Redisson’s words → as of one lock', async (ring) => {
      const seat = await ring.seat()
      const lock = seat.lock(ring.name)
      await lock.using(async (hold) => {
        await seat.lock(ring.name).using((inner) => {
          assert.equal(inner.owner, hold.owner)
        })
        assert.equal(await seat.lock(ring.name).tryAcquire({ owner: (seat.clients[0] as Client).owner() }), undefined)
      })
      const me = (seat.clients[0] as Client).owner()
      const mine = lock.for(me)
      await mine.lock()
      await mine.lock()
      assert.equal(await mine.holdCount(), 2)
      await mine.unlock()
      assert.equal(await mine.isHeld(), true)
      await mine.unlock()
      assert.equal(await mine.isHeld(), false)
      assert.ok((await rejection(mine.unlock())) instanceof NotOwnerError)
      await mine.lock()
      await sleep(5)
      assert.equal(await mine.forceUnlock(), true)
      assert.equal(await mine.remainTimeToLive(), -2)
    })
  })
}

void describe('what Redisson’s tests say of a red-lock of three servers', () => {
  const scenario = ringOf(3)
  const untilHad = async (lock: MultiLock, options: AcquireOptions): Promise<MultiHold> =>
    (await lock.tryAcquire(options)) ?? untilHad(lock, options)
  for (const { id, options } of [
    { id: 'R01: leases of 2,000 ms', options: { lease: 2000 } },
    { id: 'R02: leases of 2 seconds', options: { lease: 2 * 1000 } },
    { id: 'R03: leases of a minute', options: { lease: 60 * 1000 } },
    { id: 'R04: tries of 4 s, again until had', options: { wait: 4000, lease: 2000 } },
  ]) {
    scenario(`${id}, ten owners × 5 rounds of read, wait and write → no update is lost`, async (ring) => {
      const seats = [await ring.seat(), await ring.seat()]
      let total = 0
      const work = async (index: number): Promise<void> => {
        const lock = (seats[index % 2] as (typeof seats)[number]).lock(ring.name)
        for (let round = 0; round < 5; round++) {
          const hold = await untilHad(lock, { wait: 60_000, ...options })
          const seen = total
          await sleep(5)
          total = seen + 1
          assert.equal(await hold.release(), true)
        }
      }
      await Promise.all(times(10, work))
      assert.equal(total, 50, 'an update was lost')
    })
  }

  scenario('M04: a multi-lock with a member on each of three servers → all or none', async (ring) => {
    const [one, two] = [await ring.seat(), await ring.seat()]
    const locks = [one, two].map(({ clients }) =>
      (clients[0] as Client).multiLock(...clients.map((client) => client.lock(ring.name))),
    )
    const hold = await (locks[0] as MultiLock).acquire()
    assert.equal(await ring.held(), 3)
    for (let tries = 0; tries < 2; tries++) {
      const { value, ms } = await timed((locks[1] as MultiLock).tryAcquire())
      assert.equal(value, undefined)
      assert.ok(ms < 5000, `${ms} ms`)
    }
    assert.equal(await hold.release(), true)
    assert.equal(await ring.held(), 0)
    // Where one cannot be had, none is kept.
    const other = await (two.clients[1] as Client).lock(ring.name).acquire()
    assert.equal(await (locks[0] as MultiLock).tryAcquire(), undefined)
    assert.equal(await ring.held(), 1)
    assert.equal(await other.release(), true)
  })
})

// Alone: it stops the others too.
void describe('red-lock and a busy process', () => {
  const scenario = ringOf(3)

  scenario(
    'this process stands still for longer than members have → their answers are there, and are read',
    async (ring) => {
      const lock = (await ring.seat()).lock(ring.name)
      const first = await lock.acquire({ lease: LEASE })
      await first.release()
      const trying = lock.tryAcquire({ lease: LEASE })
      await new Promise(setImmediate)
      for (const until = performance.now() + LEASE / 4; performance.now() < until;);
      const hold = await trying
      assert.equal(hold?.state, 'held')
      assert.equal(await hold.release(), true)
    },
  )
})
