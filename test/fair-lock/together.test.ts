import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { type Client, start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { toBytes } from '#src/engine/memory/reply.js'
import { MemoryServer } from '#src/engine/memory/server.js'

const KINDS = {
  'fair lock': (client: Client) => client.fairLock('a'),
  'fair read-write lock, writers': (client: Client) => client.readWriteLock('a', { fair: true }).write,
}

/** Who stands together has its turns from hand to hand, and queues together again where it knows that others follow. */
void describe('what a grant says of those behind', () => {
  for (const [kind, lockOf] of Object.entries(KINDS)) {
    void test(`${kind}: the numbers of its own right behind, and a + where another process follows`, async () => {
      const clock = virtualClock(7)
      const server = new MemoryServer(clock)
      const told: string[] = []
      const message = (_: string, payload: string): number => told.push(payload)
      server.pubsub.subscribe({ message }, toBytes('holdfast_*grant:{a}:*'), 'pattern')
      const open = (): Promise<Client> =>
        start(settle({ url: 'memory:', clock }, {}), new MemoryDriver(server, undefined))
      const [holder, one, other] = [await open(), await open(), await open()]
      await lockOf(holder).acquire()
      for (const client of [one, one, one, other]) {
        lockOf(client)
          .acquire()
          .catch(() => undefined)
        await clock.advance(20)
      }
      await lockOf(holder).forceRelease()
      await clock.advance(20)
      const words = told.map((payload) => payload.split(' ').slice(2))
      assert.deepEqual(
        words[0]?.map((word) => (word === '+' ? word : 'number')),
        ['number', 'number', '+'],
      )
      await Promise.all([holder, one, other].map((client) => client.close()))
    })
  }
})
