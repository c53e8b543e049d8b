import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { SharedSubscriptions } from '#src/core/server/shared-subscriptions.js'
import { onServer } from '../../support/server.js'

const none = (): void => undefined

/** A server that refuses so many subscriptions, and says what it was asked. */
const stage = (refusals: number) => {
  const clock = virtualClock()
  const asked: string[] = []
  const told: (string | undefined)[] = []
  const subscriber = {
    isUp: true,
    subscribe(name: string): Promise<void> {
      asked.push(`+${name}`)
      return refusals-- > 0 ? Promise.reject(new Error('refused')) : Promise.resolve()
    },
    unsubscribe(name: string): Promise<void> {
      asked.push(`-${name}`)
      return Promise.resolve()
    },
  }
  const wakeups = new SharedSubscriptions(clock, subscriber, () => false)
  return { clock, asked, told, wakeups, subscriber, listen: () => wakeups.listen('a', (payload) => told.push(payload)) }
}

void test('a subscription is refused, and somebody goes on to listen → it is tried again every second, and who listens is told', async () => {
  const { clock, asked, told, wakeups, listen } = stage(3)
  await assert.rejects(Promise.resolve(listen().ready), /refused/)
  await clock.advance(999)
  assert.deepEqual(asked, ['+a'])
  assert.ok(!wakeups.hears('a'))
  await clock.advance(2000)
  assert.deepEqual([asked.length, told], [3, []])
  await clock.advance(1000)
  assert.deepEqual([asked.length, told], [4, [undefined]])
  assert.ok(wakeups.hears('a'))
  await clock.advance(10_000)
  assert.equal(asked.length, 4)
})

void test('a subscription is refused, and the connection is away → it is tried when that is back', async () => {
  const { clock, asked, subscriber, wakeups, listen } = stage(1)
  await assert.rejects(Promise.resolve(listen().ready))
  subscriber.isUp = false
  await clock.advance(10_000)
  assert.deepEqual(asked, ['+a'])
  subscriber.isUp = true
  await clock.advance(1000)
  assert.ok(wakeups.hears('a'))
})

void test('a subscription is refused, and nobody listens any more → nothing is tried, and nothing is left', async () => {
  const { clock, asked, listen } = stage(Infinity)
  const ear = listen()
  await assert.rejects(Promise.resolve(ear.ready))
  ear.close()
  assert.deepEqual(asked, ['+a', '-a'])
  const early = listen()
  early.close()
  await clock.advance(10_000)
  assert.deepEqual(asked, ['+a', '-a', '+a', '-a'])
})

void test('another comes to listen while it is refused → it is tried at once, and both hear', async () => {
  const { clock, asked, told, wakeups, listen } = stage(1)
  await assert.rejects(Promise.resolve(listen().ready))
  await listen().ready
  assert.deepEqual(asked, ['+a', '+a'])
  await clock.advance(0)
  assert.deepEqual(told, [undefined, undefined])
  wakeups.message({ kind: 'plain', name: 'a', channel: 'a', payload: Buffer.from('0') })
  assert.deepEqual(told.slice(2), ['0', '0'])
})

void test('a subscription that stood cannot be had again after the connection was away → it is tried until it can', async () => {
  const { clock, asked, told, wakeups, listen } = stage(0)
  await listen().ready
  wakeups.unheard('plain', 'a')
  assert.ok(!wakeups.hears('a'))
  await clock.advance(0)
  assert.ok(wakeups.hears('a'))
  assert.deepEqual([asked, told], [['+a', '+a'], [undefined]])
  wakeups.unheard('plain', 'of nobody')
  assert.equal(asked.length, 2)
})

void test('the client closes while a subscription is refused → it is not tried again', async () => {
  const { clock, asked, wakeups, listen } = stage(Infinity)
  await assert.rejects(Promise.resolve(listen().ready))
  await wakeups.stop()
  await clock.advance(10_000)
  assert.deepEqual(asked, ['+a', '-a'])
})

onServer('who waits for a fair lock may not subscribe at first → it does as soon as it may', async (broken) => {
  const { redis, server, until } = broken
  await redis.call('ACL', 'SETUSER', 'mute', 'on', '>x', '~*', '+@all', 'resetchannels')
  const quiet = { debug: none, info: none, warn: none, error: none }
  const [holder, waiter] = [
    await broken.open(),
    await broken.open({ url: `redis://mute:x@127.0.0.1:${server.port}`, logger: quiet }),
  ]
  const hold = await holder.fairLock('a').acquire()
  const waiting = waiter.fairLock('a').acquire()
  await until(async () => (await redis.llen('redisson_lock_queue:{a}')) === 1)
  const heard = async (): Promise<number> =>
    Number((await redis.pubsub('NUMSUB', `holdfast_grant:{a}:${waiter.id}`))[1])
  assert.equal(await heard(), 0)
  await redis.call('ACL', 'SETUSER', 'mute', 'allchannels')
  await until(async () => (await heard()) === 1, 5000)
  await hold.release()
  await (await waiting).release()
})
