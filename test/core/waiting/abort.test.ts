import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Hold } from 'holdfast'
import { exists, fieldsOf, rejection, times } from '../../suites/contract/lock/kind.js'
import type { Client, World } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'
import { assertListingEnds, isListing } from '../../support/leftovers.js'
import { seeded } from '../../support/random.js'

const ROUNDS = 500
const BESIDE = 20

/** Delays of 0 to 5 ms, down to none at all and to single turns of the event loop. */
const delayed = async (w: World, random: () => number): Promise<void> => {
  const kind = random()
  if (kind < 0.1) return
  if (kind < 0.2) return Promise.resolve()
  if (kind < 0.4 && !w.virtual) {
    for (let turn = random() * 5; turn > 0; turn -= 1) await new Promise((resolve) => setImmediate(resolve))
    return
  }
  await w.pause(random() * 5)
}

const gone = async (w: World, name: string): Promise<void> => {
  const end = w.now() + 3000
  while (await exists(w, name)) {
    assert.ok(w.now() < end, `${name} is still held by ${Object.keys(await fieldsOf(w, name)).join()}`)
    await w.pause(2)
  }
}

interface Outcome {
  had: number
  refused: number
}

type Trial = (index: number, outcome: Outcome) => Promise<void>

const manyTimes = async (w: World, trial: Trial): Promise<Outcome> => {
  const outcome = { had: 0, refused: 0 }
  const lane = async (from: number): Promise<void> => {
    for (let index = from; index < ROUNDS; index += BESIDE) await trial(index, outcome)
  }
  await w.run(Promise.all(times(BESIDE, lane)))
  assert.equal(outcome.had + outcome.refused, ROUNDS)
  return outcome
}

const nothingLeft = async (w: World, clients: readonly Client[]): Promise<void> => {
  await w.eventually(async () => {
    const channels = (await w.raw('PUBSUB', 'CHANNELS', '*')) as string[]
    return channels.filter((name) => name.includes(w.id)).length === 0
  })
  const keys = (await w.raw('KEYS', '*')) as string[]
  assert.deepEqual(
    keys.filter((key) => !isListing(key) && !clients.some((client) => key.endsWith(client.id))),
    [],
  )
  // The clients are still there: one and a half leases of the watchdog.
  await assertListingEnds(keys, (key) => w.raw('PTTL', key), 45_000)
}

for (const engine of engines) {
  void describe(`aborts and time limits on ${engine.name}`, () => {
    const scenario = scenarios(engine)
    const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

    const race = async (w: World, held: boolean): Promise<Outcome> => {
      const random = seeded(seed)
      const [one, two] = [await w.connect(), await w.connect()]
      const outcome = await manyTimes(w, async (index, counts) => {
        const name = `${w.id}:${index}`
        const blocker = held ? await one.lock(name).acquire() : undefined
        const controller = new AbortController()
        const reason = { index }
        const lock = (index % 2 === 0 ? one : two).lock(name)
        const waiting = (
          index % 3 === 0
            ? lock.tryAcquire({ signal: controller.signal, wait: 60_000 })
            : lock.acquire({ signal: controller.signal })
        ).then(
          (hold) => ({ hold }),
          (error: unknown) => ({ error }),
        )
        const releasing = blocker === undefined ? undefined : delayed(w, random).then(() => blocker.release())
        await delayed(w, random)
        controller.abort(reason)
        if (releasing !== undefined) assert.equal(await releasing, true)
        const result = await waiting
        if ('hold' in result) {
          assert.equal(result.hold?.state, 'held')
          assert.deepEqual(Object.values(await fieldsOf(w, name)), [1])
          assert.equal(await result.hold.release(), true)
          counts.had += 1
        } else {
          assert.equal(result.error, reason)
          counts.refused += 1
        }
        await gone(w, name)
      })
      await nothingLeft(w, [one, two])
      return outcome
    }

    scenario(
      `G-10: ${ROUNDS} aborts about the time of the grant (seed ${seed}) → held, or rejected and given back`,
      async (w) => {
        const { had, refused } = await race(w, true)
        assert.ok(had > 0 && refused > 0, `had ${had}, refused ${refused}: the race was not met`)
      },
    )

    scenario(`G-10: ${ROUNDS} aborts while the first answer is on its way (seed ${seed}) → the same`, async (w) => {
      const { refused } = await race(w, false)
      assert.ok(refused > 0)
    })

    scenario(
      `G-08: ${ROUNDS} waits of 0 to 5 ms about the time of the grant (seed ${seed}) → had, or nothing left`,
      async (w) => {
        const random = seeded(seed)
        const [one, two] = [await w.connect(), await w.connect()]
        const { had, refused } = await manyTimes(w, async (index, counts) => {
          const name = `${w.id}:${index}`
          const blocker = await one.lock(name).acquire()
          const lock = (index % 2 === 0 ? one : two).lock(name)
          const waiting = lock.tryAcquire({ wait: Math.floor(random() * 6) })
          await delayed(w, random)
          assert.equal(await blocker.release(), true)
          const hold = await waiting
          if (hold === undefined) counts.refused += 1
          else {
            counts.had += 1
            assert.equal(hold.state, 'held')
            assert.equal(await hold.release(), true)
          }
          await gone(w, name)
        })
        assert.ok(had > 0 && refused > 0, `had ${had}, refused ${refused}: the race was not met`)
        await nothingLeft(w, [one, two])
      },
    )

    scenario('G-09: aborts among many waiters of one lock → the others all get in, one at a time', async (w) => {
      const random = seeded(seed)
      const clients = [await w.connect(), await w.connect()]
      let inside = 0
      let most = 0
      let done = 0
      let aborted = 0
      const visit = async (index: number): Promise<void> => {
        const client = clients[index % 2]
        assert.ok(client !== undefined)
        const controller = new AbortController()
        const leaves = index % 3 === 0
        const work = async (): Promise<void> => {
          inside += 1
          most = Math.max(most, inside)
          await w.pause(1)
          inside -= 1
          done += 1
        }
        const visiting = client.lock(w.id).using({ signal: controller.signal }, work)
        if (!leaves) return visiting
        await w.pause(random() * 150)
        controller.abort(index)
        try {
          await visiting
        } catch (error) {
          assert.equal(error, index)
          aborted += 1
        }
      }
      await w.run(Promise.all(times(120, visit)))
      assert.equal(most, 1)
      assert.equal(done + aborted, 120)
      assert.ok(done >= 80)
      await nothingLeft(w, clients)
    })

    scenario(
      'an abort by one of two waiters of one client → the lock goes to the other, not to its lease',
      async (w) => {
        const [one, two] = [await w.connect(), await w.connect()]
        for (let round = 0; round < 10; round += 1) {
          const blocker = await w.run(one.lock(w.id).acquire())
          const controller = new AbortController()
          const leaving = two.lock(w.id).acquire({ signal: controller.signal })
          const staying = two.lock(w.id).acquire()
          await w.pass(20)
          const releasing = blocker.release()
          controller.abort('left')
          const outcome = await w.run(
            leaving.then(
              (hold) => hold,
              (error: unknown) => error,
            ),
          )
          if (outcome !== 'left') assert.equal(await (outcome as Hold).release(), true)
          const begun = w.now()
          const hold = await w.run(staying)
          assert.ok(w.now() - begun < 1000 + w.slack)
          assert.equal(await w.run(hold.release()), true)
          assert.equal(await w.run(releasing), true)
        }
      },
    )

    scenario('aborted again and again by a listener of its own signal → one rejection, nothing left', async (w) => {
      const client = await w.connect()
      const blocker = await client.lock(w.id).acquire()
      const controller = new AbortController()
      const { signal } = controller
      signal.addEventListener('abort', () => {
        controller.abort('again')
      })
      const calls = times(8, () => rejection(client.lock(w.id).acquire({ signal })))
      await w.pass(20)
      controller.abort('first')
      assert.deepEqual(
        await w.run(Promise.all(calls)),
        times(8, () => 'first'),
      )
      assert.equal(await w.run(blocker.release()), true)
      assert.equal(await exists(w, w.id), false)
    })
  })
}
