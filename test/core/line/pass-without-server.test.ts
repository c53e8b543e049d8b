import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test, type TestContext } from 'node:test'
import type { Client, DiagnosticMessage } from 'holdfast'
import { connect } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import { onServer } from '../../support/server.js'

const NAME = 'a'

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

/** Lets everything happen that needs no more than a millisecond of the clock, in less than a turn. */
const settle = async (clock: ReturnType<typeof virtualClock>): Promise<void> => {
  for (let i = 0; i < 8; i++) await clock.advance(1)
}

/** Two clients of one server, closed when the test is over, however it ended. */
const pair = async (t: TestContext, url: string, clock: ReturnType<typeof virtualClock>): Promise<[Client, Client]> => {
  const [one, two] = [await connect({ url, clock }), await connect({ url, clock })]
  t.after(() => Promise.all([one.close(), two.close()]))
  return [one, two]
}

void test('waiters who stand right behind each other → in the order of the line, without the server where none stands between', async (t) => {
  const clock = virtualClock()
  const url = 'memory:hand-to-hand'
  const [one, two] = await pair(t, url, clock)
  const grants: boolean[] = []
  const listener = (message: unknown): void => void grants.push((message as DiagnosticMessage).local === true)
  subscribe('holdfast:grant', listener)
  const order: string[] = []
  const wait = async (client: Client, label: string): Promise<void> => {
    const hold = await client.fairLock(NAME).acquire()
    order.push(label)
    await hold.release()
  }
  try {
    const first = await two.fairLock(NAME).acquire()
    const waiting: Promise<void>[] = []
    for (const [client, label] of [
      ...(['a1', 'a2', 'a3'] as const).map((label) => [one, label] as const),
      [two, 'b1'] as const,
      ...(['a4', 'a5'] as const).map((label) => [one, label] as const),
    ]) {
      waiting.push(wait(client, label))
      await settle(clock)
    }
    grants.length = 0
    await first.release()
    await settle(clock)
    await Promise.all(waiting)
    assert.deepEqual(order, ['a1', 'a2', 'a3', 'b1', 'a4', 'a5'])
    assert.deepEqual(grants, [false, true, true, false, false, true])
    await settle(clock)
    const { holders, waiting: left } = await one.fairLock(NAME).inspect()
    assert.deepEqual([holders, left], [[], []])
  } finally {
    unsubscribe('holdfast:grant', listener)
  }
})

void test('who was served without the server and holds on → no longer in the line a second later', async (t) => {
  const clock = virtualClock()
  const url = 'memory:hand-to-hand-long'
  const [one, two] = await pair(t, url, clock)
  const first = await two.fairLock(NAME).acquire()
  const waiting = [one.fairLock(NAME).acquire(), one.fairLock(NAME).acquire()]
  await settle(clock)
  await first.release()
  await settle(clock)
  await (await waiting[0])?.release()
  await settle(clock)
  const held = await waiting[1]
  assert.equal(held?.state, 'held')
  await clock.advance(1500)
  const { holders, waiting: left } = await two.fairLock(NAME).inspect()
  assert.equal(holders.length, 1)
  assert.deepEqual(left, [])
  await held.release()
  await settle(clock)
  assert.notEqual(await two.fairLock(NAME).tryAcquire(), undefined)
})

void test('Redisson takes the lock away by force from who was served without the server → the next of its waiters is called', async (t) => {
  const clock = virtualClock()
  const url = 'memory:hand-to-hand-forced'
  const [one, two] = await pair(t, url, clock)
  const first = await two.fairLock(NAME).acquire()
  const waiting = [one.fairLock(NAME).acquire(), one.fairLock(NAME).acquire()]
  await settle(clock)
  const theirs = '5f0f6e0c-6a1b-4c3d-9e2f-1a2b3c4d5e6f:1'
  const redis = openMemoryServer('hand-to-hand-forced', clock)
  redis.execute(['RPUSH', `redisson_lock_queue:{${NAME}}`, theirs])
  redis.execute(['ZADD', `redisson_lock_timeout:{${NAME}}`, String(clock.now() + 900_000), theirs])
  await first.release()
  await settle(clock)
  await (await waiting[0])?.release()
  await settle(clock)
  redis.execute(['DEL', NAME])
  const heard: string[] = []
  const ear = { message: (_channel: string, payload: string) => void heard.push(payload) }
  redis.pubsub.subscribe(ear, `redisson_lock__channel:{${NAME}}:${theirs}`, 'plain')
  await (await waiting[1])?.release()
  await settle(clock)
  assert.deepEqual(heard, ['0'])
})

void test('taken by force after it went from hand to hand → whoever has it is told at once, and nobody enters beside the next', async (t) => {
  const clock = virtualClock()
  const url = 'memory:hand-to-hand-taken'
  const [one, two] = await pair(t, url, clock)
  const first = await two.fairLock(NAME).acquire()
  const waiting = times(3, () => one.fairLock(NAME).acquire())
  await settle(clock)
  await first.release()
  await settle(clock)
  await (await waiting[0])?.release()
  await settle(clock)
  const second = await waiting[1]
  assert.equal(second?.state, 'held')
  assert.equal(await two.fairLock(NAME).forceRelease(), true)
  await settle(clock)
  assert.equal(second.state, 'lost')
  const third = await waiting[2]
  assert.equal(third?.state, 'held')
  assert.equal((await two.fairLock(NAME).inspect()).holders.length, 1)
  assert.equal(await second.release(), false)
  assert.equal(await third.release(), true)
})

void test('taken by force after it went from hand to hand, and nobody waits any more → told at once all the same', async (t) => {
  const clock = virtualClock()
  const url = 'memory:hand-to-hand-last'
  const [one, two] = await pair(t, url, clock)
  const first = await two.fairLock(NAME).acquire()
  const waiting = times(2, () => one.fairLock(NAME).acquire())
  await settle(clock)
  await first.release()
  await settle(clock)
  await (await waiting[0])?.release()
  await settle(clock)
  const last = await waiting[1]
  assert.equal(await two.fairLock(NAME).forceRelease(), true)
  await settle(clock)
  assert.equal(last?.state, 'lost')
  assert.equal(await two.fairLock(NAME).isLocked(), false)
})

void test('taken by force while the next here waits → the one before is told at once', async (t) => {
  const clock = virtualClock()
  const url = 'memory:hand-to-hand-next'
  const [one, two] = await pair(t, url, clock)
  const first = await one.fairLock(NAME).acquire()
  const waiting = one.fairLock(NAME).acquire()
  await settle(clock)
  assert.equal(await two.fairLock(NAME).forceRelease(), true)
  await settle(clock)
  const next = await waiting
  assert.deepEqual([first.state, next.state], ['lost', 'held'])
})

onServer(
  'who comes again at once → joins the line together with those of its process who had it before',
  async ({ open }) => {
    const clients = [await open(), await open()]
    const grants: boolean[] = []
    const listener = (message: unknown): void => void grants.push((message as DiagnosticMessage).local === true)
    subscribe('holdfast:grant', listener)
    const loop = async (client: Client): Promise<void> => {
      for (let round = 0; round < 100; round++) await (await client.fairLock(NAME).acquire()).release()
    }
    try {
      await Promise.all(clients.flatMap((client) => times(4, () => loop(client))))
    } finally {
      unsubscribe('holdfast:grant', listener)
    }
    // Where they are torn apart, it is no more than one in five.
    const local = grants.filter(Boolean).length / grants.length
    assert.ok(local > 0.4, `${Math.round(100 * local)} % from hand to hand`)
  },
)

onServer('the answer to a release is late → who comes meanwhile joins the line without it', async (broken) => {
  const one = (await broken.open()).fairLock(NAME)
  const direct = await connect(broken.server.url)
  broken.after(() => direct.close())
  const two = direct.fairLock(NAME)
  const first = await two.acquire()
  const mine = one.acquire()
  await broken.until(async () => (await two.inspect()).waiting.length === 1)
  const theirs = two.acquire()
  await broken.until(async () => (await two.inspect()).waiting.length === 2)
  await first.release()
  const hold = await mine
  broken.proxy.held = 'replies'
  let answered = false
  const released = hold.release().finally(() => (answered = true))
  const next = one.acquire()
  const theirHold = await theirs
  await broken.until(async () => (await two.inspect()).waiting.length === 1, 1000)
  assert.equal(answered, false)
  broken.proxy.held = 'nothing'
  assert.equal(await released, true)
  await theirHold.release()
  await (await next).release()
})
