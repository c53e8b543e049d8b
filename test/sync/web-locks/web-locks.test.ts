import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Client, connect, type WebLock, type WebLockInfo, type WebLockMode, type WebLockOptions } from 'holdfast'
import { engines, redisEngine, scenarios, type World } from '../../support/engines.js'

/** A callback that ends when the test says so. */
const gate = () => {
  let open!: (value?: unknown) => void
  let fail!: (error: Error) => void
  let entered!: (lock: WebLock | null) => void
  const until = new Promise<unknown>((resolve, reject) => {
    open = resolve
    fail = reject
  })
  const inside = new Promise<WebLock | null>((resolve) => (entered = resolve))
  const work = (lock: WebLock | null): Promise<unknown> => {
    entered(lock)
    return until
  }
  return { work, open, fail, inside }
}

const named = (name: string) => (error: unknown) => error instanceof DOMException && error.name === name
const modesOf = (infos: readonly WebLockInfo[], name: string): WebLockMode[] =>
  infos.filter((info) => info.name === name).map(({ mode }) => mode)

const nothingHeld = async (w: World, client: Client): Promise<void> => {
  assert.deepEqual(await w.run(client.locks.query()), { held: [], pending: [] })
}

for (const engine of engines) {
  void describe(`web locks, ${engine.name}`, () => {
    const scenario = scenarios(engine)

    scenario('the callback gets the lock, and its value is the result', async (w) => {
      const { locks } = await w.connect()
      const seen = await w.run(locks.request(w.id, ({ name, mode }) => ({ name, mode })))
      assert.deepEqual(seen, { name: w.id, mode: 'exclusive' })
      assert.equal(await w.run(locks.request(w.id, { mode: 'shared' }, async (lock) => lock?.mode)), 'shared')
    })

    scenario('the callback throws or rejects → so does the request, and the lock is free', async (w) => {
      const client = await w.connect()
      const { locks } = client
      const error = new Error('of the work')
      const thrown = locks.request(w.id, () => {
        throw error
      })
      await w.run(assert.rejects(thrown, error))
      await w.run(
        assert.rejects(
          locks.request(w.id, () => Promise.reject(error)),
          error,
        ),
      )
      assert.equal(await w.run(locks.request(w.id, { ifAvailable: true }, (lock) => lock?.name)), w.id)
      await nothingHeld(w, client)
    })

    scenario('one holds it → another client waits; then its callback is called', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const first = gate()
      const holding = one.locks.request(w.id, first.work)
      await w.run(first.inside)
      const order: string[] = []
      const waiting = two.locks.request(w.id, () => void order.push('second'))
      await w.pass(300)
      order.push('first ends')
      first.open()
      await w.run(Promise.all([holding, waiting]))
      assert.deepEqual(order, ['first ends', 'second'])
    })

    scenario('shared locks are held together; an exclusive one waits for all, and those behind it wait', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const [a, b] = [gate(), gate()]
      const order: string[] = []
      const held = [
        one.locks.request(w.id, { mode: 'shared' }, a.work),
        two.locks.request(w.id, { mode: 'shared' }, b.work),
      ]
      await w.run(Promise.all([a.inside, b.inside]))
      const writes = one.locks.request(w.id, () => void order.push('exclusive'))
      const reads = one.locks.request(w.id, { mode: 'shared' }, () => void order.push('shared behind it'))
      await w.pass(300)
      assert.equal(await w.run(two.locks.request(w.id, { mode: 'shared', ifAvailable: true }, (lock) => lock)), null)
      assert.deepEqual(order, [])
      a.open()
      await w.pass(300)
      assert.deepEqual(order, [])
      b.open()
      await w.run(Promise.all([...held, writes, reads]))
      assert.deepEqual(order, ['exclusive', 'shared behind it'])
    })

    scenario('requests of one client are granted in the order of their calls, whatever their modes', async (w) => {
      const { locks } = await w.connect()
      const order: number[] = []
      const modes: WebLockMode[] = ['exclusive', 'shared', 'shared', 'exclusive', 'exclusive', 'shared', 'exclusive']
      const all = modes.map((mode, i) => locks.request(w.id, { mode }, () => void order.push(i)))
      await w.run(Promise.all(all))
      assert.deepEqual([...order.slice(0, 1), ...order.slice(1, 3).sort(), ...order.slice(3)], [0, 1, 2, 3, 4, 5, 6])
    })

    scenario('a request for its own lock inside the callback is granted after it', async (w) => {
      const { locks } = await w.connect()
      const order: string[] = []
      let inner: Promise<unknown> | undefined
      await w.run(
        locks.request(w.id, () => {
          inner = locks.request(w.id, () => void order.push('inner'))
          order.push('outer')
        }),
      )
      await w.run(inner!)
      assert.deepEqual(order, ['outer', 'inner'])
    })

    scenario('ifAvailable: null if another holds it or is ahead, else the lock', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const first = gate()
      const holding = one.locks.request(w.id, { mode: 'shared' }, first.work)
      await w.run(first.inside)
      const ask = (client: Client, options: WebLockOptions) =>
        w.run(client.locks.request(w.id, { ifAvailable: true, ...options }, (lock) => lock?.mode ?? null))
      assert.equal(await ask(two, {}), null)
      assert.equal(await ask(one, {}), null)
      assert.equal(await ask(two, { mode: 'shared' }), 'shared')
      assert.equal(await ask(one, { mode: 'shared' }), 'shared')
      first.open()
      await w.run(holding)
      assert.equal(await ask(two, {}), 'exclusive')
      const ahead = one.locks.request(w.id, { mode: 'shared' }, () => 1)
      assert.equal(await ask(one, { mode: 'shared' }), 'shared')
      await w.run(ahead)
    })

    scenario(
      'a signal that aborts while the request waits ends it with its reason; later it does nothing',
      async (w) => {
        const client = await w.connect()
        const { locks } = client
        const first = gate()
        const stop = new AbortController()
        const holding = locks.request(w.id, { signal: stop.signal }, first.work)
        await w.run(first.inside)
        const reason = new Error('no longer wanted')
        const [sent, unsent] = [new AbortController(), new AbortController()]
        const waiting = [sent, unsent].map(({ signal }) =>
          assert.rejects(
            locks.request(w.id, { signal }, () => assert.fail()),
            reason,
          ),
        )
        await w.pass(100)
        unsent.abort(reason)
        sent.abort(reason)
        stop.abort(new Error('too late'))
        await w.run(Promise.all(waiting))
        const aborted = locks.request(w.id, { signal: AbortSignal.abort() }, () => assert.fail())
        await w.run(assert.rejects(aborted, named('AbortError')))
        first.open('value')
        assert.equal(await w.run(holding), 'value')
        await nothingHeld(w, client)
      },
    )

    for (const mode of ['exclusive', 'shared'] as const)
      scenario(`steal: a ${mode} holder is told, the thief comes before those who wait`, async (w) => {
        const [one, two] = [await w.connect({ watchdog: 1500 }), await w.connect()]
        const first = gate()
        const order: string[] = []
        const holding = one.locks.request(w.id, { mode }, first.work)
        const lock = (await w.run(first.inside)) as WebLock
        const robbed = assert.rejects(holding, named('AbortError'))
        const waiting = two.locks.request(w.id, () => void order.push('waiter'))
        await w.pass(300)
        const thief = gate()
        const stealing = two.locks.request(w.id, { steal: true }, thief.work)
        assert.equal((await w.run(thief.inside))?.mode, 'exclusive')
        await w.run(robbed)
        assert.ok(lock.signal.aborted)
        order.push('thief ends')
        thief.open()
        await w.run(Promise.all([stealing, waiting]))
        assert.deepEqual(order, ['thief ends', 'waiter'])
        first.open()
      })

    scenario('another client steals, and the work here ends before it is noticed → an AbortError', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const [first, thief] = [gate(), gate()]
      const robbed = assert.rejects(one.locks.request(w.id, first.work), named('AbortError'))
      await w.run(first.inside)
      const stealing = two.locks.request(w.id, { steal: true }, thief.work)
      await w.run(thief.inside)
      first.open()
      await w.run(robbed)
      thief.open()
      await w.run(stealing)
    })

    scenario('a shared request and a steal at once → the reader is told at once', async (w) => {
      const { locks } = await w.connect()
      const [reader, thief] = [gate(), gate()]
      const robbed = assert.rejects(locks.request(w.id, { mode: 'shared' }, reader.work), named('AbortError'))
      const stealing = locks.request(w.id, { steal: true }, thief.work)
      await w.run(thief.inside)
      await w.run(Promise.race([robbed, w.pass(500).then(() => assert.fail('the reader goes on'))]))
      thief.open()
      await w.run(stealing)
      reader.open()
    })

    scenario('steal in one client: the holders here are told at once, and their own end does no harm', async (w) => {
      const client = await w.connect()
      const { locks } = client
      const [a, b, thief] = [gate(), gate(), gate()]
      const told: string[] = []
      const robbed = [a, b].map(({ work }, i) =>
        assert
          .rejects(locks.request(w.id, { mode: 'shared' }, work), named('AbortError'))
          .then(() => told.push(`${i}`)),
      )
      await w.run(Promise.all([a.inside, b.inside]))
      const stealing = locks.request(w.id, { steal: true }, thief.work)
      await w.run(thief.inside)
      await w.run(Promise.all(robbed))
      assert.deepEqual(told.sort(), ['0', '1'])
      a.open()
      b.fail(new Error('ignored'))
      await w.pass(200)
      assert.deepEqual(modesOf((await w.run(locks.query())).held, w.id), ['exclusive'])
      const second = gate()
      const stolen = assert.rejects(stealing, named('AbortError'))
      const again = locks.request(w.id, { steal: true }, second.work)
      await w.run(second.inside)
      await w.run(stolen)
      second.open('mine')
      assert.equal(await w.run(again), 'mine')
      thief.open()
      await nothingHeld(w, client)
    })

    scenario('steal of a lock that nobody holds is an ordinary request', async (w) => {
      const { locks } = await w.connect()
      assert.equal(await w.run(locks.request(w.id, { steal: true }, (lock) => lock?.name)), w.id)
    })

    scenario('query shows what is held and what waits, in order, with the clients', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const first = gate()
      const running = [one.locks.request(w.id, { mode: 'shared' }, first.work)]
      await w.run(first.inside)
      running.push(two.locks.request(w.id, () => 1))
      await w.pass(200)
      running.push(two.locks.request(w.id, { mode: 'shared' }, () => 1))
      const seen = await w.run(two.locks.query())
      assert.deepEqual(seen, {
        held: [{ name: w.id, mode: 'shared', clientId: one.id }],
        pending: [
          { name: w.id, mode: 'exclusive', clientId: two.id },
          { name: w.id, mode: 'shared', clientId: two.id },
        ],
      })
      const third = await w.connect()
      const { held, pending } = await w.run(third.locks.query())
      assert.deepEqual([held, pending], [[], []])
      await w.pass(4000)
      const later = await w.run(third.locks.query())
      assert.deepEqual(later, { held: seen.held, pending: seen.pending.slice(0, 1) })
      first.open()
      await w.run(Promise.all(running))
      await nothingHeld(w, two)
    })

    scenario('the client is closed → what it holds and waits for rejects, with a ClosedError', async (w) => {
      const client = await w.connect()
      const first = gate()
      const all = [first.work, () => 1, () => 1].map((work) =>
        assert.rejects(client.locks.request<unknown>(w.id, work), { code: 'CLOSED' }),
      )
      await w.run(first.inside)
      await w.run(client.close())
      await w.run(Promise.all(all))
      await w.run(
        assert.rejects(
          client.locks.request(w.id, { steal: true }, () => 1),
          { code: 'CLOSED' },
        ),
      )
      first.open()
    })

    scenario('another kind of lock has the key → steal touches nothing', async (w) => {
      const client = await w.connect()
      const hold = await w.run(client.lock(w.id).acquire())
      await w.run(
        assert.rejects(
          client.locks.request(w.id, { steal: true }, () => assert.fail()),
          { code: 'WRONG_KIND' },
        ),
      )
      assert.equal(await w.run(hold.release()), true)
    })

    scenario('client.readWriteLock of the same name is the same lock', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const hold = await w.run(one.readWriteLock(w.id, { fair: true }).read.acquire())
      const modes = { shared: 'shared', exclusive: null } as const
      for (const [mode, got] of Object.entries(modes) as [WebLockMode, string | null][])
        assert.equal(
          await w.run(two.locks.request(w.id, { mode, ifAvailable: true }, (lock) => lock?.mode ?? null)),
          got,
        )
      await w.run(hold.release())
    })
  })
}

/** `undefined`: a TypeError. */
const WRONG: readonly [what: string, error: string | undefined, ...args: unknown[]][] = [
  ['no arguments', undefined],
  ['no callback', undefined, 'a'],
  ['only options', undefined, 'a', {}],
  ['a callback that is none', undefined, 'a', {}, 'b'],
  ['an empty name', undefined, '', () => 1],
  ['another mode', undefined, 'a', { mode: 'foo' }, () => 1],
  ['a mode of null', undefined, 'a', { mode: null }, () => 1],
  ['a signal that is none', undefined, 'a', { signal: {} }, () => 1],
  ['a misspelt option', undefined, 'a', { ifavailable: true }, () => 1],
  ['a name that begins with -', 'NotSupportedError', '-a', () => 1],
  ['only -', 'NotSupportedError', '-', () => 1],
  ['steal and ifAvailable', 'NotSupportedError', 'a', { steal: true, ifAvailable: true }, () => 1],
  ['steal and shared', 'NotSupportedError', 'a', { steal: true, mode: 'shared' }, () => 1],
  ['signal and steal', 'NotSupportedError', 'a', { signal: new AbortController().signal, steal: true }, () => 1],
  ['signal and ifAvailable', 'NotSupportedError', 'a', { signal: AbortSignal.abort(), ifAvailable: true }, () => 1],
]

void test('wrong arguments reject as the specification says, and never throw', async () => {
  await using client = await connect('memory:web-locks-wrong')
  const { locks } = client
  const request = locks.request.bind(locks) as (...args: unknown[]) => Promise<unknown>
  for (const [what, name, ...args] of WRONG) {
    const asked = request(...args)
    await assert.rejects(asked, name === undefined ? TypeError : named(name), what)
  }
  for (const options of [null, undefined, {}, { mode: undefined, signal: undefined, steal: false }])
    assert.equal(await locks.request('a', options, (lock) => lock?.mode), 'exclusive')
})

void describe('web locks of several processes', () => {
  const scenario = scenarios(redisEngine)
  scenario('200 requests of both modes from four clients → a writer is always alone', async (w) => {
    const clients = await Promise.all([0, 1, 2, 3].map(() => w.connect()))
    const now = { shared: 0, exclusive: 0 }
    let most = 0
    let rounds = 0
    const visit = (client: Client, mode: WebLockMode) =>
      client.locks.request(w.id, { mode }, async () => {
        now[mode]++
        assert.ok(now.exclusive === 0 || (now.exclusive === 1 && now.shared === 0), JSON.stringify(now))
        most = Math.max(most, now.shared)
        await w.pause(1)
        now[mode]--
        rounds++
      })
    const all = Array.from({ length: 200 }, (_, i) => visit(clients[i % 4]!, i % 5 === 0 ? 'exclusive' : 'shared'))
    await w.run(Promise.all(all))
    assert.equal(rounds, 200)
    assert.ok(most > 1, 'readers together')
  })
})
