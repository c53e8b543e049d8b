import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import type { Script } from '#src/lua/script.js'
import {
  permitSemaphoreAdd,
  permitSemaphoreAsk,
  permitSemaphoreCount,
  permitSemaphoreLeave,
  permitSemaphoreRelease,
} from '#src/lua/scripts.gen.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

type Word = string | number | Buffer
type Send = (...words: Word[]) => unknown

const PLACE = ':0000000007'
const OURS = `0a1b2c3d-0a1b-8101-8001-0a1b2c3d4e5f${PLACE}`
const THEIRS = `1a1b2c3d-0a1b-8101-8001-0a1b2c3d4e5f${PLACE}`
const VOICES = ['channel', 'grants', 'PUBLISH']
const LINE = ['queue', 'deadlines', 'amounts', 'turn']
/** Both hear what they are granted. */
const HEARD = [OURS, THEIRS].map((owner) => `grants:${owner.slice(0, 36)}`)
const idOf = (number: number): string => String(number).padStart(32, '0')

/** Each of these is asked on its own, as scripts are. */
const stepsOn = (send: Send) => {
  let notes = 0
  const run = async (script: Script, keys: readonly string[], ...args: Word[]): Promise<unknown> =>
    await send('EVAL', script.text, keys.length, ...keys, ...args)
  const keys = (): string[] => ['s', `note ${notes++}`, ...LINE, 'timeouts']
  return {
    /** It wants so many, and stands in the line for them. */
    ask: async (owner: string, count: number, first: number) => {
      const ids = count < 10 ? Array.from({ length: count }, (_, i) => idOf(first + i)) : [idOf(first)]
      const calls = [60_000, count, ...ids]
      return (await run(permitSemaphoreAsk, keys(), owner, count, 0, 1, ...VOICES, ...calls)) as number[]
    },
    leave: (owner: string) => run(permitSemaphoreLeave, ['s', ...LINE, 'timeouts'], owner, 1, ...VOICES),
    release: (...ids: string[]) => run(permitSemaphoreRelease, keys(), 'client', 1, 1, ...VOICES, ...ids),
    add: (amount: number) => run(permitSemaphoreAdd, keys(), amount, 'client', 1, ...VOICES),
    count: async () => {
      const [, available, acquired] = (await run(
        permitSemaphoreCount,
        ['s', 'timeouts', 'queue'],
        ...VOICES,
      )) as number[]
      return { available, acquired }
    },
    granted: async () => Number(await send('HGET', 'amounts', OURS)),
  }
}

/** Three permits that somebody gives back go to one in the line, on trial. */
const grantThree = async (send: Send, steps: ReturnType<typeof stepsOn>): Promise<void> => {
  await send('SET', 's', 3)
  assert.equal((await steps.ask(THEIRS, 3, 1))[0], 1)
  assert.equal((await steps.ask(OURS, 3, 11))[0], 0)
  await steps.release(idOf(1), idOf(2), idOf(3))
  assert.equal(await steps.granted(), 3)
  assert.deepEqual(await steps.count(), { available: 0, acquired: 3 })
}

const scenarios = (server: () => Send): void => {
  test('granted, lapsed behind thousands that lapsed before it, and granted again → all are counted', async () => {
    const send = server()
    const steps = stepsOn(send)
    await grantThree(send, steps)
    // More than three scripts take back.
    const lapsed = Array.from({ length: 6500 }, (_, i) => [0, `other ${i}`]).flat()
    const trial = (await send('ZRANGE', 'timeouts', 0, -1)) as (string | Buffer)[]
    for (const id of trial) await send('ZADD', 'timeouts', 1, id)
    await send('ZADD', 'timeouts', ...lapsed)
    await send('ZADD', 'deadlines', 1.5 + 3 / 4096, OURS)
    // Another who wants more than there are is first.
    assert.equal((await steps.ask(THEIRS, 7000, 21))[0], 0)
    assert.equal((await steps.ask(OURS, 3, 31))[0], 0)
    await steps.leave(THEIRS)
    assert.equal(await steps.granted(), 3)
    assert.deepEqual(await steps.count(), { available: 6500, acquired: 3 })
    assert.equal((await steps.ask(OURS, 3, 31))[0], 1)
    assert.deepEqual(await steps.count(), { available: 6500, acquired: 3 })
    assert.equal(await steps.release(idOf(31), idOf(32), idOf(33)), 1)
    assert.deepEqual(await steps.count(), { available: 6503, acquired: 0 })
  })

  test('granted, its deadline evicted, and granted again → all are counted', async () => {
    const send = server()
    const steps = stepsOn(send)
    await grantThree(send, steps)
    await send('DEL', 'deadlines')
    assert.equal((await steps.ask(OURS, 3, 31))[0], 0)
    await steps.add(3)
    assert.equal(await steps.granted(), 3)
    const { available, acquired } = await steps.count()
    assert.equal(Number(available) + Number(acquired), 6)
    assert.equal((await steps.ask(OURS, 3, 31))[0], 1)
    assert.deepEqual(await steps.count(), { available: 3, acquired: 3 })
  })
}

void describe('permits on trial that lapse, on the embedded server', () => {
  let memory: MemoryServer
  const start = (): Send => {
    memory = new MemoryServer(systemClock)
    for (const channel of HEARD) memory.pubsub.subscribe({ message: () => undefined }, channel, 'plain')
    return (...words) => memory.execute(words.map((word) => String(word)))
  }
  after(() => memory.close())
  scenarios(start)
})

void describe('permits on trial that lapse, on Redis', () => {
  let server: RedisServer
  let redis: Redis
  let listener: Redis
  before(async () => {
    server = await startRedis()
    redis = new Redis(server.port)
    listener = new Redis(server.port)
    await listener.subscribe(...HEARD)
  })
  after(async () => {
    redis.disconnect()
    listener.disconnect()
    await server.stop()
  })
  scenarios(() => {
    void redis.flushall()
    return (command, ...words) =>
      redis.callBuffer(String(command), ...words).then((reply) => (Buffer.isBuffer(reply) ? String(reply) : reply))
  })
})
