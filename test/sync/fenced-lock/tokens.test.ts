import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { FencedHold } from 'holdfast'
import { DeadlockError } from 'holdfast'
import { exists, rejection, SHORT, times } from '../../suites/contract/lock/kind.js'
import { engines, scenarios } from '../../support/engines.js'

const counterOf = (name: string): string => `redisson_lock_token:{${name}}`

for (const engine of engines) {
  void describe(`tokens of a fenced lock on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)

    scenario('FE01: taken in every way there is → 1, 2, 3, 4, 5; readable while held and after', async (w) => {
      const client = await w.connect()
      const lock = client.fencedLock(w.id)
      assert.equal((await lock.inspect()).token, undefined)
      const seen: bigint[] = []
      const visit = async (hold: FencedHold): Promise<void> => {
        seen.push(hold.token)
        assert.equal((await lock.inspect()).token, hold.token)
        assert.equal(await hold.release(), true)
        assert.equal((await lock.inspect()).token, hold.token)
      }
      await visit(await lock.acquire())
      await visit(await lock.acquire())
      await lock.for(client.owner()).lock()
      seen.push((await lock.inspect()).token ?? 0n)
      await w.pass(5)
      assert.equal(await lock.forceRelease(), true)
      await visit(await lock.acquire({ lease: 10_000 }))
      const tried = await lock.tryAcquire()
      assert.ok(tried !== undefined)
      await visit(tried)
      assert.deepEqual(seen, [1n, 2n, 3n, 4n, 5n])
    })

    scenario('G-20: re-entered → a new token, shown by every level, kept when the level ends', async (w) => {
      const lock = (await w.connect()).fencedLock(w.id)
      const outer = await lock.acquire()
      assert.equal(outer.token, 1n)
      const inner = await lock.acquire({ owner: outer.owner })
      assert.deepEqual([outer.token, inner.token], [2n, 2n])
      assert.equal(await inner.release(), true)
      assert.equal(outer.token, 2n)
      await lock.using({ owner: outer.owner }, async (hold) => {
        assert.equal(hold.token, 3n)
        await lock.using((nested) => {
          assert.equal(nested.token, 4n)
        })
      })
      assert.equal(await outer.release(), true)
      assert.equal(outer.token, 4n)
    })

    scenario('G-20: a try that fails, an aborted one, `extend` and renewals → none', async (w) => {
      const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect()]
      const hold = await one.fencedLock(w.id).acquire()
      assert.equal(await w.run(two.fencedLock(w.id).tryAcquire({ wait: 100 })), undefined)
      const controller = new AbortController()
      const waiting = rejection(two.fencedLock(w.id).acquire({ signal: controller.signal }))
      await w.pass(SHORT)
      controller.abort()
      await w.run(waiting)
      assert.equal(await w.raw('GET', counterOf(w.id)), '1')
      assert.equal(await w.run(hold.release()), true)
      const leased = await one.fencedLock(w.id).acquire({ lease: 5000 })
      await leased.extend(9000)
      assert.equal(leased.token, 2n)
      assert.equal(await leased.release(), true)
    })

    scenario('G-20: expired, forced open, another client → always above all before', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const expired = await one.fencedLock(w.id).acquire({ lease: 500 })
      const next = await w.run(two.fencedLock(w.id).acquire())
      const had = [expired.token, next.token]
      assert.equal(await one.fencedLock(w.id).forceRelease(), true)
      const last = await one.fencedLock(w.id).acquire()
      assert.ok(had[0] === 1n && had[0] < next.token && next.token < last.token, [...had, last.token].join())
      // A poll that meets the confirmation of the same grant takes a number, too.
      if (w.virtual) assert.deepEqual([...had, last.token], [1n, 2n, 3n])
      assert.deepEqual([expired.token, next.token], had, 'what is over keeps its token')
      assert.equal(await last.release(), true)
    })

    scenario('handed on within the process → a new token each time, in order', async (w) => {
      const lock = (await w.connect()).fencedLock(w.id)
      const tokens: bigint[] = []
      const visitors = times(20, (i) =>
        lock.using(i % 3 === 0 ? { lease: 20_000 } : undefined, (hold) => {
          tokens.push(hold.token)
        }),
      )
      await w.run(Promise.all(visitors))
      assert.deepEqual(
        tokens,
        times(20, (i) => BigInt(i + 1)),
      )
    })

    scenario('adopted → a new token; the one who detached keeps the old', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await one.fencedLock(w.id).acquire()
      const adopted = (await two.adopt(await hold.detach())) as FencedHold
      assert.deepEqual([hold.token, adopted.token], [1n, 2n])
      assert.equal(await adopted.release(), true)
    })

    scenario(
      'the counter is deleted while it is held → tokens grow on, also beyond 2^53 and in other clients',
      async (w) => {
        const [one, two] = [await w.connect(), await w.connect()]
        await w.raw('SET', counterOf(w.id), '9007199254740993')
        const lock = one.fencedLock(w.id)
        const hold = await lock.acquire()
        await w.raw('DEL', counterOf(w.id))
        const inner = await lock.acquire({ owner: hold.owner })
        assert.equal(inner.token, 9007199254740995n)
        assert.equal(await inner.release(), true)
        await w.raw('DEL', counterOf(w.id))
        const waiting = one.fencedLock(w.id).acquire()
        await w.pass(20)
        assert.equal(await w.run(hold.release()), true)
        const next = await w.run(waiting)
        assert.equal(next.token, 9007199254740996n, 'passed on')
        await w.raw('DEL', counterOf(w.id))
        assert.equal(await w.run(next.release()), true)
        const last = await two.fencedLock(w.id).acquire()
        assert.equal(last.token, 9007199254740997n, 'of another client')
        assert.equal(await w.run(last.release()), true)
      },
    )

    for (const how of ['renewed', 'with a lease of its own'] as const) {
      scenario(
        `the counter is deleted while a hold is ${how}, which then ends without it → tokens grow on`,
        async (w) => {
          const [one, two] = [await w.connect(), await w.connect()]
          await w.raw('SET', counterOf(w.id), '41')
          const hold = await one.fencedLock(w.id).acquire({ lease: 1500, renew: how === 'renewed' })
          assert.equal(hold.token, 42n)
          await w.raw('DEL', counterOf(w.id))
          await w.eventually(() => exists(w, counterOf(w.id)))
          assert.equal((await two.fencedLock(w.id).inspect()).token, 42n)
          await two.fencedLock(w.id).forceRelease()
          const next = await two.fencedLock(w.id).acquire()
          assert.equal(next.token, 43n)
          await w.run(next.release())
        },
      )
    }

    scenario('G-20: beyond 2^53 → exact; at the very end → refused, and nothing is held', async (w) => {
      const lock = (await w.connect()).fencedLock(w.id)
      await w.raw('SET', counterOf(w.id), '9223372036854775805')
      const hold = await lock.acquire()
      assert.equal(hold.token, 9223372036854775806n)
      const inner = await lock.acquire({ owner: hold.owner })
      assert.equal(hold.token, 9223372036854775807n)
      assert.match(String(await rejection(lock.acquire({ owner: hold.owner }))), /below 9223372036854775807/)
      assert.equal(await inner.release(), true)
      assert.equal(await hold.release(), true)
      assert.match(String(await rejection(lock.acquire())), /below 9223372036854775807/)
      assert.equal(await exists(w, w.id), false)
    })

    scenario(
      'G-15: something else under the counter’s name → its error at once, nothing held or passed on',
      async (w) => {
        const lock = (await w.connect()).fencedLock(w.id)
        await w.raw('RPUSH', counterOf(w.id), 'x')
        assert.match(String(await rejection(lock.acquire())), /WRONGTYPE/)
        assert.equal(await exists(w, w.id), false)
        await w.raw('DEL', counterOf(w.id))
        const hold = await lock.acquire()
        const waiting = lock.acquire().catch((error: unknown) => error)
        await w.raw('DEL', counterOf(w.id))
        await w.raw('RPUSH', counterOf(w.id), 'x')
        assert.equal(await w.run(hold.release()), true)
        assert.match(String(await w.run(waiting)), /WRONGTYPE/)
        await w.eventually(async () => !(await exists(w, w.id)))
        await w.raw('DEL', counterOf(w.id))
      },
    )

    scenario('within `using` of the plain lock of this name, without limit → DeadlockError, not a hang', async (w) => {
      const client = await w.connect()
      await w.run(
        client.lock(w.id).using(async () => {
          assert.ok((await rejection(client.fencedLock(w.id).acquire())) instanceof DeadlockError)
          assert.equal(await client.fencedLock(w.id).tryAcquire(), undefined)
        }),
      )
    })

    scenario('the first fenced lock of a client → `warnings` say what can take tokens back', async (w) => {
      const told: string[] = []
      const silent = (): void => undefined
      const warn = (message: string): void => void told.push(message)
      const client = await w.connect({ logger: { debug: silent, info: silent, error: silent, warn } })
      const before = client.warnings.length
      client.fencedLock(w.id)
      client.fencedLock(`${w.id}:2`)
      assert.deepEqual(client.warnings.slice(before), told.slice(before))
      assert.equal(client.warnings.filter((warning) => warning.includes('append-only')).length, 1)
    })
  })
}
