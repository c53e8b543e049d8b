import assert from 'node:assert/strict'
import { describe } from 'node:test'
import {
  exists,
  fieldsOf,
  held,
  isNotOwner,
  lasted,
  rejection,
  releaseAll,
  timed,
  times,
  SHORT,
} from '../../suites/contract/lock/kind.js'
import type { Scenario, World } from '../../support/engines.js'
import { engines, memoryEngine, scenarios } from '../../support/engines.js'
import { open, thread } from './sides.js'

/** Two owners of one client, and one of another. */
const threads = async (w: World) => {
  const [one, two] = [await w.connect(), await w.connect()]
  return [thread(one, w.id), thread(one, w.id), thread(two, w.id)] as const
}

const eachSide = (scenario: Scenario): void => {
  for (const side of ['read', 'write'] as const) {
    scenario(`RW20: taken twice and given back twice, ${side} → counted up and down, again and again`, async (w) => {
      const { [side]: mine } = thread(await w.connect(), w.id)
      for (let round = 0; round < 2; round++) {
        assert.equal(await mine.holdCount(), 0)
        for (const count of [1, 2]) {
          await mine.lock()
          assert.equal(await mine.holdCount(), count)
        }
        for (const count of [1, 0]) {
          await mine.unlock()
          assert.equal(await mine.holdCount(), count)
        }
      }
    })

    scenario(`RW21 RW22 RW23 RW24: ${side} by one owner → held by it alone, locked for all to see`, async (w) => {
      const [me, ...others] = await threads(w)
      const seen = async (locked: boolean): Promise<void> => {
        assert.equal(await me[side].isHeld(), locked)
        for (const other of [me, ...others]) assert.equal(await other[side].isLocked(), locked)
        for (const other of others)
          assert.deepEqual([await other[side].isHeld(), await other[side].holdCount()], [false, 0])
      }
      await seen(false)
      await me[side].lock()
      await seen(true)
      await me[side].unlock()
      await seen(false)
    })

    scenario(`RW26: ${side}, given back, twice in a row on one object → works`, async (w) => {
      const { [side]: mine } = thread(await w.connect(), w.id)
      for (let round = 0; round < 2; round++) {
        await mine.lock()
        await mine.unlock()
      }
      assert.equal(await exists(w, w.id), false)
    })
  }

  scenario('RW27: read twice by one owner → beside others both times, free for a writer after both', async (w) => {
    const [me, , other] = await threads(w)
    for (let count = 1; count <= 2; count++) {
      assert.equal(await me.read.tryLock(), true)
      assert.equal(await other.read.tryLock(), true)
      await other.read.unlock()
    }
    await me.read.unlock()
    assert.equal(await other.write.tryLock(), false)
    await me.read.unlock()
    assert.equal(await other.write.tryLock(), true)
    await other.write.unlock()
  })

  scenario('RW30: 24 clients with a random side, once each → writers alone, all done', async (w) => {
    let [reading, writing, done] = [0, 0, 0]
    const task = async (i: number): Promise<void> => {
      const { read, write } = await open(w)
      if (i % 3 === 0) {
        await write.using(async () => {
          assert.deepEqual([reading, writing++], [0, 0])
          await w.pause(5)
          writing--
        })
      } else {
        await read.using(async () => {
          reading++
          assert.equal(writing, 0)
          await w.pause(5)
          reading--
        })
      }
      done++
    }
    const clients = times(24, task)
    await w.run(Promise.all(clients))
    assert.equal(done, 24)
  })

  scenario('RW29: 8 clients, 12 rounds each with a random side → writers alone, all done', async (w) => {
    const sides = await Promise.all(times(8, () => open(w)))
    let [reading, writing, done] = [0, 0, 0]
    await w.run(
      Promise.all(
        sides.map(async ({ read, write }, i) => {
          for (let round = 0; round < 12; round++) {
            if ((i * 5 + round * 3) % 4 === 0) {
              await write.using(async () => {
                assert.deepEqual([reading, writing++], [0, 0])
                await w.pause(2)
                writing--
              })
            } else {
              await read.using(async () => {
                reading++
                assert.equal(writing, 0)
                await w.pause(2)
                reading--
              })
            }
            done++
          }
        }),
      ),
    )
    assert.equal(done, 96)
  })
}

const leases = (scenario: Scenario): void => {
  scenario('RW05: written for long, inside again for less → kept as long as the outer one', async (w) => {
    const [me, , other] = await threads(w)
    const { value, ms } = await timed(w, async () => {
      assert.equal(await me.write.tryLock(1000, 3000), true)
      assert.equal(await me.write.tryLock(1000, 400), true)
      assert.equal(await other.write.tryLock(900, 500), false)
      return other.write.tryLock(20_000)
    })
    assert.equal(value, true)
    lasted(w, ms, 2800, 3100)
    await other.write.unlock()
  })

  scenario('RW17: a read left to its lease → others beside it at once, given back without a word', async (w) => {
    const [me, , other] = await threads(w)
    await me.read.lock(20_000)
    const { ms } = await timed(w, async () => {
      await other.read.lock()
      await other.read.unlock()
    })
    lasted(w, ms, 0, 50)
    assert.deepEqual(Object.values(await fieldsOf(w, w.id)), [1])
    await me.read.unlock()
    assert.equal(await exists(w, w.id), false)
  })

  scenario('RW18: a write of 1 s never given back → the next is in at its end, the first has lost it', async (w) => {
    const [me, , other] = await threads(w)
    const { ms } = await timed(w, async () => {
      await me.write.lock(1000)
      await other.write.lock()
    })
    lasted(w, ms, 1000, 1050)
    assert.ok(isNotOwner(w.id)(await rejection(w.run(me.write.unlock()))))
    assert.equal(await other.write.isHeld(), true)
    await other.write.unlock()
  })

  scenario(
    'RW32: 10 clients that died while they read, three times each → a writer is in behind the living',
    async (w) => {
      const [living, writer] = [await open(w, { watchdog: SHORT }), await open(w)]
      const dead = await Promise.all(times(10, () => open(w, { watchdog: SHORT })))
      for (const { client, read } of dead) {
        const me = read.for(client.owner())
        for (let count = 0; count < 3; count++) await me.lock()
      }
      const hold = await living.read.acquire()
      await w.run(Promise.all(dead.map(({ client }) => client.close({ release: false }))))
      const writing = writer.write.acquire()
      await w.pass(SHORT * 1.2)
      await held(w, hold)
      const { value, ms } = await timed(w, async () => {
        assert.equal(await hold.release(), true)
        return writing
      })
      lasted(w, ms, 0, 100)
      await releaseAll(w, [value])
    },
  )
}

for (const engine of engines) {
  void describe(
    `what Redisson's tests ask of a read-write lock on ${engine.name}`,
    { concurrency: engine.concurrency },
    () => {
      const scenario = scenarios(engine)
      eachSide(scenario)
      if (engine !== memoryEngine) leases(scenario)
    },
  )
}
