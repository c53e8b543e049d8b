import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { times } from '../suites/contract/lock/kind.js'
import { type Client, engines, scenarios, type World } from '../support/engines.js'
import { seeded } from '../support/random.js'

const TASKS = 6
const NAMES = 40

/** All walk along the same names in the same order: a lock, and within it a semaphore of its own. */
const walks = async (w: World, enter: (client: Client, name: string, work: () => Promise<void>) => Promise<void>) => {
  const clients = [await w.connect(), await w.connect(), await w.connect()]
  const inside = new Map<string, number>()
  const walk = async (index: number): Promise<void> => {
    const client = clients[index % clients.length] as Client
    for (let step = 0; step < NAMES; step += 1) {
      const name = `${w.id}:${step}`
      await enter(client, name, async () => {
        const here = (inside.get(name) ?? 0) + 1
        inside.set(name, here)
        assert.equal(here, 1, `${name}: two inside`)
        const semaphore = client.semaphore(`${name}:permits`)
        await semaphore.release()
        await semaphore.acquire()
        inside.set(name, here - 1)
      })
    }
  }
  await w.run(Promise.all(times(TASKS, walk)))
  for (let step = 0; step < NAMES; step += 1) {
    const [lock, permits] = [`${w.id}:${step}`, `${w.id}:${step}:permits`]
    assert.equal(Number(await w.raw('EXISTS', lock)), 0)
    assert.equal(await (clients[0] as Client).semaphore(permits).available(), 0)
    await w.raw('DEL', permits)
  }
}

for (const engine of engines) {
  void describe(`locks and semaphores in turn on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)

    scenario('H01: tasks walk along the same locks, a permit given and taken within → all end, none is left', (w) =>
      walks(w, (client, name, work) => client.lock(name).using(work)),
    )

    scenario('H02: the same by tries that wait a little → what is had is given back, no error', (w) => {
      const random = seeded(8)
      return walks(w, async (client, name, work) => {
        const hold = await client.lock(name).tryAcquire({ wait: Math.floor(10 * random()) })
        if (hold === undefined) return
        await work()
        assert.equal(await hold.release(), true)
      })
    })
  })
}
