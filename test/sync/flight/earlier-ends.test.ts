import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { type Client, FlightError } from 'holdfast'
import { engines, scenarios, type World } from '../../support/engines.js'
import { afterWarmUp } from '../../support/warm.js'
import { warmFlights } from './warm-flights.js'

const flightOf = (world: World, client: Client) => client.flight(`${world.id}:f`)
const keysOf = ({ id }: World) => ({ lock: `{${id}:f}:flight-lock:a`, record: `{${id}:f}:flight:a` })

/** A computation that has begun, and ends when the test says so. */
const underWay = async (world: World, client: Client) => {
  let open!: (value: string) => void
  const value = new Promise<string>((resolve) => (open = resolve))
  let begun = false
  const call = flightOf(world, client).run('a', () => {
    begun = true
    return value
  })
  await world.eventually(() => Promise.resolve(begun))
  return { open, call }
}

/** Another process computes, one call of this client waits for it, and the lock is lost without a message. */
const followed = async (world: World) => {
  world.leavesKeys = true
  const [one, two] = [await world.connect(), await world.connect()]
  const first = await underWay(world, one)
  const waits = flightOf(world, two).run('a', () => 'taken over')
  await world.pass(100)
  await world.raw('DEL', keysOf(world).lock)
  return { two, first, waits }
}

for (const engine of engines)
  describe(`a call that joins those who wait, on ${engine.name}`, { concurrency: engine.virtual ? 1 : 32 }, () => {
    const scenario = afterWarmUp(scenarios(engine), warmFlights)

    scenario('nobody computes any more, and no message said so → its process computes at once', async (world) => {
      const { two, first, waits } = await followed(world)
      const began = world.now()
      const joins = flightOf(world, two).run('a', () => 'taken over')
      const all = await world.run(Promise.all([waits, joins]))
      assert.deepEqual(
        all.map(({ value }) => value),
        ['taken over', 'taken over'],
      )
      // A poll would come a second after the last one, 100 ms ago.
      assert.ok(world.now() - began < 700 + world.slack, `${world.now() - began} ms`)
      first.open('late')
      assert.equal((await world.run(first.call)).value, 'taken over')
    })

    scenario('a computation failed before it asked → only those who waited then are told', async (world) => {
      const { two, first, waits } = await followed(world)
      const told = assert.rejects(waits, (error) => error instanceof FlightError && error.message.includes('no paper'))
      const failed = ['state', 'failed', 'token', '1', 'ended', String(Date.now()), 'form', 'text']
      await world.raw('HSET', keysOf(world).record, ...failed, 'value', 'Error no paper')
      const newer = await underWay(world, await world.connect())
      const joins = flightOf(world, two).run('a', () => assert.fail('another one computes'))
      await world.run(told)
      newer.open('newer')
      assert.equal((await world.run(joins)).value, 'newer')
      first.open('late')
      await world.run(Promise.all([first.call, newer.call]))
    })

    scenario(
      'the last end has a greater token than any new one → one computes, and all have its value',
      async (world) => {
        world.leavesKeys = true
        const clients = [await world.connect(), await world.connect()]
        const restored = ['state', 'value', 'token', '1000', 'ended', '1', 'form', 'text']
        await world.raw('HSET', keysOf(world).record, ...restored, 'value', '"restored"')
        let computed = 0
        const work = async (): Promise<number> => {
          computed++
          await world.pause(300)
          return computed
        }
        const calls = clients.flatMap((client) => [1, 2, 3, 4, 5].map(() => flightOf(world, client).run('a', work)))
        const all = await world.run(Promise.all(calls))
        assert.deepEqual(new Set(all.map(({ value }) => value)), new Set([1]))
        assert.equal(computed, 1)
      },
    )

    scenario('a refresh fails while others wait for it → one of them computes at once', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      one.on('error', () => undefined)
      await world.run(flightOf(world, one).run('a', { ttl: 1, stale: 60_000 }, () => 'old'))
      await world.pass(50)
      let fail!: (error: Error) => void
      const broken = (): Promise<string> => new Promise((_resolve, reject) => (fail = reject))
      const old = await world.run(flightOf(world, one).run('a', { ttl: 1, stale: 60_000 }, broken))
      assert.equal(old.value, 'old')
      await world.eventually(() => Promise.resolve(fail !== undefined))
      const waits = flightOf(world, two).run('a', () => 'new')
      await world.pass(100)
      const began = world.now()
      fail(new Error('broken'))
      assert.equal((await world.run(waits)).value, 'new')
      // A poll would come a second after the last one, 100 ms ago.
      assert.ok(world.now() - began < 500 + world.slack, `${world.now() - began} ms`)
    })
  })
