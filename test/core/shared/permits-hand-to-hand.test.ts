import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { PermitPassLimit } from '#src/core/shared/permit-pass-limit.js'
import { lasted, times } from '../../suites/contract/lock/kind.js'
import type { Client, World } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'
import { SlowDriver } from '../../support/slow-driver.js'
import { type Stage, onStage } from '../../support/stage.js'

const scriptsIn = ({ driver }: Stage): number => driver.sent.filter(([word]) => word === 'EVALSHA').length

/** Works `ms` with a permit; how many are inside, and who came when. */
const workers = ({ clock, client, raw }: Stage, ms: number) => {
  const inside = { now: 0, most: 0, order: [] as number[] }
  const work = (index: number) => async (): Promise<void> => {
    inside.most = Math.max(inside.most, ++inside.now)
    inside.order.push(index)
    await new Promise<void>((resolve) => void clock.setTimer(resolve, ms))
    inside.now--
  }
  const all = (count: number): Promise<void>[] => times(count, (index) => client.semaphore('s').using(work(index)))
  return { inside, all, count: () => raw('GET', 's') }
}

void describe('permits that go from hand to hand', () => {
  onStage(
    'given back while others here wait → they have them in their order, and the server is not asked',
    async (stage) => {
      const { client, run, driver, raw } = stage
      await run(client.semaphore('s').trySetPermits(2))
      driver.sent.length = 0
      const { inside, all, count } = workers(stage, 5)
      const working = all(12)
      await stage.clock.advance(12)
      assert.equal(raw('GET', 's'), '0')
      await run(Promise.all(working))
      assert.deepEqual([inside.most, inside.now, count()], [2, 0, '2'])
      assert.deepEqual(
        inside.order,
        times(12, (index) => index),
      )
      // The first asks alone, the others before and after the subscription; the last two permits are given back, and so is the place
      // in the line.
      assert.equal(scriptsIn(stage), 6)
    },
    ['s'],
  )

  onStage(
    'all have had theirs from one another, another comes → it asks the server',
    async (stage) => {
      const { clock, client, run, raw } = stage
      const s = client.semaphore('s')
      await run(s.trySetPermits(1))
      const working = workers(stage, 5).all(2)
      await clock.advance(7)
      raw('SET', 's', 1)
      const asked = clock.now()
      await run(s.acquire())
      assert.ok(clock.now() - asked <= 10, `${clock.now() - asked} ms`)
      await run(Promise.all(working))
    },
    ['s'],
  )

  onStage(
    'fewer permits from now on → what is given back makes the debt good',
    async (stage) => {
      const { clock, client, run } = stage
      const s = client.semaphore('s')
      await run(s.trySetPermits(2))
      const { inside, all, count } = workers(stage, 5)
      const working = all(8)
      await clock.advance(2)
      await run(s.addPermits(-1))
      await clock.advance(12)
      assert.equal(inside.now, 1)
      await run(Promise.all(working))
      assert.equal(count(), '1')
    },
    ['s'],
  )

  onStage(
    'deleted → a release makes it anew, and who waits takes from that',
    async (stage) => {
      const { clock, client, run, raw } = stage
      const s = client.semaphore('s')
      await run(s.trySetPermits(2))
      const [, , third] = times(3, () => s.acquire())
      await clock.advance(2)
      await run(s.delete())
      await run(s.release(2))
      await run(third as Promise<void>)
      assert.equal(raw('GET', 's'), '1')
    },
    ['s'],
  )

  onStage(
    'another amount than those who wait first want → it goes to the server, and they have theirs from there',
    async (stage) => {
      const { clock, client, run, raw } = stage
      const s = client.semaphore('s')
      await run(s.trySetPermits(4))
      const waiting = [4, 3, 2].map((permits) => s.acquire({ permits }))
      await clock.advance(2)
      await run(s.release(1))
      assert.equal(raw('GET', 's'), '1')
      await run(s.release(3))
      await run(waiting[1] as Promise<void>)
      assert.equal(raw('GET', 's'), '1')
      await run(s.release(2))
      await run(waiting[2] as Promise<void>)
      assert.equal(raw('GET', 's'), '1')
    },
    ['s'],
  )

  for (const permits of [1, 3]) {
    onStage(
      `as many tasks as permits, ${permits}, and no pause; another process answers a little later than we do → it has its turn`,
      async (stage) => {
        const { clock, client, run } = stage
        const other = (await stage.other(new SlowDriver(stage.server, clock))).semaphore('s')
        await run(client.semaphore('s').trySetPermits(permits))
        let over = false
        const working = times(permits, async () => {
          while (!over)
            await client.semaphore('s').using(() => new Promise<void>((resolve) => void clock.setTimer(resolve, 5)))
        })
        for (let round = 0; round < 5; round++) {
          await clock.advance(30)
          const asked = clock.now()
          assert.equal(await run(other.tryAcquire({ wait: 5000 })), true, 'it starves')
          // Our turn of 58 ms, the permit that is out, the 6 ms, and ten for how `run` looks.
          assert.ok(clock.now() - asked <= 100, `${clock.now() - asked} ms`)
          await run(other.release())
        }
        over = true
        await run(Promise.all(working))
      },
      ['s'],
    )
  }

  for (const engine of engines) {
    void describe(`beside other processes, on ${engine.name}`, { concurrency: engine.concurrency }, () => {
      const scenario = scenarios(engine)

      const busy = (w: World, client: Client, visits: { count: number; over: boolean; longest: number }, tasks = 6) =>
        times(tasks, async () => {
          let last = w.now()
          while (!visits.over) {
            await client.semaphore(w.id).using(async () => {
              visits.longest = Math.max(visits.longest, w.now() - last)
              visits.count++
              await w.pause(5)
              last = w.now()
            })
          }
        })

      /** One process passes permits on without a pause; another, which asks now and then, has one within a turn. */
      const hasItsTurn = async (
        w: World,
        { permits, rounds, tasks }: { permits: number; rounds: number; tasks?: number },
      ): Promise<void> => {
        const [one, other] = [await w.connect(), await w.connect()]
        await one.semaphore(w.id).trySetPermits(permits)
        const visits = { count: 0, over: false, longest: 0 }
        const working = busy(w, one, visits, tasks)
        for (let round = 0; round < rounds; round++) {
          await w.pass(30)
          const asked = w.now()
          await w.run(other.semaphore(w.id).acquire())
          lasted(w, w.now() - asked, 0, 80)
          await other.semaphore(w.id).release()
        }
        visits.over = true
        await w.run(Promise.all(working))
        assert.ok(visits.count > 20, `${visits.count} visits`)
        assert.equal(await one.semaphore(w.id).available(), permits)
        await w.raw('DEL', w.id)
      }

      scenario('one process passes on without a pause → another has its permit within a turn', (w) =>
        hasItsTurn(w, { permits: 1, rounds: 5 }),
      )

      for (const permits of [1, 2, 3]) {
        scenario(
          `as many tasks as permits, ${permits}, so that nobody here waits, and no pause → another has its permit within a turn`,
          (w) => hasItsTurn(w, { permits, rounds: 10, tasks: permits }),
        )
      }

      scenario('nobody waits elsewhere → whoever takes again what it gave back does not stand back', async (w) => {
        const client = await w.connect()
        const s = client.semaphore(w.id)
        await s.trySetPermits(1)
        const begun = w.now()
        await w.run(
          (async () => {
            for (let round = 0; round < 200; round++) await s.using(() => w.pause(1))
          })(),
        )
        if (w.virtual) lasted(w, w.now() - begun, 200, 210)
        await w.raw('DEL', w.id)
      })

      scenario('four processes that never pause, 3 permits → each has its share, nobody waits for long', async (w) => {
        const clients = await Promise.all(times(4, () => w.connect()))
        await clients[0]?.semaphore(w.id).trySetPermits(3)
        const all = clients.map(() => ({ count: 0, over: false, longest: 0 }))
        const working = clients.flatMap((client, index) => busy(w, client, all[index] as (typeof all)[number]))
        await w.pass(3000)
        for (const visits of all) visits.over = true
        await w.run(Promise.all(working))
        const total = all.reduce((sum, { count }) => sum + count, 0)
        const shares = all.map(({ count }) => (4 * count) / total)
        // Where an answer takes longer than the six milliseconds that others stand back, as on a busy machine, the server's
        // order decides who is next: shares are counted where time is virtual.
        assert.ok(
          Math.min(...shares) > (w.virtual ? 0.5 : 0),
          `shares ${shares.map((share) => share.toFixed(2)).join()}`,
        )
        if (w.virtual) for (const { longest } of all) lasted(w, longest, 0, 500)
        assert.equal(await clients[0]?.semaphore(w.id).available(), 3)
        await w.raw('DEL', w.id)
      })
    })
  }
})

void describe('turns', () => {
  const begun = (...turns: [amount: number, at: number][]): PermitPassLimit => {
    const all = new PermitPassLimit()
    for (const turn of turns) all.begin(...turn)
    return all
  }

  void test('what was never granted here → goes; what was granted → stays as long as its turn lasts', () => {
    assert.equal(new PermitPassLimit().pass(1, 1, 0), false)
    const turns = begun([1, 100])
    assert.deepEqual(
      [110, 140, 157, 158, 159].map((now) => turns.pass(1, 1, now)),
      [true, true, true, false, false],
    )
  })

  void test('several turns → what was granted first goes first, and as much as that', () => {
    assert.equal(begun([2, 0], [1, 50]).pass(4, 2, 55), false)
    const turns = begun([2, 0], [1, 50])
    assert.deepEqual(
      [55, 70, 70, 70, 107, 108].map((now) => turns.pass(1, 1, now)),
      [true, false, false, true, true, false],
    )
  })

  void test('nobody takes it → it has gone', () => {
    const turns = begun([2, 0])
    assert.equal(turns.pass(1, 0, 1), false)
    assert.equal(turns.pass(2, 1, 1), false)
    assert.equal(turns.pass(1, 1, 1), false)
  })

  void test('passed on thousands of times within one turn → then it goes', () => {
    const turns = begun([1, 0])
    let passed = 0
    while (turns.pass(1, 1, 1)) passed++
    assert.equal(passed, 4096)
  })
})
