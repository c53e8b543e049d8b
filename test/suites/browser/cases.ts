import {
  AcquireTimeoutError,
  type Client,
  type ClientOptions,
  ClosedError,
  ConfigError,
  connect,
  DeadlockError,
  LockLostError,
} from 'holdfast'

/**
 * What the library promises, on `memory:`, without anything of Node: the same cases run in Node and in a browser. Those that share
 * a server play several processes.
 */

const same = (one: unknown, other: unknown): void => {
  const [a, b] = [one, other].map((value) =>
    JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? `${inner}n` : inner)),
  )
  if (a !== b) throw new Error(`${a} is not ${b}`)
}

const holds = (condition: boolean, what: string): void => {
  if (!condition) throw new Error(`not so: ${what}`)
}

type Class = new (...args: never[]) => Error

const rejects = async (promise: Promise<unknown>, by: Class, text = /(?:)/): Promise<void> => {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  holds(error instanceof by && text.test(error.message), `rejects with ${by.name}, not ${String(error)}`)
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms))

const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  for (const end = performance.now() + 10_000; !(await condition()); await pause(5))
    holds(performance.now() < end, 'within 10 s')
}

let servers = 0

/** A case for as many clients of one server. */
const clients =
  (count: number, body: (...clients: Client[]) => Promise<void>, options: ClientOptions = {}) =>
  async (): Promise<void> => {
    const url = `memory:case-${++servers}`
    const all = await Promise.all(Array.from({ length: count }, () => connect({ url, ...options })))
    try {
      await body(...all)
    } finally {
      await Promise.all(all.map((client) => client.close()))
    }
  }
const one = (body: (client: Client) => Promise<void>, options?: ClientOptions) =>
  clients(1, (client) => body(client), options)
const two = (body: (a: Client, b: Client) => Promise<void>, options?: ClientOptions) =>
  clients(2, (a, b) => body(a, b), options)

export const cases: Readonly<Record<string, () => Promise<void>>> = {
  'a lock is acquired and released': one(async (client) => {
    const hold = await client.lock('a').acquire()
    same([hold.state, await client.lock('a').isLocked()], ['held', true])
    same([await hold.release(), await client.lock('a').isLocked()], [true, false])
  }),
  'a held lock is refused to another client': two(async (a, b) => {
    await a.lock('a').acquire()
    same(await b.lock('a').tryAcquire(), undefined)
  }),
  'a lock moves to a waiter of another client': two(async (a, b) => {
    const hold = await a.lock('a').acquire()
    const waiting = b.lock('a').acquire()
    await until(async () => (await a.lock('a').inspect()).waiting.length === 1)
    const began = performance.now()
    await hold.release()
    const next = await waiting
    // Faster than the poll of each second: by a message.
    holds(performance.now() - began < 700, 'woken by a message')
    await next.release()
  }),
  'a wait times out': two(async (a, b) => {
    await a.lock('a').acquire()
    await rejects(b.lock('a').acquire({ wait: 20 }), AcquireTimeoutError)
    same(await b.lock('a').tryAcquire({ wait: 20 }), undefined)
  }),
  'a signal ends a wait': two(async (a, b) => {
    await a.lock('a').acquire()
    const stop = new AbortController()
    const waiting = b.lock('a').acquire({ signal: stop.signal })
    stop.abort(new RangeError('enough'))
    await rejects(waiting, RangeError, /enough/)
  }),
  'using releases after the work, and after an error': one(async (client) => {
    const lock = client.lock('a')
    same(await lock.using(async (hold) => `${hold.state} ${String(await lock.isLocked())}`), 'held true')
    await rejects(
      lock.using(() => Promise.reject(new RangeError('mine'))),
      RangeError,
      /mine/,
    )
    same(await lock.isLocked(), false)
  }),
  'twenty calls of using never overlap': two(async (a, b) => {
    let [inside, most, runs] = [0, 0, 0]
    const work = async (): Promise<void> => {
      most = Math.max(most, ++inside)
      await pause(1)
      inside--
      runs++
    }
    await Promise.all(Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? a : b).lock('a').using(work)))
    same([most, runs], [1, 20])
  }),
  'an owner holds a lock twice': one(async (client) => {
    const owner = client.owner('job')
    const [first, second] = [await client.lock('a').acquire({ owner }), await client.lock('a').acquire({ owner })]
    await first.release()
    same(await client.lock('a').isLocked(), true)
    await second.release()
    same(await client.lock('a').isLocked(), false)
  }),
  'using inside using, before the first await, is the same owner': one(async (client) => {
    const lock = client.lock('a')
    same(await lock.using(() => lock.using({ wait: 500 }, () => 'inside')), 'inside')
  }),
  'using inside using, after an await, with the owner': one(async (client) => {
    const lock = client.lock('a')
    const inside = await lock.using(async ({ owner }) => {
      await pause(1)
      return lock.using({ owner, wait: 500 }, async () => {
        await pause(1)
        return 'inside'
      })
    })
    same([inside, await lock.isLocked()], ['inside', false])
  }),
  'calls beside a using are other owners': one(async (client) => {
    const lock = client.lock('a')
    await lock.using(() => pause(1))
    const held = lock.using(() => pause(100))
    await pause(20)
    const beside = await lock.tryAcquire()
    await held
    same(beside, undefined)
  }),
  'a non-reentrant lock refuses its own owner': one(async (client) => {
    const owner = client.owner()
    await client.nonReentrantLock('a').acquire({ owner })
    await rejects(client.nonReentrantLock('a').acquire({ owner }), Error, /not reentrant/)
  }),
  'the watchdog renews a lease': one(
    async (client) => {
      const hold = await client.lock('a').acquire()
      let least = Infinity
      await until(async () => {
        const left = (await client.lock('a').remaining()) ?? NaN
        least = Math.min(least, left)
        return left > least + 1000
      })
      same(hold.state, 'held')
    },
    { watchdog: 6000 },
  ),
  'a lease without renewal ends, and its signal aborts': one(async (client) => {
    const hold = await client.lock('a').acquire({ lease: 200, renew: false })
    await until(() => hold.lost)
    holds(hold.signal.aborted && hold.signal.reason instanceof LockLostError, 'aborted')
    await until(async () => !(await client.lock('a').isLocked()))
  }),
  'a release by force is noticed': two(
    async (a, b) => {
      const hold = await a.lock('a').acquire()
      same(await b.lock('a').forceRelease(), true)
      await until(() => hold.lost)
    },
    { watchdog: 6000 },
  ),
  'using rejects if its lock is lost': two(
    async (a, b) => {
      const running = a.lock('a').using((hold) => until(() => hold.signal.aborted))
      await until(() => b.lock('a').isLocked())
      await b.lock('a').forceRelease()
      await rejects(running, LockLostError)
    },
    { watchdog: 6000 },
  ),
  'the next client goes on after a dead one': two(async (a, b) => {
    await a.lock('a').acquire({ lease: 300, renew: false })
    const began = performance.now()
    await b.lock('a').acquire()
    holds(performance.now() - began > 200, 'after the lease')
  }),
  'extend sets a longer lease': one(async (client) => {
    const hold = await client.lock('a').acquire({ lease: 1000, renew: false })
    await hold.extend(20_000)
    holds(((await client.lock('a').remaining()) ?? 0) > 10_000, 'extended')
  }),
  'a hold is detached and adopted': two(async (a, b) => {
    const ticket = await (await a.lock('ä lock').acquire({ lease: 10_000 })).detach()
    const hold = await b.adopt(ticket)
    same([hold.name, await hold.release()], ['ä lock', true])
  }),
  'a changed ticket is refused': one(async (client) => {
    const ticket = await (await client.lock('a').acquire({ lease: 10_000 })).detach()
    await rejects(client.adopt(`${ticket.slice(0, -2)}!!`), Error, /ticket/)
  }),
  'a fair lock is first come, first served': two(async (a, b) => {
    const order: number[] = []
    const first = await a.fairLock('a').acquire()
    const rest = [b, a, b, a].map(async (client, i) => {
      await pause(60 * i)
      await client.fairLock('a').using(() => void order.push(i))
    })
    await pause(400)
    await first.release()
    await Promise.all(rest)
    same(order, [0, 1, 2, 3])
  }),
  'readers share, a writer does not': two(async (a, b) => {
    const { read, write } = a.readWriteLock('a')
    const reading = [await read.acquire(), await b.readWriteLock('a').read.acquire()]
    same(await write.tryAcquire(), undefined)
    for (const hold of reading) await hold.release()
    holds((await write.tryAcquire()) !== undefined, 'free for a writer')
  }),
  'tokens of a fenced lock grow': two(async (a, b) => {
    const first = await a.fencedLock('a').acquire()
    await first.release()
    const second = await b.fencedLock('a').acquire()
    same([first.token, second.token], [1n, 2n])
  }),
  'a multi-lock is all or nothing': two(async (a, b) => {
    const other = await b.lock('y').acquire()
    const both = a.multiLock(a.lock('x'), a.lock('y'))
    same([await both.tryAcquire(), await a.lock('x').isLocked()], [undefined, false])
    await other.release()
    same((await both.acquire()).members.length, 2)
  }),
  'a red lock needs a majority': one(async (client) => {
    const locks = ['x', 'y', 'z'].map((name) => client.lock(name))
    holds((await client.redLock(...locks).tryAcquire()) !== undefined, 'acquired')
  }),
  'a keyed lock excludes only its keys': two(async (a, b) => {
    const hold = await a.keyedLock('g', ['x', 'y']).acquire()
    same(await b.keyedLock('g', ['y', 'z']).tryAcquire(), undefined)
    holds((await b.keyedLock('g', ['z']).tryAcquire()) !== undefined, 'another key is free')
    await hold.release()
  }),
  'a spin lock is a plain lock': two(async (a, b) => {
    const hold = await a.spinLock('a').acquire()
    same(await b.lock('a').tryAcquire(), undefined)
    await hold.release()
  }),
  'a semaphore counts': two(async (a, b) => {
    await a.semaphore('s').trySetPermits(2)
    same([await a.semaphore('s').tryAcquire(), await b.semaphore('s').tryAcquire({ permits: 2 })], [true, false])
    await a.semaphore('s').release()
    same(await b.semaphore('s').available(), 2)
  }),
  'a waiter gets a released permit': two(async (a, b) => {
    await a.semaphore('s').trySetPermits(1)
    await a.semaphore('s').acquire()
    const waiting = b.semaphore('s').acquire()
    await pause(50)
    await a.semaphore('s').release()
    await waiting
    same(await a.semaphore('s').available(), 0)
  }),
  'a permit has an id and a lease': two(async (a, b) => {
    await a.permitSemaphore('s').trySetPermits(1)
    const permit = await a.permitSemaphore('s').acquire({ lease: 300, renew: false })
    holds(/^[0-9a-f]{32}$/.test(permit.id), permit.id)
    const next = await b.permitSemaphore('s').acquire()
    same([permit.lost, await next.release()], [true, true])
  }),
  'a rate limiter refuses what is too much': two(async (a, b) => {
    await a.rateLimiter('r').trySetRate({ permits: 2, interval: 60_000 })
    const taken = [a, b, a].map((client) => client.rateLimiter('r').tryAcquire())
    const decisions = await Promise.all(taken)
    same(
      decisions.map(({ allowed }) => allowed),
      [true, true, false],
    )
    holds((decisions[2]?.retryAfter ?? 0) > 50_000, 'it says when')
  }),
  'a rate limiter lets the next one in': one(async (client) => {
    const limiter = client.rateLimiter('r')
    await limiter.trySetRate({ permits: 1, interval: 200 })
    await limiter.acquire()
    await limiter.acquire({ wait: 5000 })
  }),
  'a latch opens': two(async (a, b) => {
    await a.countDownLatch('l').trySetCount(2)
    const waiting = b.countDownLatch('l').wait()
    await a.countDownLatch('l').countDown()
    await b.countDownLatch('l').countDown()
    same(await waiting, true)
  }),
  'an election has one leader, and then the next': two(async (a, b) => {
    const terms: bigint[] = []
    await Promise.all([a, b].map((client) => client.election('e').lead(({ term }) => void terms.push(term))))
    same(terms, [1n, 2n])
  }),
  'a flight runs once': two(async (a, b) => {
    let runs = 0
    const work = async (): Promise<string> => {
      runs++
      await pause(50)
      return 'värde'
    }
    const results = await Promise.all([a, b].map((client) => client.flight('f').run('k', work)))
    same([runs, ...results.map(({ value }) => value)], [1, 'värde', 'värde'])
  }),
  'a slot runs once': two(async (a, b) => {
    const results = await Promise.all([a, b].map((client) => client.slots('s').run('2026-01-01', () => 1)))
    same(results.map(({ outcome }) => outcome).sort(), ['ran', 'skipped'])
  }),
  'a topic delivers': two(async (a, b) => {
    const heard: unknown[] = []
    await b.topic('t').subscribe((message) => void heard.push(message))
    await a.topic('t').publish({ text: 'grüße', n: 1 })
    await until(() => heard.length === 1)
    same(heard, [{ text: 'grüße', n: 1 }])
  }),
  'a script runs, by its sha': one(async (client) => {
    const script = client.script("return redis.call('INCRBY', KEYS[1], ARGV[1])")
    same(await script.run({ keys: ['n'], args: [5], returns: 'integer' }), 5)
    same(await client.scripts.run(script.sha, { keys: ['n'], args: [2], returns: 'integer' }), 7)
  }),
  'the hashes are the known ones': one(async (client) => {
    same(client.script('return 1').sha, 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db')
    const text = `return '${'ä'.repeat(100)}'`
    same(await client.script(text).run(), 'ä'.repeat(100))
    await client.scripts.load(text)
    same(await client.scripts.exists(client.script(text).sha), [true])
  }),
  'waits that form a circle are reported': two(
    async (a, b) => {
      const both = (client: Client, first: string, then: string): Promise<string> =>
        client.lock(first).using(async ({ owner }) => {
          await pause(100)
          return client.lock(then).using({ owner, wait: 20_000 }, () => 'through')
        })
      const reports: unknown[] = []
      for (const client of [a, b]) client.on('deadlock', (report) => void reports.push(report))
      const results = await Promise.allSettled([both(a, 'x', 'y'), both(b, 'y', 'x')])
      const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[]
      holds(refused.length === 1 && refused[0]?.reason instanceof DeadlockError, JSON.stringify(results))
    },
    { deadlocks: 'break' },
  ),
  'locks are listed, with their clients': two(async (a, b) => {
    await a.lock('one').acquire()
    await b.fairLock('two').acquire()
    await until(async () => {
      const names: string[] = []
      for await (const { name, holders } of a.list()) if (holders.length === 1) names.push(name)
      return names.sort().join() === 'one,two'
    })
  }),
  'close ends waits, and releases on request': two(async (a, b) => {
    await a.lock('a').acquire()
    const waiting = rejects(b.lock('a').acquire(), ClosedError)
    await pause(20)
    await b.close()
    await waiting
  }),
  'health is up': one(async (client) => {
    same((await client.health()).state, 'up')
  }),
  'wrong options are refused': async () => {
    await rejects(connect({ url: 'memory:', watchdog: -1 }), RangeError, /watchdog/)
  },
}

/** Only in a browser. */
export const browserCases: Readonly<Record<string, () => Promise<void>>> = {
  'a server is refused, with a reason': async () => {
    await rejects(connect('redis://localhost:6379'), ConfigError, /a browser cannot connect to Redis.*memory:/)
    await rejects(connect('rediss+cluster://localhost:6379'), ConfigError, /a browser cannot connect to Redis/)
  },
  'a file is refused, with a reason': () =>
    rejects(connect({ file: 'redisson.yml' }), ConfigError, /configuration file/),
  'without a URL there is none': () => rejects(connect(), ConfigError),
  'a private key of Node is not asked for': async () => {
    holds(!('process' in globalThis) && !('Buffer' in globalThis), 'no Node')
    await (await connect('memory:')).close()
  },
}
