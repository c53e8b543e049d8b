import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Subscription } from 'holdfast'
import { ClosedError } from 'holdfast'
import type { Client, Scenario, World } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'
import { isBadArgument, rejection, times, watch } from './lock/kind.js'

const LOOPS_END = new Error('enough')

/** Collects what is heard. */
const hearing = (): { heard: unknown[]; listener: (message: unknown) => void } => {
  const heard: unknown[] = []
  return { heard, listener: (message) => void heard.push(message) }
}

/** A node of a cluster counts those who listen to it alone, and a plain message is heard at all. */
const isTold = (w: World, told: number, all: number): void =>
  assert.ok(w.slotted ? told <= all : told === all, `${told} of ${all} were told`)

const count = async (w: World, name: string, sharded = false): Promise<number> =>
  Number(((await w.raw('PUBSUB', sharded ? 'SHARDNUMSUB' : 'NUMSUB', name)) as unknown[])[1])

/** Redisson's own tests of its topics. */
const redissonLines = (scenario: Scenario): void => {
  scenario('T02, T03, T13: subscribed and left when told so; counted, each topic for itself', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const topic = one.topic(w.id)
    assert.deepEqual([await topic.subscribers(), topic.listeners()], [0, 0])
    const first = await topic.subscribe(() => undefined)
    const second = await one.topic(w.id).subscribe(() => undefined)
    assert.deepEqual([await topic.subscribers(), topic.listeners()], [1, 2])
    assert.deepEqual([one.topic(`${w.id}2`).listeners(), two.topic(w.id).listeners()], [0, 0])
    await two.topic(w.id).subscribe(() => undefined)
    assert.equal(await topic.subscribers(), 2)
    await first.unsubscribe()
    assert.deepEqual([await topic.subscribers(), topic.listeners()], [2, 1])
    await second.unsubscribe()
    assert.deepEqual([await topic.subscribers(), topic.listeners()], [1, 0])
  })

  scenario('T07, T21: once subscribed no message is missed, in any client', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    for (let round = 0; round < 20; round += 1) {
      const [mine, theirs] = [hearing(), hearing()]
      const subscriptions = await Promise.all([
        one.topic(w.id).subscribe(mine.listener),
        two.topic(w.id).subscribe(theirs.listener),
      ])
      isTold(w, await one.topic(w.id).publish(round), 2)
      await w.eventually(() => mine.heard.length + theirs.heard.length === 2)
      assert.deepEqual([mine.heard, theirs.heard], [[round], [round]])
      await Promise.all(subscriptions.map((subscription) => subscription.unsubscribe()))
      assert.equal(await count(w, w.id), 0)
    }
  })

  scenario('T08: a channel and a pattern → both are told, also the third time', async (w) => {
    const client = await w.connect()
    for (let round = 1; round <= 3; round += 1) {
      const exact = hearing()
      const matched: unknown[] = []
      const subscriptions = [
        await client.topic(`${w.id}:a`).subscribe(exact.listener),
        await client.patternTopic(`${w.id}:*`).subscribe((message, channel) => void matched.push([channel, message])),
      ]
      isTold(w, await client.topic(`${w.id}:a`).publish('x'), 2)
      await w.eventually(() => exact.heard.length + matched.length === 2)
      assert.deepEqual([exact.heard, matched], [['x'], [[`${w.id}:a`, 'x']]])
      for (const subscription of subscriptions) await subscription.unsubscribe()
      // In a cluster it may take its way through the nodes until the next round has subscribed.
      if (!w.slotted) assert.equal(await client.topic(`${w.id}:a`).publish('x'), 0)
    }
  })

  scenario('T09: each listener reads by its own codec', async (w) => {
    const client = await w.connect()
    const [text, number] = [hearing(), hearing()]
    await client.topic(w.id, { codec: 'string' }).subscribe(text.listener)
    await client.topic(w.id, { codec: 'long' }).subscribe(number.listener)
    await client.topic(w.id, { codec: 'long' }).publish(2n ** 60n)
    await w.eventually(() => text.heard.length + number.heard.length === 2)
    assert.deepEqual([text.heard, number.heard], [[String(2n ** 60n)], [2n ** 60n]])
  })

  scenario('T10, T12: a listener may ask and publish itself', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const heard: unknown[] = []
    await one.topic(`${w.id}:there`).subscribe(async (message) => {
      for (let i = 0; i < 20; i += 1) await one.lock(`${w.id}:lock`).using(() => undefined)
      await one.topic(`${w.id}:back`).publish(`${String(message)}!`)
    })
    await two.topic(`${w.id}:back`).subscribe((message) => void heard.push(message))
    for (const word of ['a', 'b', 'c']) await two.topic(`${w.id}:there`).publish(word)
    await w.eventually(() => heard.length === 3)
    assert.deepEqual([...heard].sort(), ['a!', 'b!', 'c!'])
  })

  scenario(
    'T11, T15, T19, T20, T23: one of two listeners leaves → the other stays, also when it is the same function',
    async (w) => {
      const client = await w.connect()
      const { heard, listener } = hearing()
      const [first, second] = [
        await client.topic(w.id).subscribe(listener),
        await client.topic(w.id).subscribe(listener),
      ]
      await first.unsubscribe()
      await first.unsubscribe()
      isTold(w, await client.topic(w.id).publish(1), 1)
      await w.eventually(() => heard.length > 0)
      const last = second.unsubscribe()
      assert.equal(client.topic(w.id).listeners(), 0)
      await last
      isTold(w, await client.topic(w.id).publish(2), 0)
      await w.pass(50)
      assert.deepEqual(heard, [1])
    },
  )

  scenario('T16, T18: all listeners of a topic removed, by another object → nothing is heard', async (w) => {
    const client = await w.connect()
    const { heard, listener } = hearing()
    await Promise.all(times(10, () => client.topic(w.id).subscribe(listener)))
    const loop = client.topic(w.id).messages()
    const next = watch(loop.next())
    await w.eventually(() => client.topic(w.id).listeners() === 11)
    await client.topic(w.id).unsubscribeAll()
    isTold(w, await client.topic(w.id).publish(1), 0)
    assert.deepEqual(await next.promise, { done: true, value: undefined })
    assert.deepEqual([heard, client.topic(w.id).listeners()], [[], 0])
  })

  scenario('T06: many come, publish and leave at once → each hears its own, nobody is left', async (w) => {
    const clients = await Promise.all([w.connect(), w.connect()])
    const task = async (index: number): Promise<void> => {
      const client = clients[index % 2] as Client
      for (let round = 0; round < 20; round += 1) {
        const { heard, listener } = hearing()
        const subscription = await client.topic(w.id).subscribe(listener)
        const mine = `${index}/${round}`
        assert.ok((await client.topic(w.id).publish(mine)) >= (w.slotted ? 0 : 1))
        for (let waits = 0; !heard.includes(mine); waits += 1) {
          assert.ok(waits < 2000, `${mine} was not heard`)
          await w.pause(5)
        }
        await subscription.unsubscribe()
      }
    }
    await w.run(Promise.all(times(16, task)))
    assert.deepEqual([await count(w, w.id), ...clients.map((client) => client.topic(w.id).listeners())], [0, 0, 0])
  })

  scenario(
    'T17: more topics than connections could have places for → each is heard; one is left, another joins',
    async (w) => {
      const client = await w.connect()
      const { heard, listener } = hearing()
      const names = times(1100, (i) => `${w.id}/${i}`)
      const join = (name: string) => client.topic(name).subscribe(listener)
      const [first] = await Promise.all(names.slice(1).map(join))
      await first?.unsubscribe()
      await join(names[0] as string)
      const told = await Promise.all(names.map((name, i) => client.topic(name).publish(i)))
      for (const [i, n] of told.entries()) isTold(w, n, i === 1 ? 0 : 1)
      await w.eventually(() => heard.length === 1099)
      assert.equal(new Set(heard).size, 1099)
    },
  )

  scenario(
    'T22: thousands of messages → all, in their order',
    async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const { heard, listener } = hearing()
      await two.topic(w.id).subscribe(listener)
      const told = await Promise.all(times(3000, (i) => one.topic(w.id).publish(i)))
      for (const n of told) isTold(w, n, 1)
      await w.eventually(() => heard.length === 3000)
      assert.deepEqual(
        heard,
        times(3000, (i) => i),
      )
    },
    'order among commands',
  )
}

const channels = (scenario: Scenario): void => {
  scenario(
    'sharded → only who subscribed so is told',
    async (w) => {
      const client = await w.connect()
      const [sharded, plain] = [hearing(), hearing()]
      const topic = client.topic(w.id, { sharded: true })
      const subscription = await topic.subscribe(sharded.listener)
      await client.topic(w.id).subscribe(plain.listener)
      assert.deepEqual([await topic.subscribers(), await count(w, w.id, true), topic.listeners()], [1, 1, 1])
      assert.equal(await topic.publish('s'), 1)
      isTold(w, await client.topic(w.id).publish('p'), 1)
      await w.eventually(() => sharded.heard.length + plain.heard.length === 2)
      assert.deepEqual([sharded.heard, plain.heard], [['s'], ['p']])
      await subscription.unsubscribe()
      assert.equal(await count(w, w.id, true), 0)
    },
    'sharded channels',
  )

  scenario('mapName → the channel is mapped, a pattern is not, as with Redisson', async (w) => {
    const client = await w.connect({ mapName: (name) => `${name}:mapped` })
    const matched: string[] = []
    await client.patternTopic(`${w.id}*`).subscribe((_message, channel) => void matched.push(channel))
    const { heard, listener } = hearing()
    await client.topic(w.id).subscribe(listener)
    assert.equal(await count(w, `${w.id}:mapped`), 1)
    isTold(w, await client.topic(w.id).publish(1), 2)
    await w.eventually(() => matched.length + heard.length === 2)
    assert.deepEqual(matched, [`${w.id}:mapped`])
  })

  scenario('a channel that a latch waits at → both hear, and both can leave', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const channel = `redisson_countdownlatch__channel__{${w.id}}`
    const { heard, listener } = hearing()
    const topic = two.topic(channel, { codec: 'string', sharded: w.slotted })
    await one.countDownLatch(w.id).trySetCount(1)
    const waiting = watch(two.countDownLatch(w.id).wait())
    await w.eventually(async () => (await count(w, channel)) === 1)
    const subscription = await topic.subscribe(listener)
    assert.equal(await count(w, channel), 1)
    await subscription.unsubscribe()
    assert.equal(await count(w, channel), 1, 'the latch listens on')
    await topic.subscribe(listener)
    await one.countDownLatch(w.id).countDown()
    assert.equal(await w.run(waiting.promise), true)
    await w.eventually(() => heard.length > 0)
    assert.equal(heard[0], '0')
  })
}

const trouble = (scenario: Scenario): void => {
  scenario(
    'a listener that throws or rejects, and what cannot be read → told as errors, the others hear',
    async (w) => {
      const client = await w.connect()
      const errors: string[] = []
      client.on('error', (error) => void errors.push(error.message))
      await client.topic(w.id).subscribe(() => {
        throw new Error('thrown')
      })
      await client.topic(w.id).subscribe(() => Promise.reject(new Error('rejected')))
      const { heard, listener } = hearing()
      await client.topic(w.id).subscribe(listener)
      await w.raw('PUBLISH', w.id, 'no json')
      await client.topic(w.id).publish('json')
      await w.eventually(() => errors.length === 5)
      assert.deepEqual(heard, ['json'])
      assert.equal(errors.filter((text) => text.startsWith(`a message on '${w.id}' cannot be read: `)).length, 3)
      assert.deepEqual(errors.slice(3).sort(), ['rejected', 'thrown'])
    },
  )

  scenario('a listener ends another’s subscription → that one does not hear the very message', async (w) => {
    const client = await w.connect()
    const heard: unknown[] = []
    const ended: Subscription[] = []
    await client.topic(w.id).subscribe(() => ended[0]?.unsubscribe())
    ended.push(await client.topic(w.id).subscribe((message) => void heard.push(message)))
    const after = hearing()
    await client.topic(w.id).subscribe(after.listener)
    await client.topic(w.id).publish(1)
    await w.eventually(() => after.heard.length === 1)
    assert.deepEqual(heard, [])
  })

  scenario('a signal → ends the subscription; aborted before, nothing is sent', async (w) => {
    const client = await w.connect()
    const aborted = AbortSignal.abort(LOOPS_END)
    assert.equal(await rejection(client.topic(w.id).subscribe(() => undefined, { signal: aborted })), LOOPS_END)
    assert.equal(await rejection(client.topic(w.id).messages({ signal: aborted }).next()), LOOPS_END)
    assert.equal(await count(w, w.id), 0)
    const control = new AbortController()
    const { heard, listener } = hearing()
    await client.topic(w.id).subscribe(listener, { signal: control.signal })
    const opening = client.topic(`${w.id}:other`).subscribe(listener, { signal: control.signal })
    control.abort(LOOPS_END)
    await opening.catch((error: unknown) => assert.equal(error, LOOPS_END))
    await w.eventually(async () => (await count(w, w.id)) + (await count(w, `${w.id}:other`)) === 0)
    assert.deepEqual([heard, client.topic(w.id).listeners()], [[], 0])
  })

  scenario('the client is closed → loops and calls reject with ClosedError, and nothing is subscribed', async (w) => {
    const client = await w.connect()
    await client.topic(w.id).subscribe(() => undefined)
    await client.patternTopic(`${w.id}*`).subscribe(() => undefined)
    const next = rejection(client.topic(w.id).messages().next())
    await w.eventually(() => client.topic(w.id).listeners() === 2)
    await client.close()
    assert.ok((await next) instanceof ClosedError)
    assert.ok((await rejection(client.topic(w.id).publish(1))) instanceof ClosedError)
    assert.ok((await rejection(client.topic(w.id).subscribe(() => undefined))) instanceof ClosedError)
    assert.deepEqual([await count(w, w.id), await w.raw('PUBSUB', 'NUMPAT')], [0, 0])
  })

  scenario('bad arguments → TypeError or RangeError at once', async (w) => {
    const client = await w.connect()
    const bad = (argument: string, value: unknown) => (error: unknown) => isBadArgument(error, argument, value)
    assert.throws(() => client.topic(''), bad('name', ''))
    assert.throws(() => client.topic('a', { sharded: 1 as never }), bad('sharded', 1))
    assert.throws(() => client.patternTopic(7 as never), bad('pattern', 7))
    assert.throws(() => client.topic('a', { codec: {} as never }), bad('codec', {}))
    assert.throws(() => client.topic('a').messages({ buffer: 0 }), bad('buffer', 0))
    bad('listener', 7)(await rejection(client.topic('a').subscribe(7 as never)))
    bad('signal', 7)(await rejection(client.topic('a').subscribe(() => undefined, { signal: 7 as never })))
    bad('undefined', undefined)(await rejection(client.topic('a').publish(undefined)))
    const subscription: Subscription = await client.topic(w.id).subscribe(() => undefined)
    assert.throws(() => subscription.on('gone' as never, () => undefined), bad('event', 'gone'))
    await w.run(rejection(w.connect({ codec: 'xml' as never }))).then(bad('codec', 'xml'))
  })
}

const loops = (scenario: Scenario): void => {
  scenario('a loop → the messages in their order from its first step on; left, it is unsubscribed', async (w) => {
    const client = await w.connect()
    const topic = client.topic<number>(w.id)
    const loop = topic.messages()
    await topic.publish(-1)
    const first = loop.next()
    await w.eventually(async () => (await count(w, w.id)) === 1)
    for (let i = 0; i < 5; i += 1) await topic.publish(i)
    assert.deepEqual(await first, { done: false, value: 0 })
    const heard: number[] = []
    for await (const message of loop) {
      heard.push(message)
      if (message === 3) break
    }
    assert.deepEqual(heard, [1, 2, 3])
    assert.deepEqual([await count(w, w.id), topic.listeners()], [0, 0])
    assert.deepEqual(await loop.next(), { done: true, value: undefined })
  })

  scenario('a pattern’s loop → each message with its channel', async (w) => {
    const client = await w.connect()
    const loop = client.patternTopic<number>(`${w.id}:?`).messages()
    const first = loop.next()
    await w.eventually(async () => (await w.raw('PUBSUB', 'NUMPAT')) === 1)
    await client.topic(`${w.id}:a`).publish(1)
    await client.topic(`${w.id}:bb`).publish(2)
    await client.topic(`${w.id}:b`).publish(3)
    assert.deepEqual((await first).value, { channel: `${w.id}:a`, message: 1 })
    assert.deepEqual((await loop.next()).value, { channel: `${w.id}:b`, message: 3 })
    await loop.return?.()
    assert.equal(await w.raw('PUBSUB', 'NUMPAT'), 0)
  })

  scenario('a loop that is too slow → the oldest go, and it is told so', async (w) => {
    const client = await w.connect()
    const topic = client.topic<number>(w.id)
    let gaps = 0
    const loop = topic.messages({ buffer: 3 }).on('gap', () => (gaps += 1))
    const first = loop.next()
    await w.eventually(async () => (await count(w, w.id)) === 1)
    const { heard, listener } = hearing()
    await topic.subscribe(listener)
    for (let i = 0; i < 10; i += 1) await topic.publish(i)
    await w.eventually(() => heard.length === 10)
    assert.equal((await first).value, 0)
    assert.equal(gaps, 1)
    assert.deepEqual([(await loop.next()).value, (await loop.next()).value, (await loop.next()).value], [7, 8, 9])
    const next = loop.next()
    await topic.publish(10)
    assert.equal((await next).value, 10)
    assert.equal(gaps, 1)
  })

  scenario(
    'a loop that is too slow and names no buffer → the last thousand stay',
    async (w) => {
      const client = await w.connect()
      const topic = client.topic<number>(w.id)
      const loop = topic.messages()
      const first = loop.next()
      await w.eventually(async () => (await count(w, w.id)) === 1)
      const { heard, listener } = hearing()
      await topic.subscribe(listener)
      await Promise.all(times(1100, (i) => topic.publish(i)))
      await w.eventually(() => heard.length === 1100)
      assert.equal((await first).value, 0)
      assert.equal((await loop.next()).value, 100)
      await loop.return?.()
    },
    'order among commands',
  )

  scenario('an abort → the step under way rejects with its reason, the next says that it is over', async (w) => {
    const client = await w.connect()
    const control = new AbortController()
    const loop = client.topic(w.id).messages({ signal: control.signal })
    const step = rejection(loop.next())
    await w.eventually(async () => (await count(w, w.id)) === 1)
    control.abort(LOOPS_END)
    assert.equal(await step, LOOPS_END)
    assert.deepEqual(await loop.next(), { done: true, value: undefined })
    await w.eventually(async () => (await count(w, w.id)) === 0)
  })
}

for (const engine of engines) {
  describe(`topics on ${engine.name}`, () => {
    const scenario = scenarios(engine, undefined, 0, 'topics and scripts')
    redissonLines(scenario)
    channels(scenario)
    trouble(scenario)
    loops(scenario)
  })
}
