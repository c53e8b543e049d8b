import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { connect, EngineError } from 'holdfast'
import { schedule } from 'holdfast/schedule'
import { type Clock, systemClock } from '#src/base/clock.js'
import type { Client, Options } from '../../support/engines.js'
import { traceOf } from '#src/thrown.js'
import { HIDDEN, HOSTILE } from '../../support/hostile.js'
import { mayStay } from '../../support/leftovers.js'
import { onServer } from '../../support/server.js'
import { until } from '../../support/until.js'

interface Scene {
  open(options?: Partial<Options>): Promise<Client>
  /** Throws the value, or rejects with it, in turns. */
  theirs(): never
  readonly thrown: unknown
}

/** What a promise rejects with: `undefined`, too. */
const outcome = (promise: Promise<unknown>): Promise<{ value: unknown } | { thrown: unknown }> =>
  promise.then(
    (value) => ({ value }),
    (thrown: unknown) => ({ thrown }),
  )

const sameAs = async (promise: Promise<unknown>, thrown: unknown): Promise<void> => {
  const came = await outcome(promise)
  assert.ok('thrown' in came, 'it did not reject')
  assert.ok(Object.is(came.thrown, thrown), 'it is not what was thrown')
}

/** The system's clock, and how many of its timers are still to come. */
const counting = (): { clock: Clock; pending: () => number } => {
  const pending = new Set<object>()
  const setTimer: Clock['setTimer'] = (callback, ms, options) => {
    const one = {}
    pending.add(one)
    const timer = systemClock.setTimer(
      () => {
        pending.delete(one)
        callback()
      },
      ms,
      options,
    )
    const cancel = (): void => {
      pending.delete(one)
      timer.cancel()
    }
    return { cancel }
  }
  return { clock: { ...systemClock, setTimer }, pending: () => pending.size }
}

/** Neither ends the process here: an exception that nobody catches, or a rejection. Nothing is left on the server or in this process. */
const onStage = async (thrown: unknown, isAsync: boolean, body: (scene: Scene) => Promise<void>): Promise<void> => {
  const escaped: unknown[] = []
  const note = (error: unknown): void => void escaped.push(error)
  process.on('unhandledRejection', note)
  process.on('uncaughtException', note)
  const url = `memory:hostile-${performance.now()}`
  const witness = await connect({ url, presence: false })
  const clients: Client[] = []
  const { clock, pending } = counting()
  try {
    await body({
      thrown,
      theirs: (): never => {
        if (isAsync) return Promise.reject(thrown) as never
        throw thrown
      },
      async open(options = {}) {
        const client = await connect({ url, clock, ...options })
        clients.push(client)
        return client
      },
    })
    await Promise.all(clients.map((client) => client.close()))
    const keys = await witness.script("return redis.call('KEYS', '*')").run({ returns: 'list' })
    assert.deepEqual(
      keys.filter((key) => !mayStay(String(key))),
      [],
      'a key is left',
    )
    assert.equal(pending(), 0, 'a timer is left')
  } finally {
    await Promise.all([...clients, witness].map((client) => client.close()))
    await sleep(5)
    process.off('unhandledRejection', note)
    process.off('uncaughtException', note)
  }
  assert.equal(escaped.length, 0, `escaped: ${escaped.map(traceOf).join('; ')}`)
}

const NONE = Symbol('nothing was thrown')

type Place = (scene: Scene) => Promise<void>

/** What is told on `error`, which is always an Error with a text that can be shown. */
const toldBy = (client: Client): Error[] => {
  const told: Error[] = []
  client.on('error', (error) => {
    assert.equal(typeof error.message, 'string')
    assert.equal(typeof error.stack, 'string')
    told.push(error)
  })
  return told
}

const isAbout = (error: Error | undefined, thrown: unknown): void =>
  assert.ok(error !== undefined && (error === thrown || Object.is(error.cause, thrown)))

const PLACES: Readonly<Record<string, Place>> = {
  'the work of using': async ({ open, theirs, thrown }) => {
    const client = await open()
    const semaphore = client.semaphore('s')
    await semaphore.trySetPermits(1)
    for (const lock of [
      client.lock('a'),
      client.fairLock('b'),
      client.spinLock('c'),
      client.fencedLock('d'),
      client.readWriteLock('e').write,
      client.readWriteLock('e').read,
      client.multiLock(client.lock('f'), client.lock('h')),
      client.keyedLock('g', ['k']),
    ]) {
      await sameAs(lock.using(theirs), thrown)
      assert.equal(await lock.isLocked(), false)
    }
    await sameAs(semaphore.using(theirs), thrown)
    assert.equal(await semaphore.available(), 1)
    await semaphore.delete()
    await client.script("return redis.call('DEL', KEYS[1])").run({ keys: ['redisson_lock_token:{d}'] })
  },

  'the work of a slot and of a leader': async ({ open, theirs, thrown }) => {
    const client = await open()
    const slots = client.slots('jobs', { retention: 1000 })
    const result = await slots.run('one', theirs)
    assert.ok(result.outcome === 'failed' && Object.is(result.error, thrown))
    const again = await client.slots('jobs').run('one', theirs)
    assert.equal(again.outcome, 'skipped')
    await sameAs(client.election('e').lead(theirs), thrown)
    // Of a term that is over it is told, and the next begins.
    const told = toldBy(client)
    let terms = 0
    const stop = new AbortController()
    await client.election('e').lead({ signal: stop.signal }, async () => {
      if (++terms === 2) {
        stop.abort()
        return undefined
      }
      await client.election('e').resign()
      return theirs()
    })
    assert.equal(terms, 2)
    isAbout(told[0], thrown)
    await wipe(client)
  },

  'listeners of a client and its logger': async ({ open, theirs }) => {
    const logger = { debug: theirs, info: theirs, warn: theirs, error: theirs }
    const client = await open({ logger })
    for (const event of ['error', 'uncertain', 'lost', 'reconnect'] as const) client.on(event, theirs)
    const other = await open()
    const hold = await client.lock('a').acquire()
    assert.equal(await other.lock('a').forceRelease(), true)
    assert.equal(await hold.release(), false)
    assert.equal(await client.lock('a').using(() => 7), 7)
    // Nobody can read it: `error` is told, and its listener throws.
    await client.topic('t').subscribe(() => undefined)
    await other.topic('t', { codec: 'string' }).publish('{')
    await sleep(10)
  },

  'the listener of a topic': async ({ open, theirs, thrown }) => {
    const client = await open()
    const told = toldBy(client)
    const heard: unknown[] = []
    const bad = await client.topic('t').subscribe(theirs)
    bad.on('gap', theirs)
    await client.patternTopic('*').subscribe(theirs)
    await client.topic('t').subscribe((message) => void heard.push(message))
    await client.topic('t').publish(1)
    await until(() => heard.length === 1 && told.length === 2)
    told.forEach((error) => isAbout(error, thrown))
  },

  'a codec': async ({ open, theirs, thrown }) => {
    const codec = { encode: theirs, decode: theirs }
    const client = await open({ codec })
    const told = toldBy(client)
    const heard: unknown[] = []
    await client.topic('t').subscribe((message) => void heard.push(message))
    await client.topic('t', { codec: 'json' }).publish(1)
    await until(() => told.length === 1)
    assert.equal(heard.length, 0)
    assert.doesNotMatch(told[0]?.message ?? '', HIDDEN)
    assert.ok((told[0]?.message.length ?? 0) < 1200)
    const publishing = await outcome(client.topic('t').publish(1))
    const reading = await outcome(client.script("return 'x'", { codec }).run())
    assert.ok('thrown' in publishing && 'thrown' in reading)
    // A promise is refused for what it is.
    if (!Object.is(publishing.thrown, thrown)) assert.ok(publishing.thrown instanceof TypeError)
    // So is the value of a leader that cannot be written, or read.
    assert.ok('thrown' in (await outcome(client.election('e').lead({ value: 1 }, () => undefined))))
  },

  mapName: async ({ open, theirs, thrown }) => {
    let bad = false
    const client = await open({ mapName: (name) => (bad ? theirs() : name) })
    bad = true
    for (const make of [() => client.lock('a'), () => client.semaphore('s'), () => client.topic('t')]) {
      let came: unknown = NONE
      try {
        make()
      } catch (error) {
        came = error
      }
      if (!Object.is(came, thrown)) assert.ok(came instanceof TypeError)
    }
    assert.ok('thrown' in (await outcome(open({ mapName: theirs }))))
    bad = false
  },

  'the reason of a signal': async ({ open, thrown }) => {
    const client = await open()
    const other = await open()
    const hold = await other.lock('a').acquire()
    const fair = await other.fairLock('b').acquire()
    const spin = await other.spinLock('c').acquire()
    const semaphore = client.semaphore('s')
    await semaphore.trySetPermits(0)
    const latch = client.countDownLatch('l')
    await latch.trySetCount(1)
    const calls: ((signal: AbortSignal) => Promise<unknown>)[] = [
      (signal) => client.lock('a').acquire({ signal }),
      (signal) => client.fairLock('b').acquire({ signal, wait: 20_000 }),
      (signal) => client.spinLock('c').using({ signal }, () => 1),
      (signal) => client.multiLock(client.lock('a'), client.lock('z')).acquire({ signal }),
      (signal) => semaphore.acquire({ signal }),
      (signal) => latch.wait({ signal }),
      (signal) => client.topic('t').messages({ signal }).next(),
      (signal) => client.slots('j').run('one', { signal }, () => sleep(50).then(() => signal.throwIfAborted())),
      (signal) => connect({ url: 'redis://127.0.0.1:1', retry: { signal } }),
    ]
    for (const call of calls)
      for (const early of [true, false]) {
        const controller = new AbortController()
        if (early) controller.abort(thrown)
        const calling = outcome(call(controller.signal))
        await sleep(2)
        controller.abort(thrown)
        const came = await calling
        if ('value' in came) assert.equal((came.value as { outcome: string }).outcome, 'failed')
        // Without a reason there is that of the platform.
        else assert.ok(Object.is(came.thrown, controller.signal.reason))
      }
    const stopping = new AbortController()
    const leading = client.election('e').lead({ signal: stopping.signal }, () => sleep(20))
    stopping.abort(thrown)
    assert.equal(await leading, undefined)
    for (const one of [hold, fair, spin]) assert.equal(await one.release(), true)
    await semaphore.delete()
    await latch.delete()
    await wipe(client)
  },

  'a schedule’s work and listeners': async ({ open, theirs }) => {
    const client = await open()
    const warned: Error[] = []
    const note = (warning: Error): void => {
      if (warning.name === 'HoldfastWarning') warned.push(warning)
    }
    process.on('warning', note)
    const plain = await schedule(client, 'work', { cron: '* * * * * *' }, theirs)
    const listening = await schedule(
      client,
      'listeners',
      { cron: '* * * * * *', onResult: theirs, onMissed: theirs, onError: theirs },
      () => 1,
    )
    await until(() => [' failed', 'a listener threw'].every((what) => String(warned).includes(what)), 8000)
    await plain.stop()
    await listening.stop()
    process.off('warning', note)
    for (const { message } of warned)
      for (const line of message.split('\n')) {
        assert.doesNotMatch(line, HIDDEN)
        assert.ok(line.length < 1300)
      }
    await wipe(client)
  },
}

/** Counters and records that stay by design. */
const wipe = async (client: Client): Promise<void> => {
  await client
    .script(
      "for _, key in ipairs(redis.call('KEYS', '*')) do if redis.call('TYPE', key).ok ~= 'none' and not key:find('^holdfast:client') then redis.call('DEL', key) end end",
    )
    .run()
}

void describe('what users’ code throws', { concurrency: 8 }, () => {
  for (const [place, play] of Object.entries(PLACES)) {
    for (const [what, make] of Object.entries(HOSTILE)) {
      // An abort without a reason has one of the platform's.
      for (const isAsync of place.startsWith('the reason') ? [false] : [false, true]) {
        test(`${place}: ${isAsync ? 'rejects with' : 'throws'} ${what} → it comes back as it is, nothing else ends or stays`, () =>
          onStage(make(), isAsync, play))
      }
    }
  }
})

void describe('a client that the caller lends', () => {
  onServer(
    'throws or rejects with anything → an EngineError that can be shown; then it is used again',
    async ({ server, after }) => {
      const lent = new Redis(server.url)
      after(() => lent.quit())
      let how: (() => unknown) | undefined
      for (const method of ['call', 'callBuffer', 'sendCommand'] as const) {
        const real = lent[method].bind(lent) as (...args: unknown[]) => unknown
        Object.assign(lent, { [method]: (...args: unknown[]) => (how === undefined ? real(...args) : how()) })
      }
      const client = await connect({ connection: lent, commandTimeout: 500 })
      const told = toldBy(client)
      for (const [what, make] of Object.entries(HOSTILE)) {
        const thrown = make()
        for (const way of [
          () => Promise.reject(thrown),
          () => {
            throw thrown
          },
        ]) {
          how = way
          const came = await outcome(client.lock('a').acquire({ wait: 0 }))
          how = undefined
          assert.ok('thrown' in came && came.thrown instanceof EngineError, what)
          assert.doesNotMatch(came.thrown.message, HIDDEN)
          assert.ok(came.thrown.message.length < 1300)
          lent.emit('error', thrown)
        }
      }
      await client.lock('a').using(() => undefined)
      await client.close()
      told.forEach(({ message }) => assert.doesNotMatch(message, HIDDEN))
    },
  )
})
