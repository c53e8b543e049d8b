import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { type Clock, systemClock } from '#src/base/clock.js'
import type { IoredisClient } from '#src/engine/ioredis/client-type.js'
import { ownClient } from '#src/engine/ioredis/own-client.js'
import { paused } from '#src/engine/ioredis/reconnect-pauses.js'
import { freePort } from '../support/redis-server.js'
import type { Broken } from '../support/server.js'
import { onServer } from '../support/server.js'

/** A client of ioredis whose connections are made here, without the random part of its pauses. */
const pausing = () => {
  let now = 0
  let stream = new EventEmitter()
  const options: { retryStrategy?: (attempt: number) => number } = {}
  const events = new EventEmitter()
  const client = Object.defineProperty(Object.assign(events, { options }), 'stream', { get: () => stream })
  const clock: Clock = { ...systemClock, monotonic: () => now, random: () => 0.5 }
  paused(client as unknown as IoredisClient, clock)
  const up = (): void => {
    stream = new EventEmitter()
    events.emit('ready')
  }
  /** How long it pauses before the attempt; the first after a connection was up is 1. */
  const before = (attempt: number): number => options.retryStrategy?.(attempt) ?? NaN
  return {
    up,
    before,
    answers: (text: string) => void stream.emit('data', Buffer.from(text)),
    pass: (ms: number) => void (now += ms),
    /** A connection that is closed as soon as it is up. */
    inVain: () => {
      up()
      return before(1)
    },
  }
}

const times = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make)

void describe('the pauses of a connection of our own', () => {
  test('closed as soon as it is up, each time → as long as if it had been refused', () => {
    assert.deepEqual(times(8, pausing().inVain), [80, 160, 320, 640, 1280, 2000, 2000, 2000])
  })

  test('a command succeeded → short again, whatever was before', () => {
    const { up, answers, before, inVain } = pausing()
    times(5, inVain)
    up()
    answers('+PONG\r\n')
    assert.deepEqual([before(1), before(2), before(3)], [40, 80, 160])
    up()
    answers('-NOPERM this user has no permissions to run the ‘ping’ command\r\n')
    answers(':1\r\n')
    assert.equal(before(1), 40)
  })

  test('only errors came → not short again', () => {
    const { up, answers, before } = pausing()
    const pauses = times(4, () => {
      up()
      answers('-ERR max number of clients reached\r\n')
      return before(1)
    })
    assert.deepEqual(pauses, [80, 160, 320, 640])
  })

  test('up for a while, and nothing was sent on it → short again', () => {
    const { up, pass, before, inVain } = pausing()
    times(5, inVain)
    up()
    pass(500)
    assert.equal(before(1), 40)
  })

  test('accepted and refused in turn → what was accepted in vain still counts', () => {
    const { pass, before, inVain } = pausing()
    const pauses = times(3, () => {
      const accepted = inVain()
      pass(10_000)
      return [accepted, before(2)]
    })
    assert.deepEqual(pauses.flat(), [80, 160, 160, 320, 320, 640])
  })
})

/** How many connections were made in so many ms. */
const dialed = async ({ proxy }: Broken, ms: number): Promise<number> => {
  const before = proxy.accepted
  await sleep(ms)
  return proxy.accepted - before
}

void describe('a client of our own', { concurrency: 4 }, () => {
  onServer(
    'a proxy has lost its server, accepts and closes → dialed seldom; it has it again → served, and cuts are mended soon',
    async (broken) => {
      const client = await broken.open({ presence: false })
      let errors = 0
      client.on('error', () => (errors += 1))
      await client.topic('t').subscribe(() => undefined)
      broken.proxy.target = await freePort()
      broken.proxy.cut()
      await sleep(2000)
      errors = 0
      const dials = await dialed(broken, 5000)
      // Two connections, for commands and for messages.
      assert.ok(dials >= 2 && dials <= 12, `${dials} connections in 5 s`)
      assert.ok(errors <= dials, `${errors} error events`)
      broken.proxy.target = broken.server.port
      await broken.until(async () => (await client.health()).state === 'up', 5000)
      const took: number[] = []
      for (let count = 0; count < 4; count++) {
        await client.lock('a').using(() => undefined)
        const begun = performance.now()
        broken.proxy.cut()
        await sleep(20)
        await client.lock('a').using({ wait: 5000 }, () => undefined)
        took.push(performance.now() - begun)
      }
      assert.ok(Math.min(...took) < 400, took.join(' '))
    },
  )

  for (const [connection, type] of [
    ['commands', 'normal'],
    ['messages', 'pubsub'],
  ] as const)
    onServer(
      `a server with too many clients refuses the connection for ${connection} → dialed seldom; made when there is room`,
      async (broken) => {
        const client = await broken.open({ presence: false })
        client.on('error', () => undefined)
        await client.topic('t').subscribe(() => undefined)
        // The test's own connection, and the one that is not killed.
        await broken.redis.config('SET', 'maxclients', '2')
        await broken.redis.call('CLIENT', 'KILL', 'TYPE', type)
        await sleep(2000)
        const dials = await dialed(broken, 4000)
        assert.ok(dials >= 1 && dials <= 8, `${dials} connections in 4 s`)
        await broken.redis.config('SET', 'maxclients', '1000')
        await broken.until(async () => (await broken.redis.publish('t', '"there"')) === 1)
        await client.lock('a').using({ wait: 5000 }, () => undefined)
      },
    )

  onServer('the server is away → an error event once, and once more the next time', async (broken) => {
    const client = await connect({ url: broken.server.url, presence: false })
    broken.after(() => client.close())
    const refusals: string[] = []
    client.on('error', ({ message }) => {
      if (message.includes('ECONNREFUSED')) refusals.push(message)
    })
    await client.topic('t').subscribe(() => undefined)
    for (const times of [1, 2]) {
      await broken.server.stop()
      await sleep(1500)
      assert.equal(refusals.length, times, refusals.join('\n'))
      await broken.restart()
      await broken.until(async () => (await client.health()).state === 'up')
    }
  })

  onServer('nodes of which none is the master for a while → it asks until one is', async (broken) => {
    const { port } = broken.server
    const nodes = [await freePort(), port].map((each) => ({ host: '127.0.0.1', port: each }))
    const place = { address: 'nodes', topology: 'replicated', nodes, tls: false } as const
    const client = ownClient(place, { connectTimeout: 1000, commandTimeout: 1000, clock: systemClock })
    broken.after(() => client.disconnect())
    const errors: string[] = []
    client.on('error', ({ message }: Error) => void errors.push(message))
    await client.connect()
    await broken.redis.call('REPLICAOF', '127.0.0.1', await freePort())
    await broken.redis.call('CLIENT', 'KILL', 'TYPE', 'normal')
    await sleep(700)
    assert.notEqual(client.status, 'ready')
    assert.ok(errors.length >= 2 && errors.length <= 10, `${errors.length} questions in vain`)
    await broken.redis.call('REPLICAOF', 'NO', 'ONE')
    await broken.until(() => client.status === 'ready', 3000)
    assert.equal(await client.ping(), 'PONG')
  })
})
