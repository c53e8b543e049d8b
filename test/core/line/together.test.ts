import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import type { Client } from 'holdfast'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { toBytes } from '#src/engine/memory/reply.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { fairLockEnqueue } from '#src/lua/scripts.gen.js'

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
      const words = told.map((payload) => payload.split(' ').slice(2, -1))
      assert.deepEqual(
        words[0]?.map((word) => (word === '+' ? word : 'number')),
        ['number', 'number', '+'],
      )
      await Promise.all([holder, one, other].map((client) => client.close()))
    })
  }
})

/** What the line gets to know in the 9 ms after one process' turn began, for which two calls of it come, 4 ms apart. */
const joinsOf = async (follows: boolean, options: object): Promise<{ early: number; inTime: number }> => {
  const clock = virtualClock(7)
  const server = new MemoryServer(clock)
  const open = (): Promise<Client> => start(settle({ url: 'memory:', clock }, {}), new MemoryDriver(server, undefined))
  const [holder, one, other] = [await open(), await open(), await open()]
  const held = await holder.fairLock('a').acquire()
  for (const client of follows ? [one, one, other] : [one, one]) {
    client
      .fairLock('a')
      .acquire()
      .catch(() => undefined)
    await clock.advance(20)
  }
  let joins = 0
  const evalSha = server.scripts.evalSha.bind(server.scripts)
  server.scripts.evalSha = (sha, ...rest) => {
    if (Buffer.from(sha).toString() === fairLockEnqueue.sha) joins++
    return evalSha(sha, ...rest)
  }
  await held.release()
  await clock.advance(1)
  for (let i = 0; i < 2; i++) {
    one
      .fairLock('a')
      .acquire(options)
      .catch(() => undefined)
    await clock.advance(4)
  }
  const early = joins
  await clock.advance(10)
  const state = await one.fairLock('a').inspect()
  assert.equal(state.waiting.length, follows ? 4 : 3)
  await Promise.all([holder, one, other].map((client) => client.close()))
  return { early, inTime: joins }
}

void describe('who comes in the middle of a turn of its process', () => {
  void test('others follow → within 10 ms it joins the line, with whoever comes meanwhile', async () => {
    assert.deepEqual(await joinsOf(true, {}), { early: 0, inTime: 1 })
  })
  void test('nobody follows → it joins at once: it may be next', async () => {
    assert.deepEqual(await joinsOf(false, {}), { early: 2, inTime: 2 })
  })
  void test('it waits for a moment only → it joins at once', async () => {
    assert.deepEqual(await joinsOf(true, { wait: 50 }), { early: 2, inTime: 2 })
  })
})
