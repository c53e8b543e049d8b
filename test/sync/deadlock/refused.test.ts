import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DeadlockError } from 'holdfast'
import { startRing, toldTo } from './ring.js'
import { onDriver } from './seen-driver.js'

/** A user without the right to `holdfast:client:*`. */
const LIMITED = (words: readonly string[]): boolean => words.some((word) => word.startsWith('holdfast:client:'))

void describe('a client without the right to holdfast:client:*', () => {
  void test('a nested wait → it asks once in ten seconds, and no more when the wait is over', () =>
    onDriver(LIMITED, async ({ clock, driver, run, client, server }) => {
      const asked = (): number => driver.refused.filter((words) => words.some((word) => word.endsWith(':waits'))).length
      const hold = await run(client.lock('b').acquire())
      const work = client.lock('a').using(() => client.lock('b').using(() => undefined))
      await clock.advance(9000)
      assert.equal(asked(), 1)
      await clock.advance(10_000)
      assert.equal(asked(), 2)
      driver.refuses = () => false
      await clock.advance(10_000)
      assert.equal(server.execute(['HLEN', `holdfast:client:${client.id}:waits`]), 2, 'it has the right now')
      driver.refuses = LIMITED
      await clock.advance(1000)
      assert.equal(asked(), 3)
      await run(hold.release())
      await run(work)
      await clock.advance(60_000)
      assert.equal(asked(), 3)
    }))

  void test('two of its own calls wait for each other → one ends all the same', () =>
    onDriver(LIMITED, async ({ client, run, clock }) => {
      const told = toldTo(client)
      const { outcomes, ended } = await startRing({ clock, run }, [
        { holds: [client.lock('a')], wants: client.lock('b') },
        { holds: [client.lock('b')], wants: client.lock('a'), later: 100 },
      ])
      await clock.advance(3000)
      assert.equal(told.length, 1)
      await run(ended)
      assert.equal(outcomes[0], 'had')
      assert.ok(outcomes[1] instanceof DeadlockError)
    }))
})
