import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Hold } from 'holdfast'
import { connect, DeadlockError, LockLostError } from 'holdfast'
import { exists, held, lasted, pttl, rejection, SHORT, timed, times, watch } from '../../suites/contract/lock/kind.js'
import { type Client, engines, scenarios, type World } from '../../support/engines.js'
import { checkHistory, type Stay } from '../../support/history.js'
import { fieldOf } from '#src/sync/keyed-lock/field-of-key.js'

const hashOf = async (w: World): Promise<ReadonlyMap<string, string>> => {
  const flat = (await w.raw('HGETALL', w.id)) as string[]
  return new Map(times(flat.length / 2, (i) => [flat[2 * i] as string, String(flat[2 * i + 1])]))
}

/** The keys that are held, each by an owner whose end and count stand there, too; nothing else is in the hash. */
const ownersOf = async (w: World, keys: readonly string[]): Promise<(string | undefined)[]> => {
  const hash = await hashOf(w)
  const owners = keys.map((key) => hash.get(fieldOf(key)))
  owners.forEach((owner, index) => {
    if (owner === undefined) return
    const own = `${fieldOf(keys[index] as string)}:${owner}`
    assert.match(hash.get(`${own}:expire_time`) ?? '', /^\d{13,16}$/)
    assert.match(hash.get(`${own}:lock_count`) ?? '', /^\d+$/)
  })
  assert.equal(hash.size, 3 * owners.filter((owner) => owner !== undefined).length, 'something else is there')
  return owners
}

for (const engine of engines) {
  void describe(`keyed lock on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)

    scenario('G01: what stands on the server → three fields for each key, by Redisson’s hash', async (w) => {
      const client = await w.connect()
      assert.equal(fieldOf('student:001').length, 22)
      const lock = client.keyedLock(w.id, ['a', 'b', 'a'])
      assert.equal(lock.name, w.id)
      const hold = await lock.acquire({ lease: 10_000 })
      const [a, b] = await ownersOf(w, ['a', 'b'])
      assert.ok(a?.startsWith(client.id) === true && a === b)
      const [seconds = 0] = ((await w.raw('TIME')) as string[]).map(Number)
      const ends = Number((await hashOf(w)).get(`${fieldOf('a')}:${a}:expire_time`))
      assert.ok(Math.abs(ends - seconds * 1000 - 10_000) < 2000 + w.slack)
      assert.ok((await pttl(w, w.id)) <= 10_000)
      assert.equal(await hold.release(), true)
      assert.equal(await exists(w, w.id), false)
    })

    scenario('sets that overlap → exclude; that do not → both; all or nothing', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await one.keyedLock(w.id, ['a', 'b']).acquire({ lease: 9000 })
      for (const client of [one, two]) {
        assert.equal(await client.keyedLock(w.id, ['b', 'c']).tryAcquire(), undefined)
        assert.equal(await client.keyedLock(w.id, ['c', 'b']).isLocked(), true)
        assert.equal(await client.keyedLock(w.id, ['c']).isLocked(), false)
      }
      assert.deepEqual((await ownersOf(w, ['a', 'b', 'c']))[2], undefined)
      const other = await two.keyedLock(w.id, ['c', 'd']).tryAcquire({ lease: 60_000 })
      assert.ok(other !== undefined)
      assert.ok((await pttl(w, w.id)) > 20_000, 'the group lasts as long as the longest')
      const state = await two.keyedLock(w.id, ['b', 'c', 'd', 'e']).inspect()
      assert.deepEqual(
        state.holders.map(({ client, count, keys }) => [client, count, keys]),
        [
          [one.id, 1, ['b']],
          [two.id, 1, ['c', 'd']],
        ],
      )
      assert.ok((state.remaining ?? 0) > 50_000)
      assert.ok(((await one.keyedLock(w.id, ['a']).remaining()) ?? 0) <= 9000)
      assert.equal(await w.run(hold.release()), true)
      assert.deepEqual((await ownersOf(w, ['a', 'b', 'c', 'd'])).map(Boolean), [false, false, true, true])
      assert.equal(await w.run(other.release()), true)
    })

    scenario('passed on, or taken after an owner that is overdue → the group always has an expiry', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await w.run(one.keyedLock(w.id, ['a']).acquire({ lease: 30_000 }))
      const adopted = await w.run(two.adopt(await w.run(hold.detach())))
      assert.ok((await pttl(w, w.id)) > 0, 'passed on')
      assert.equal(await w.run(adopted.release()), true)
      // One had a key for much longer, and the group lasts as long; the owner of the other does not release it.
      const long = await w.run(one.keyedLock(w.id, ['b']).acquire({ lease: 60_000 }))
      await w.run(one.keyedLock(w.id, ['c']).acquire({ lease: 500 }))
      assert.equal(await w.run(long.release()), true)
      const next = await w.run(two.keyedLock(w.id, ['c']).acquire({ lease: 5000, wait: 10_000 }))
      assert.ok((await pttl(w, w.id)) > 0, 'after an owner that is overdue')
      assert.equal(await w.run(next.release()), true)
    })

    scenario('the longest lease there can be → kept from others all the same', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await one.keyedLock(w.id, ['a', 'b']).acquire({ lease: 2 ** 52 })
      assert.equal(await two.keyedLock(w.id, ['b', 'c']).tryAcquire(), undefined)
      assert.ok(((await two.keyedLock(w.id, ['a']).remaining()) ?? 0) > 2 ** 51)
      assert.equal(await w.run(hold.release()), true)
    })

    scenario(
      'who waits for keys of several holders → has them after the last; nobody behind has one of them before',
      async (w) => {
        const [one, two] = [await w.connect(), await w.connect()]
        const holds = [await one.keyedLock(w.id, ['a']).acquire(), await two.keyedLock(w.id, ['b']).acquire()]
        const first = watch(one.keyedLock(w.id, ['a', 'b']).acquire())
        await w.pass(100)
        const second = watch(two.keyedLock(w.id, ['a', 'b']).acquire())
        const apart = watch(two.keyedLock(w.id, ['a', 'c']).acquire())
        await w.pass(300)
        assert.equal(await w.run((holds[0] as Hold).release()), true)
        await w.pass(100)
        assert.ok([first, second, apart].every(({ settled }) => !settled))
        assert.equal(await w.run((holds[1] as Hold).release()), true)
        const { value: had, ms } = await timed(w, () => first.promise)
        lasted(w, ms, 0, 100)
        await w.pass(100)
        assert.ok([second, apart].every(({ settled }) => !settled))
        assert.equal(await w.run(had.release()), true)
        for (const { promise } of [second, apart]) void promise.then((hold) => hold.release())
        await w.run(Promise.all([second.promise, apart.promise]))
      },
    )

    scenario('G04: several sets of one client → renewed together, and each lost for itself', async (w) => {
      const client = await w.connect({ watchdog: 2 * SHORT })
      const sets = [['a'], ['b', 'c'], times(300, (i) => `many:${i}`), ['d']]
      const holds = await Promise.all(sets.map((keys) => client.keyedLock(w.id, keys).acquire()))
      await w.pass(3 * SHORT)
      for (const hold of holds) await held(w, hold)
      await w.raw('HDEL', w.id, fieldOf('c'))
      await w.eventually(() => (holds[1] as Hold).lost, 4 * SHORT)
      assert.ok((holds[1] as Hold).signal.reason instanceof LockLostError)
      assert.equal(await w.run((holds[1] as Hold).release()), false)
      for (const hold of [0, 2, 3].map((index) => holds[index] as Hold)) {
        assert.equal(hold.lost, false)
        assert.equal(await w.run(hold.release()), true)
      }
      await w.eventually(async () => !(await exists(w, w.id)))
    })

    scenario('a key taken away by force → its holder is told, and waits for no other', async (w) => {
      const [one, two] = [await w.connect({ watchdog: SHORT }), await w.connect()]
      const hold = await one.keyedLock(w.id, ['a', 'b']).acquire()
      assert.equal(await two.keyedLock(w.id, ['b', 'x']).forceRelease(), true)
      assert.equal(await two.keyedLock(w.id, ['b', 'x']).forceRelease(), false)
      const other = await two.keyedLock(w.id, ['b']).tryAcquire()
      assert.ok(other !== undefined)
      await w.eventually(() => hold.lost, 2 * SHORT)
      await w.eventually(async () => (await ownersOf(w, ['a', 'b']))[0] === undefined)
      assert.equal(await w.run(other.release()), true)
    })

    scenario('overdue → free for others, and nothing of the old owner stays', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const keeps = await one.keyedLock(w.id, ['z']).acquire({ lease: 60_000 })
      const over = await one.keyedLock(w.id, ['a']).acquire({ lease: 300 })
      const { value, ms } = await timed(w, () => two.keyedLock(w.id, ['a', 'b']).acquire())
      lasted(w, ms, 0, 1600)
      assert.equal(over.state, 'lost')
      const owners = await ownersOf(w, ['a', 'b', 'z'])
      assert.ok(owners[0]?.startsWith(two.id) === true)
      assert.equal(await w.run(value.release()), true)
      assert.equal(await w.run(keeps.release()), true)
    })

    scenario('the same owner in a set that overlaps → DeadlockError, in every way; in the same → again', async (w) => {
      const client = await w.connect()
      const owner = client.owner()
      const hold = await client.keyedLock(w.id, ['a', 'b']).acquire({ owner })
      const again = await client.keyedLock(w.id, ['b', 'a']).acquire({ owner })
      assert.equal((await client.keyedLock(w.id, ['a']).inspect()).holders[0]?.count, 2)
      const calls: (() => Promise<unknown>)[] = [
        () => client.keyedLock(w.id, ['a']).acquire({ owner }),
        () => client.keyedLock(w.id, ['a', 'b', 'c']).tryAcquire({ owner }),
        () => client.keyedLock(w.id, ['b', 'c']).for(owner).lock(),
      ]
      for (const call of calls) assert.ok((await rejection(w.run(call()))) instanceof DeadlockError)
      const apart = await client.keyedLock(w.id, ['c']).acquire({ owner })
      for (const one of [apart, again, hold]) assert.equal(await w.run(one.release()), true)
      await w.run(
        client.keyedLock(w.id, ['a', 'b']).using(async () => {
          const nested = await rejection(client.keyedLock(w.id, ['b']).acquire())
          assert.ok(nested instanceof DeadlockError)
          assert.equal(await client.keyedLock(w.id, ['b']).tryAcquire(), undefined)
          await client.keyedLock(w.id, ['c']).using(() => undefined)
        }),
      )
    })

    scenario(
      'one owner waits for two sets that overlap → has the first, and is told that it waits for itself',
      async (w) => {
        const [client, other] = [await w.connect(), await w.connect()]
        const owner = client.owner()
        for (const waits of [undefined, 30_000]) {
          const before = await other.keyedLock(w.id, ['b']).acquire()
          const sets = [['a', 'b'], ['b', 'c'], ['d']].map((keys) =>
            client.keyedLock(w.id, keys).acquire({ owner, ...(waits !== undefined && { wait: waits }) }),
          )
          const outcomes = Promise.allSettled(sets)
          await w.pass(100)
          assert.equal(await w.run(before.release()), true)
          const settled = await w.run(outcomes)
          const had = settled.filter((outcome) => outcome.status === 'fulfilled')
          assert.equal(had.length, 2)
          const refused = settled.find((outcome) => outcome.status === 'rejected')
          assert.ok(refused?.reason instanceof DeadlockError, String(refused?.reason))
          for (const { value } of had) assert.equal(await w.run(value.release()), true)
        }
      },
    )

    scenario(
      'G02: taken twice by one owner, through two objects → a count for each key, gone with the second',
      async (w) => {
        const client = await w.connect()
        const owner = client.owner()
        const [one, two] = [
          client.keyedLock(w.id, ['a', 'b']).for(owner),
          client.keyedLock(w.id, ['b', 'a']).for(owner),
        ]
        const counts = async (): Promise<(string | undefined)[]> => {
          const [of] = await ownersOf(w, ['a', 'b'])
          const hash = await hashOf(w)
          return ['a', 'b'].map((key) => hash.get(`${fieldOf(key)}:${of}:lock_count`))
        }
        await one.lock()
        await two.lock()
        assert.deepEqual(await counts(), ['2', '2'])
        assert.equal(await one.holdCount(), 2)
        await one.unlock()
        assert.deepEqual(await counts(), ['1', '1'])
        await two.unlock()
        assert.equal(await exists(w, w.id), false)
      },
    )

    scenario('G03: forced open → nothing of the group is left', async (w) => {
      const client = await w.connect()
      const lock = client.keyedLock(w.id, ['a', 'b'])
      const me = lock.for(client.owner())
      await me.lock()
      assert.equal(await me.forceUnlock(), true)
      assert.equal(await exists(w, w.id), false)
      assert.equal(await me.forceUnlock(), false)
    })

    scenario('G04: held without a lease → the ends that stand there move on', async (w) => {
      const client = await w.connect({ watchdog: 3 * SHORT })
      const hold = await client.keyedLock(w.id, ['a', 'b']).acquire()
      const ends = async (): Promise<number[]> => {
        const hash = await hashOf(w)
        return ['a', 'b'].map((key) => Number(hash.get(`${fieldOf(key)}:${hash.get(fieldOf(key))}:expire_time`)))
      }
      const first = await ends()
      await w.pass(1.5 * SHORT)
      await w.eventually(async () => (await ends()).every((end, index) => end > (first[index] as number)), SHORT)
      assert.equal(await w.run(hold.release()), true)
    })

    scenario('G05 G07: a try, and another owner’s → had, not had; locked and held as long as it is', async (w) => {
      const client = await w.connect()
      const lock = client.keyedLock(w.id, ['a', 'b'])
      const [me, other] = [lock.for(client.owner()), lock.for(client.owner())]
      assert.deepEqual([await me.isLocked(), await me.isHeld()], [false, false])
      assert.equal(await me.tryLock(), true)
      assert.equal(await other.tryLock(), false)
      assert.deepEqual([await me.isLocked(), await me.isHeld(), await other.isHeld()], [true, true, false])
      await me.unlock()
      assert.deepEqual([await me.isLocked(), await me.isHeld()], [false, false])
    })

    scenario('G06: a lease of 500 ms that nobody ends → who waits for it is in after that', async (w) => {
      const client = await w.connect()
      const lock = client.keyedLock(w.id, ['a', 'b'])
      const begun = w.now()
      assert.equal(await lock.for(client.owner()).tryLock(-1, 500), true)
      const other = lock.for(client.owner())
      const { value } = await timed(w, () => other.tryLock(3000 + w.slack, 5000))
      assert.equal(value, true)
      lasted(w, w.now() - begun, 500, 1700)
      await other.unlock()
    })

    scenario('detached and adopted elsewhere → all keys go along', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const ticket = await (await one.keyedLock(w.id, ['a', 'é {b}']).acquire()).detach()
      const adopted = await two.adopt(ticket)
      const owners = await ownersOf(w, ['a', 'é {b}'])
      assert.ok(owners.every((owner) => owner?.startsWith(two.id)))
      assert.ok((await rejection(w.run(one.adopt(ticket)))) instanceof LockLostError)
      assert.equal(await w.run(adopted.release()), true)
    })

    scenario('members of a multi-lock: keys that overlap are refused, others are not', async (w) => {
      const client = await w.connect()
      const [ab, bc, c] = [['a', 'b'], ['b', 'c'], ['c']].map((keys) => client.keyedLock(w.id, keys))
      assert.ok(ab !== undefined && bc !== undefined && c !== undefined)
      assert.throws(() => client.multiLock(ab, bc), TypeError)
      const hold = await w.run(client.multiLock(ab, c).acquire())
      assert.equal(await w.run(hold.release()), true)
    })

    scenario('no keys, what is no key → refused', async (w) => {
      const client = await w.connect()
      assert.throws(() => client.keyedLock(w.id, []), RangeError)
      assert.throws(() => client.keyedLock(w.id, ['a', 1 as unknown as string]), /keys\[1\].*1/)
      assert.throws(() => client.keyedLock(w.id, 'a' as unknown as string[]), TypeError)
      assert.throws(() => client.keyedLock('', ['a']), /group/)
    })

    scenario('sets drawn at random, in two clients → one inside each key at a time, nobody forgotten', async (w) => {
      const clients = [await w.connect(), await w.connect()]
      const stays = new Map<string, Stay[]>('abcde'.split('').map((key) => [key, []]))
      let clock = 0n
      const worker = async (index: number): Promise<void> => {
        for (let round = 0; round < 8; round++) {
          const keys = [...stays.keys()].filter((_, place) => ((index * 7 + round * 5 + place * 3) % 11) % 2 === 0)
          const lock = (clients[index % 2] as Client).keyedLock(w.id, keys.length > 0 ? keys : ['a'])
          await lock.using(async () => {
            const from = (clock += 1n)
            await w.pause(2)
            const to = (clock += 1n)
            for (const key of keys) stays.get(key)?.push({ who: `${index}/${round}/${key}`, from, to })
          })
        }
      }
      const { ms } = await timed(w, () => Promise.all(times(8, worker)))
      assert.ok(ms < 40_000, `${ms} ms`)
      for (const some of stays.values()) checkHistory(some)
    })
  })
}

void test('thousands of sets held → one more taken and given back costs as much as without them', async () => {
  const client = await connect('memory:')
  const owner = client.owner()
  const visits = 300
  const cost = async (): Promise<number> => {
    const begun = performance.now()
    for (let i = 0; i < visits; i++) {
      const hold = await client.keyedLock(`group:${i % 7}`, [`visit:${i}`]).acquire({ owner })
      assert.equal(await hold.release(), true)
    }
    return (performance.now() - begun) / visits
  }
  await cost()
  const alone = await cost()
  const holds = await Promise.all(times(5000, (i) => client.keyedLock(`group:${i % 7}`, [`held:${i}`]).acquire()))
  const beside = await cost()
  assert.ok(beside < 4 * alone + 0.5, `${alone} ms each, then ${beside} ms`)
  await Promise.all(holds.map((hold) => hold.release()))
  await client.close()
})
