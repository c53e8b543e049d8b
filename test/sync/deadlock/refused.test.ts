import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DeadlockError } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import type { Arg, Reply } from '#src/lua/values.js'
import { startRing, toldTo } from './ring.js'

/** A user without the right to `holdfast:client:*`. */
class LimitedUser extends MemoryDriver {
  refuses = true
  readonly refused: string[] = []

  override send(...[argv, options]: Parameters<MemoryDriver['send']>): Promise<Reply> {
    const isClientKey = (word: Arg): boolean => String(word).startsWith('holdfast:client:')
    if (!this.refuses || !argv.some(isClientKey)) return super.send(argv, options)
    this.refused.push(argv.map(String).join(' '))
    return Promise.reject(new Error('NOPERM No permissions to access a key'))
  }
}

const limited = async (body: (parts: Awaited<ReturnType<typeof openLimited>>) => Promise<void>): Promise<void> => {
  const all = await openLimited()
  await body(all)
  await all.run(all.client.close())
  await all.clock.advance(120_000)
  assert.deepEqual(all.server.execute(['KEYS', '*']), [])
  closeMemoryServer(all.server)
}

let servers = 0

const openLimited = async () => {
  const clock = virtualClock((servers += 1))
  const id = `limited${servers}-${process.pid}`
  const server = openMemoryServer(id, clock)
  const driver = new LimitedUser(server, id)
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false
    const done = (): void => void (settled = true)
    promise.then(done, done)
    for (await clock.advance(0); !settled;) await clock.advance(10)
    return promise
  }
  const client = await run(start(settle({ url: `memory:${id}`, clock, deadlocks: 'break' }, {}), driver))
  return { clock, server, driver, run, client }
}

void describe('a client without the right to holdfast:client:*', () => {
  void test('a nested wait → it asks once in ten seconds, and no more when the wait is over', () =>
    limited(async ({ clock, driver, run, client, server }) => {
      const asked = (): number => driver.refused.filter((words) => words.includes(':waits')).length
      const hold = await run(client.lock('b').acquire())
      const work = client.lock('a').using(() => client.lock('b').using(() => undefined))
      await clock.advance(9000)
      assert.equal(asked(), 1)
      await clock.advance(10_000)
      assert.equal(asked(), 2)
      driver.refuses = false
      await clock.advance(10_000)
      assert.equal(server.execute(['HLEN', `holdfast:client:${client.id}:waits`]), 2, 'it has the right now')
      driver.refuses = true
      await clock.advance(1000)
      assert.equal(asked(), 3)
      await run(hold.release())
      await run(work)
      await clock.advance(60_000)
      assert.equal(asked(), 3)
    }))

  void test('two of its own calls wait for each other → one ends all the same', () =>
    limited(async ({ client, run, clock }) => {
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
