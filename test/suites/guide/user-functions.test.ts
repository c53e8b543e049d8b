import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AcquireOptions, connect, type Hold, type Lock } from 'holdfast'
import { rejection } from '../contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { mayStay } from '../../support/leftovers.js'
import { until } from '../../support/until.js'

/** What a function of the user's may do, where nothing of it is wanted. */
const WAYS: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('theirs')
  },
  rejects: () => Promise.reject(new Error('theirs')),
  'never settles': () => new Promise(() => undefined),
  'answers nonsense': () => ({ length: -1 }),
  'answers a thenable that throws': () => ({
    get then(): never {
      throw new Error('theirs')
    },
  }),
}

/** Fails when a rejection is handled by nobody, or a key is left. */
const onEmbedded = async (
  body: (open: (options?: Partial<Options>) => Promise<Client>) => Promise<void>,
): Promise<void> => {
  const unhandled: unknown[] = []
  const note = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  const url = `memory:theirs-${performance.now()}`
  const witness = await connect({ url, presence: false })
  const clients: Client[] = []
  try {
    await body(async (options = {}) => {
      const client = await connect({ url, ...options })
      clients.push(client)
      return client
    })
    await Promise.all(clients.map((client) => client.close()))
    const keys = await witness.script("return redis.call('KEYS', '*')").run({ returns: 'list' })
    assert.deepEqual(
      keys.filter((key) => !mayStay(String(key))),
      [],
      'a key is left',
    )
  } finally {
    await Promise.all([...clients, witness].map((client) => client.close()))
    await sleep(10)
    process.off('unhandledRejection', note)
  }
  assert.deepEqual(unhandled, [])
}

void describe('a function of the user’s', { concurrency: 4 }, () => {
  for (const [way, theirs] of Object.entries(WAYS)) {
    const asListener: () => void = theirs

    test(`a listener or a logger that ${way} → what is held stays held, who waits goes on, nothing is left`, () =>
      onEmbedded(async (open) => {
        const logger = { debug: asListener, info: asListener, warn: asListener, error: asListener }
        const one = await open({ logger, watchdog: 3000 })
        for (const event of ['error', 'uncertain', 'lost', 'reconnect'] as const) one.on(event, asListener)
        const other = await open()
        for (const make of [
          (client: Client) => client.lock('a'),
          (client: Client) => client.fairLock('b'),
          (client: Client) => client.readWriteLock('c').write,
        ]) {
          const hold = await make(one).acquire()
          const waiting = make(one).acquire({ wait: 20_000 })
          waiting.catch(() => undefined)
          await sleep(50)
          assert.equal(hold.lost, false)
          assert.equal(await make(other).forceRelease(), true)
          const next = await waiting
          await until(() => hold.lost)
          assert.equal(await hold.release(), false)
          assert.equal(await next.release(), true)
          assert.equal(await make(one).using(() => 7), 7)
        }
      }))

    test(`a topic’s listener that ${way} → the others get the message, and unsubscribing ends it`, () =>
      onEmbedded(async (open) => {
        const client = await open()
        const told: Error[] = []
        client.on('error', (error) => told.push(error))
        const heard: unknown[] = []
        const bad = await client.topic('t').subscribe(asListener)
        bad.on('gap', asListener)
        await client.topic('t').subscribe((message) => void heard.push(message))
        await client.topic('t').publish(1)
        await until(() => heard.length === 1)
        await sleep(5)
        assert.deepEqual(
          told.map(({ message }) => message),
          /throws|rejects/.test(way) ? ['theirs'] : [],
        )
        await bad.unsubscribe()
      }))

    test(`a codec that ${way} → the publisher’s call rejects, and a message that cannot be read is told once`, () =>
      onEmbedded(async (open) => {
        const told: Error[] = []
        const encode = theirs as () => string
        const decode = theirs
        const client = await open({ codec: { encode, decode } })
        client.on('error', (error) => told.push(error))
        assert.ok((await rejection(client.topic('t').publish(1))) instanceof Error)
        const heard: unknown[] = []
        await client.topic('t').subscribe((message) => void heard.push(message))
        await client.topic('t', { codec: 'json' }).publish(1)
        const isValue = way === 'answers nonsense'
        await until(() => heard.length + told.length === 1)
        assert.equal(heard.length, isValue ? 1 : 0)
        const script = client.script('return ARGV[1]', { codec: { encode, decode } })
        assert.ok((await rejection(script.run({ args: [1] }))) instanceof Error)
        const reading = client.script("return 'x'", { codec: { encode, decode } }).run()
        const read = await reading.then(
          () => 'a value',
          () => 'an error',
        )
        assert.equal(read, isValue ? 'a value' : 'an error')
      }))

    test(`work of using that ${way} → released whatever it does, as soon as it has ended`, () =>
      onEmbedded(async (open) => {
        const client = await open()
        const other = await open()
        if (way === 'never settles') {
          const working = rejection(client.lock('a').using(theirs))
          await until(() => other.lock('a').isLocked())
          await client.close()
          assert.ok((await Promise.race([working, sleep(500, 'pending')])) !== undefined)
          return
        }
        for (const lock of [client.lock('a'), client.fairLock('b'), client.multiLock(client.lock('c'))]) {
          const outcome = await lock.using(theirs).then(
            () => 'done',
            (error: unknown) => (error as Error).message,
          )
          assert.equal(outcome, /throws|rejects/.test(way) ? 'theirs' : 'done')
          assert.equal(await lock.isLocked(), false)
        }
      }))
  }
})

/** How somebody else comes to have it, and a call for it. */
type Call = readonly [occupy: () => Promise<() => Promise<unknown>>, call: (signal: AbortSignal) => Promise<unknown>]

/** A signal of a class of the user's, of which one part does not work. */
const broken = (part: 'addEventListener' | 'removeEventListener' | 'reason' | 'aborted'): AbortController => {
  const controller = new AbortController()
  const fail = (): never => {
    throw new Error('theirs')
  }
  const method = part === 'addEventListener' || part === 'removeEventListener'
  Object.defineProperty(controller.signal, part, method ? { value: fail } : { get: fail })
  return controller
}

void describe('a signal of a class of the user’s', { concurrency: 4 }, () => {
  for (const part of ['addEventListener', 'removeEventListener', 'reason', 'aborted'] as const) {
    for (const aborts of [false, true]) {
      const how = `whose ${part} throws, and which ${aborts ? 'aborts' : 'does not abort'}`
      test(`${how} → the call has it or rejects, nobody else waits for it, nothing is left`, () =>
        onEmbedded(async (open) => {
          const [client, other] = [await open({ watchdog: 900 }), await open()]
          const semaphore = client.semaphore('s')
          await semaphore.trySetPermits(1)
          const give = async (had: unknown): Promise<void> => {
            if (had instanceof Error || had === undefined) return
            if (had === true) await semaphore.release()
            else assert.equal(await (had as Hold).release(), true)
          }
          const locksOf = (of: Client) => [
            of.lock('a'),
            of.fairLock('b'),
            of.spinLock('c'),
            of.readWriteLock('d').write,
          ]
          const rivals = locksOf(other)
          const calls: readonly Call[] = [
            ...locksOf(client).map((lock, i): Call => [
              async () => {
                const hold = await rivals[i]?.acquire()
                return async () => hold?.release()
              },
              (signal) => lock.acquire({ signal, wait: 20_000 }),
            ]),
            [
              async () => {
                await other.semaphore('s').acquire()
                return () => other.semaphore('s').release()
              },
              (signal) => semaphore.acquire({ signal, wait: 20_000 }).then(() => true),
            ],
          ]
          for (const [occupy, call] of calls) {
            const free = await occupy()
            const controller = broken(part)
            const calling = call(controller.signal).catch((error: unknown) =>
              error instanceof Error ? error : new Error(String(error)),
            )
            await sleep(30)
            if (aborts) controller.abort(new Error('left'))
            await sleep(80)
            await free()
            const had = await calling
            if (part === 'addEventListener') assert.match(String(had), /theirs/)
            // Who asks the signal itself does not see what a getter in front of it says.
            else if (part === 'aborted') assert.ok(had instanceof Error ? /theirs|left/.test(had.message) : !aborts)
            else if (aborts) assert.match(String(had), /theirs|left/)
            else assert.ok(!(had instanceof Error), String(had))
            await give(had)
          }
          await sleep(400)
          for (const lock of rivals) assert.equal(await (await lock.acquire({ wait: 2000 })).release(), true)
          assert.equal(await other.semaphore('s').available(), 1)
          await semaphore.delete()
        }))
    }
  }

  for (const [how, reject] of [
    ['are async and reject', () => Promise.reject(new Error('theirs'))],
    [
      'answer with something like a promise, which rejects',
      () => ({ then: (_: unknown, no: (e: Error) => void) => no(new Error('theirs')) }),
    ],
  ] as const)
    test(`whose methods ${how} → no rejection is left unhandled`, () =>
      onEmbedded(async (open) => {
        const unhandled: unknown[] = []
        const note = (error: unknown): number => unhandled.push(error)
        process.on('unhandledRejection', note)
        try {
          const [client, other] = [await open(), await open()]
          const hold = await other.lock('a').acquire()
          const { signal } = new AbortController()
          for (const method of ['addEventListener', 'removeEventListener'])
            Object.defineProperty(signal, method, { value: reject })
          const calling = client.lock('a').acquire({ signal, wait: 20_000 })
          await sleep(50)
          await hold.release()
          assert.equal(await (await calling).release(), true)
          await sleep(50)
          assert.deepEqual(unhandled, [])
        } finally {
          process.off('unhandledRejection', note)
        }
      }))

  test('whose aborted throws when it aborts → the loops end with what was thrown, and nothing else does', () =>
    onEmbedded(async (open) => {
      const client = await open()
      const loops: ((signal: AbortSignal) => AsyncIterator<unknown>)[] = [
        (signal) => client.topic('t').messages({ signal }),
        (signal) => client.election('e').observe({ signal }),
      ]
      for (const make of loops) {
        const controller = broken('aborted')
        const loop = make(controller.signal)
        const first = loop.next()
        await sleep(20)
        // An observer says at once that nobody leads.
        const next = rejection(make === loops[1] ? first.then(() => loop.next()) : first)
        await sleep(5)
        controller.abort(new Error('left'))
        assert.match(String(await Promise.race([next, sleep(2000)])), /theirs/)
      }
    }))

  test('whose aborted throws when it is read again → what several locks, or a slot, took for the call is given back', () =>
    onEmbedded(async (open) => {
      const client = await open()
      const slots = client.slots('j')
      const both = client.multiLock(client.lock('a'), client.lock('b'))
      const most = client.redLock(client.lock('c'), client.lock('d'))
      for (let before = 0; before < 6; before++) {
        let reads = 0
        const throwsLater = (): AbortSignal => {
          reads = 0
          const { signal } = new AbortController()
          const get = (): boolean => {
            if (reads++ >= before) throw new Error('theirs')
            return false
          }
          return Object.defineProperty(signal, 'aborted', { get })
        }
        for (const lock of [both, most]) {
          const had = await lock.acquire({ signal: throwsLater() }).catch((error: unknown) => error)
          if (had instanceof Error) assert.match(had.message, /theirs/)
          else await (had as Hold).release()
          assert.equal(await lock.isLocked(), false, `after ${before} reads`)
        }
        const slot = `slot ${before}`
        await slots.run(slot, { signal: throwsLater() }, () => 5).catch((error: unknown) => error)
        await until(async () => (await slots.inspect(slot))?.state !== 'running', 1000)
      }
      await wipe(client)
    }))
})

type Release = (done: Promise<boolean>) => Promise<boolean>

/** A lock of the user's in front of one of ours, whose holds cannot be given back. */
const unreleased = (lock: Lock, release: Release): Lock =>
  new Proxy(lock, {
    get: (target, part) => {
      const found: unknown = Reflect.get(target, part)
      if (typeof found !== 'function') return found
      if (part !== 'tryAcquire') return found.bind(target) as unknown
      return async (options?: AcquireOptions) => {
        const hold = await target.tryAcquire(options)
        if (hold === undefined) return undefined
        return new Proxy(hold, {
          get: (of, what) => {
            const value: unknown = Reflect.get(of, what)
            if (what !== 'release') return typeof value === 'function' ? (value.bind(of) as unknown) : value
            return () => release(of.release())
          },
        })
      }
    },
  })

void describe('a lock of the user’s', { concurrency: 4 }, () => {
  const ways: Readonly<Record<string, Release>> = {
    rejects: async (done) => {
      await done
      throw new Error('theirs')
    },
    throws: () => {
      throw new Error('theirs')
    },
  }
  for (const [way, release] of Object.entries(ways))
    test(`whose release ${way}, among several → the others are given back, and nothing ends the process`, () =>
      onEmbedded(async (open) => {
        const [client, other] = [await open(), await open()]
        const told: Error[] = []
        client.on('error', (error) => void told.push(error))
        for (const make of [
          (...locks: Lock[]) => client.multiLock(...locks),
          (...locks: Lock[]) => client.redLock(...locks),
        ]) {
          const names = ['a', 'b', 'c']
          const [a, b, c] = names.map((name) => client.lock(name)) as [Lock, Lock, Lock]
          const lock = make(unreleased(a, release), unreleased(b, release), c)
          const free = async (): Promise<void> =>
            until(async () => {
              const taken = await Promise.all(names.map((name) => other.lock(name).isLocked()))
              return !taken.includes(true)
            }, 3000)
          await (await lock.acquire()).release()
          await free()
          const rivals = [await other.lock('b').acquire(), await other.lock('c').acquire()]
          assert.equal(await lock.tryAcquire(), undefined)
          for (const rival of rivals) await rival.release()
          await free()
        }
        assert.ok(told.length > 0 && told.every(({ message }) => message === 'theirs'), String(told))
      }))
})

/** Records that stay by design. */
const wipe = async (client: Client): Promise<void> => {
  const records = "for _, key in ipairs(redis.call('KEYS', '*:slot*')) do redis.call('DEL', key) end"
  await client.script(records).run()
}
