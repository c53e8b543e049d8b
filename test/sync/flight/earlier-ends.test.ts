import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { type Client, FlightError } from 'holdfast'
import { engines, scenarios, type World } from '../../support/engines.js'

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
  describe(`a call that joins those who wait, on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)

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
  })
