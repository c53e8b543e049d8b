import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ClosedError, EngineError } from 'holdfast'
import { rejection, watch } from '../../suites/contract/lock/kind.js'
import { type Broken, onServer } from '../../support/server.js'
import { ofScripts, onWire, requests } from '../../support/wire.js'

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await rejection(work)
  assert.ok(error instanceof EngineError, String(error))
  return error.code
}

/** Soon says BUSY; both names of the setting, whichever server it is. */
const IMPATIENT = ['--lua-time-limit', '50']

const isBusy = ({ redis }: Broken): Promise<boolean> =>
  redis.get('x').then(
    () => false,
    (error: unknown) => (error as Error).message.startsWith('BUSY '),
  )

describe('a script that does not end, on a server', () => {
  onServer(
    'it has not written → killed by the client that runs it; others were told BUSY, and go on',
    async (broken) => {
      const [runner, other] = [await broken.open({ commandTimeout: 30_000 }), await broken.open()]
      const endless = rejection(runner.script('while true do end').run())
      await broken.until(() => isBusy(broken))
      assert.equal(await codeOf(other.script('return 1').run()), 'BUSY')
      assert.equal(await codeOf(other.lock('a').acquire()), 'BUSY')
      await runner.scripts.kill()
      const error = await endless
      assert.ok(error instanceof EngineError)
      assert.match(error.message, /killed by user/i)
      assert.equal(await other.script('return 1').run(), 1)
      const connections = async (): Promise<number> => String(await broken.redis.client('LIST')).split('\n').length
      const before = await connections()
      assert.equal(await codeOf(runner.scripts.kill()), 'NOTBUSY')
      await broken.until(async () => (await connections()) <= before)
    },
    IMPATIENT,
  )

  onServer(
    'the client is closed meanwhile → all its calls reject with ClosedError, within 1 s',
    async (broken) => {
      const client = await broken.open({ commandTimeout: 3000 })
      const calls = [client.script('while true do end').run()]
      await broken.until(() => isBusy(broken))
      broken.proxy.deaf = true
      calls.push(
        client.script('return 1').run(),
        client.scripts.load('return 2').then(() => undefined),
      )
      const begun = performance.now()
      const outcomes = Promise.all(calls.map(rejection))
      const closing = client.close()
      for (const error of await outcomes) assert.ok(error instanceof ClosedError, String(error))
      assert.ok(performance.now() - begun < 1000, `${performance.now() - begun} ms`)
      broken.proxy.deaf = false
      await broken.redis.script('KILL')
      await closing
    },
    IMPATIENT,
  )

  onServer(
    'it has written → UNKILLABLE; who waits waits on, and a hold is uncertain, then lost',
    async (broken) => {
      const [runner, holder, waiter] = [
        await broken.open({ commandTimeout: 60_000 }),
        await broken.open({ watchdog: 2400, commandTimeout: 500 }),
        await broken.open({ commandTimeout: 500 }),
      ]
      const hold = await holder.lock('a').acquire()
      const waiting = watch(waiter.lock('a').acquire())
      await sleep(300)
      const endless = runner.script("redis.call('SET', KEYS[1], 1) while true do end").run({ keys: ['w'] })
      endless.catch(() => undefined)
      await broken.until(() => isBusy(broken))
      const [code, text] = await rejection(holder.scripts.kill()).then((error) => [
        (error as EngineError).code,
        (error as EngineError).message,
      ])
      assert.equal(code, 'UNKILLABLE')
      assert.match(String(text), /^UNKILLABLE .*SHUTDOWN NOSAVE/)
      await broken.until(() => hold.state === 'uncertain')
      assert.equal(waiting.settled, false)
      await broken.until(() => hold.state === 'lost')
      assert.equal(hold.signal.aborted, true)
      assert.equal(waiting.settled, false, 'a waiter waits on')
      await broken.restart()
      const next = await waiting.promise
      assert.equal(await next.release(), true)
    },
    IMPATIENT,
  )

  onServer('a user without the right to a command → NOPERM', async (broken) => {
    await broken.redis.call('ACL', 'SETUSER', 'low', 'on', '>pw', '~*', '+@all', '-set', '-script')
    const client = await broken.open({ url: broken.server.url.replace('redis://', 'redis://low:pw@') })
    assert.equal(await codeOf(client.script("return redis.call('SET', 'a', 1)").run()), 'NOPERM')
    assert.equal(await codeOf(client.scripts.flush()), 'NOPERM')
    assert.equal(await broken.redis.exists('a'), 0)
  })
})

describe('a topic whose connection was away', () => {
  onServer('cut → gap after it is subscribed again; what is published then is heard, once', async (broken) => {
    const client = await broken.open()
    client.on('error', () => undefined)
    const heard: unknown[] = []
    const steps: string[] = []
    const sharded = await client.topic('s', { sharded: true }).subscribe((message) => void heard.push(message))
    const plain = await client.topic('p').subscribe((message) => void heard.push(message))
    const pattern = await client.patternTopic('q*').subscribe((message) => void heard.push(message))
    for (const [name, one] of Object.entries({ sharded, plain, pattern })) one.on('gap', () => void steps.push(name))
    broken.proxy.cut()
    await broken.until(() => new Set(steps).size === 3)
    // The server may still count the connection that was cut; nothing is published before it does not.
    const { redis } = broken
    await broken.until(async () => {
      const counted = [await redis.call('PUBSUB', 'SHARDNUMSUB', 's'), await redis.call('PUBSUB', 'NUMSUB', 'p')]
      return counted.every((told) => (told as unknown[])[1] === 1) && (await redis.call('PUBSUB', 'NUMPAT')) === 1
    })
    assert.equal(await redis.call('SPUBLISH', 's', '1'), 1)
    assert.equal(await redis.publish('p', '2'), 1)
    assert.equal(await redis.publish('qq', '3'), 1)
    await broken.until(() => heard.length >= 3)
    assert.deepEqual([...heard].sort(), [1, 2, 3])
  })

  onServer(
    '10,000 messages to 3 subscribers whose connections are killed → each reconnect a gap, nothing twice, in order',
    async (broken) => {
      const KILLS = 10
      const clients = await Promise.all([broken.open(), broken.open(), broken.open()])
      const heard = await Promise.all(
        clients.map(async (client) => {
          client.on('error', () => undefined)
          const all: (number | 'gap')[] = []
          const subscription = await client.topic('p').subscribe((message) => void all.push(message as number))
          subscription.on('gap', () => all.push('gap'))
          return all
        }),
      )
      const gapsOf = (all: readonly unknown[]): number => all.filter((one) => one === 'gap').length
      for (let part = 0; part < KILLS; part++) {
        for (let i = 0; i < 1000; i++) {
          // In the midst of what is published, and behind none of it.
          if (i === 500) void broken.redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
          void broken.redis.publish('p', String(1000 * part + i))
          if (i % 20 === 0) await sleep(1)
        }
        await broken.until(() => heard.every((all) => gapsOf(all) > part))
      }
      await broken.until(async () => (await broken.redis.publish('p', '10000')) === 3)
      await broken.until(() => heard.every((all) => all.at(-1) === 10_000))
      for (const all of heard) {
        const numbers = all.filter((one) => one !== 'gap')
        const missed = numbers.filter((n, place) => n !== (numbers[place - 1] ?? -1) + 1)
        assert.ok(
          numbers.every((n, place) => n > (numbers[place - 1] ?? -1)),
          'out of order, or twice',
        )
        assert.equal(gapsOf(all), KILLS, 'a reconnect is a gap, and nothing else is')
        assert.ok(missed.length <= KILLS, `missed without a gap: before ${missed.join()}`)
        // Of each part at least what the server had sent before the kill; who is back late misses the other half.
        assert.ok(numbers.length > 2500, `${numbers.length} heard`)
      }
    },
  )

  onServer('T04: seconds of messages, one at a time, beside commands → all, in their order', async (broken) => {
    const [listener, publisher] = [await broken.open(), await broken.open()]
    const heard: unknown[] = []
    await listener.topic('p').subscribe((message) => void heard.push(message))
    const sent = Array.from({ length: 300 }, (_, i) => i)
    for (const i of sent) {
      await Promise.all([publisher.topic('p').publish(i), listener.topic('p').subscribers()])
      await sleep(5)
    }
    await broken.until(() => heard.length === sent.length)
    assert.deepEqual(heard, sent)
  })

  onServer('T24 T25: away when one subscribes → rejects; when it is back, the next stands', async (broken) => {
    const client = await broken.open({ commandTimeout: 400 })
    client.on('error', () => undefined)
    const heard: unknown[] = []
    let gaps = 0
    const first = await client.topic('a').subscribe((message) => void heard.push(message))
    first.on('gap', () => (gaps += 1))
    await broken.server.stop()
    assert.ok((await rejection(client.topic('b').subscribe(() => undefined))) instanceof EngineError)
    assert.deepEqual([client.topic('a').listeners(), client.topic('b').listeners()], [1, 0])
    await broken.restart()
    await broken.until(async () => (await broken.redis.publish('a', '1')) === 1)
    await broken.until(() => heard.length > 0)
    assert.ok(gaps > 0)
    await client.topic('b').subscribe((message) => void heard.push(message))
    assert.equal(await client.topic('b').publish(2), 1)
    await broken.until(() => heard.includes(2))
  })
})

await onWire('what the server is asked for scripts and topics', (wire) => {
  test('a script → its SHA, its text where it is not known; read-only by the commands for that', async () => {
    const client = await wire.open()
    const script = client.script("return redis.call('EXISTS', KEYS[1])")
    const reading = client.script("return redis.call('EXISTS', KEYS[1])", { readOnly: true })
    const seen = await wire.monitored(async () => {
      await script.run({ keys: ['a'] })
      await script.run({ keys: ['a'] })
      await client.scripts.flush()
      await reading.run({ keys: ['a'] })
      await reading.run({ keys: ['a'] })
    })
    assert.deepEqual(requests(seen), ['evalsha', 'eval', 'evalsha', 'script', 'evalsha_ro', 'eval_ro', 'evalsha_ro'])
    assert.deepEqual(ofScripts(seen), ['exists a', 'exists a', 'exists a', 'exists a'])
  })

  test('many listeners of a channel → one subscription, which ends with the last', async () => {
    const client = await wire.open()
    const seen = await wire.monitored(async () => {
      const all = await Promise.all([1, 2, 3].map(() => client.topic('a').subscribe(() => undefined)))
      for (const one of all) await one.unsubscribe()
    })
    assert.deepEqual(requests(seen), ['subscribe', 'unsubscribe'])
  })
})
