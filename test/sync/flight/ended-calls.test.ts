import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { AcquireTimeoutError } from 'holdfast'
import { engines, scenarios } from '../../support/engines.js'
import { afterWarmUp } from '../../support/warm.js'
import { warmFlights } from './warm-flights.js'

for (const engine of engines)
  describe(`calls that share a computation, on ${engine.name}`, { concurrency: engine.virtual ? 1 : 32 }, () => {
    const scenario = afterWarmUp(scenarios(engine), warmFlights)

    scenario('the computation loses its lock, and its work does not end → they compute again', async (world) => {
      world.leavesKeys = true
      const client = await world.connect()
      const flight = client.flight(`${world.id}:f`)
      let end!: (value: string) => void
      let begun = false
      const first = flight.run('a', () => {
        begun = true
        return new Promise<string>((resolve) => (end = resolve))
      })
      await world.eventually(() => Promise.resolve(begun))
      const shares = flight.run('a', () => 'computed again')
      await world.pass(50)
      assert.equal(await flight.forget('a'), true)
      assert.equal((await world.run(shares)).value, 'computed again')
      end('late')
      assert.equal((await world.run(first)).value, 'computed again')
    })

    scenario(
      'the call that came first gives up while another process computes → its work never begins',
      async (world) => {
        world.leavesKeys = true
        const [one, two] = [await world.connect(), await world.connect()]
        const name = `${world.id}:f`
        let begun = false
        const computes = one.flight(name).run('a', () => {
          begun = true
          return new Promise<string>(() => undefined)
        })
        computes.catch(() => undefined)
        await world.eventually(() => Promise.resolve(begun))
        const gaveUp = two.flight(name).run('a', { wait: 200 }, () => assert.fail('its call has ended'))
        const stays = two.flight(name).run('a', () => 'taken over')
        await world.run(assert.rejects(gaveUp, AcquireTimeoutError))
        await world.raw('DEL', `{${name}}:flight-lock:a`)
        assert.equal((await world.run(stays)).value, 'taken over')
      },
    )
  })
