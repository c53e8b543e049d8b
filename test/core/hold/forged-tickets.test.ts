import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ClosedError, EngineError, LockLostError } from 'holdfast'
import {
  fencedLockPass,
  keyedLockPass,
  lockPass,
  readWriteLockReadPass,
  readWriteLockWritePass,
} from '#src/lua/scripts.gen.js'
import { fieldOf } from '#src/sync/keyed-lock/field-of-key.js'
import { pttl, rejection, times, watch } from '../../suites/contract/lock/kind.js'
import { type Client, engines, scenarios, type World } from '../../support/engines.js'

const LEASE = 600_000
const REDISSON = '9f1b2c3d-0a1b-4001-8001-0a1b2c3d4e5f:23'
const KINDS = [
  ...['lock', 'nonReentrantLock', 'fairLock', 'nonReentrantFairLock', 'fencedLock', 'spinLock'],
  ...['readWriteLock.read', 'readWriteLock.write', 'fairReadWriteLock.read', 'fairReadWriteLock.write'],
  'keyedLock ["a","b"]',
]
const PASSES = [lockPass, fencedLockPass, readWriteLockReadPass, readWriteLockWritePass, keyedLockPass]

const encode = (content: unknown): string => {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return `holdfast1.${Buffer.from(text).toString('base64url')}`
}
const partsOf = (ticket: string): [string, string, string, number, boolean] =>
  JSON.parse(Buffer.from(ticket.slice(10), 'base64url').toString()) as [string, string, string, number, boolean]
const altered = (ticket: string, at: number, part: unknown): string =>
  encode(Object.assign(partsOf(ticket), { [at]: part }))

interface Found {
  readonly type: string
  readonly content: readonly string[]
  readonly ttl: number
}

/** A server tells the fields of a hash in any order. */
const inOrder = (flat: readonly string[]): string[] =>
  times(flat.length / 2, (i): [string, string] => [String(flat[2 * i]), String(flat[2 * i + 1])])
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flat()

/** All that this test has at the server. */
const found = async (w: World): Promise<ReadonlyMap<string, Found>> => {
  // Notes of requests go soon.
  const keys = ((await w.raw('KEYS', `*${w.id}*`)) as string[]).filter((key) => !key.includes('_request:')).sort()
  const read: Readonly<Record<string, (key: string) => Promise<unknown>>> = {
    hash: async (key) => inOrder((await w.raw('HGETALL', key)) as string[]),
    list: (key) => w.raw('LRANGE', key, 0, -1),
    zset: (key) => w.raw('ZRANGE', key, 0, -1, 'WITHSCORES'),
    set: (key) => w.raw('SMEMBERS', key),
    string: (key) => w.raw('GET', key),
  }
  const all = await Promise.all(
    keys.map(async (key): Promise<[string, Found]> => {
      const type = String(await w.raw('TYPE', key))
      const content = [await read[type]?.(key)].flat().map(String)
      return [key, { type, content, ttl: await pttl(w, key) }]
    }),
  )
  return new Map(all)
}

/** Nothing was written: an expiry has gone on as time has. */
const unchanged = async (w: World, before: ReadonlyMap<string, Found>, what: string): Promise<void> => {
  const now = await found(w)
  assert.deepEqual([...now.keys()], [...before.keys()], what)
  for (const [key, { type, content, ttl }] of before) {
    const there = now.get(key) as Found
    assert.deepEqual([there.type, there.content], [type, content], `${what}: ${key}`)
    assert.ok(
      ttl < 0 ? there.ttl === ttl : there.ttl <= ttl && there.ttl > ttl - 60_000,
      `${what}: ${key}: ${there.ttl}`,
    )
  }
}

/** Something of every layout, under names that begin with the test's. */
const layouts = async (w: World, client: Client): Promise<void> => {
  const [shared, under] = ['shared', 'under'].map((what) => client.readWriteLock(`${w.id}:${what}`))
  for (const make of [
    () => client.lock(`${w.id}:plain`),
    () => client.fencedLock(`${w.id}:fenced`),
    () => client.readWriteLock(`${w.id}:write`).write,
    ...[shared, shared].map((lock) => () => lock?.read as ReturnType<Client['lock']>),
    () => client.keyedLock(`${w.id}:keyed`, ['a', 'b']),
  ])
    await make().acquire({ lease: LEASE })
  const writer = client.owner()
  await under?.write.acquire({ lease: LEASE, owner: writer })
  await under?.read.acquire({ lease: LEASE, owner: writer })
  await client.semaphore(`${w.id}:semaphore`).trySetPermits(2)
  const permits = client.permitSemaphore(`${w.id}:permits`)
  await permits.trySetPermits(2)
  await permits.acquire({ lease: LEASE })
  await client.countDownLatch(`${w.id}:latch`).trySetCount(2)
  const limiter = client.rateLimiter(`${w.id}:limiter`)
  await limiter.trySetRate({ permits: 5, interval: LEASE })
  await limiter.acquire()
  await client.slots(`${w.id}:slots`).run('1', () => undefined)
  await w.raw('HSET', `${w.id}:one`, 'total', '7')
  await w.raw('HSET', `${w.id}:redissons`, REDISSON, '1')
  await w.raw('HSET', `${w.id}:mode`, 'mode', 'write', 'total', '7')
  await w.raw('HSET', `${w.id}:no-count`, `${client.id}:1234567891`, 'a value')
  await w.raw('HSET', `${w.id}:two`, `${client.id}:1234567891`, '1', `${client.id}:1234567892`, '1')
  await w.raw(
    'HSET',
    `${w.id}:no-end`,
    fieldOf('a'),
    `${client.id}:1234567891`,
    fieldOf('b'),
    `${client.id}:1234567891`,
  )
  await w.raw('HSET', `${w.id}:no-write`, 'mode', 'write', `${client.id}:1234567891:write`, 'a value')
  await w.raw(
    'HSET',
    `${w.id}:no-mode`,
    'mode',
    'else',
    `${client.id}:1234567891`,
    '1',
    `${client.id}:1234567891:write`,
    '1',
  )
  await w.raw('RPUSH', `${w.id}:list`, `${client.id}:1234567891`)
  for (const key of ['one', 'two', 'mode', 'no-mode']) await w.raw('PEXPIRE', `${w.id}:${key}`, LEASE)
}

/** All that somebody could take for an owner there. */
const ownersIn = ({ type, content }: Found): readonly string[] => {
  const words = type === 'hash' || type === 'zset' ? content : ['', ...content]
  return [...new Set([...words, ...words.flatMap((word) => [word.split(':').slice(1, 3).join(':'), `${word}:write`])])]
}

/** A well-formed ticket of what is really held: it is good. */
const isGood = (kind: string, key: string, owner: string, client: string): boolean => {
  if (!owner.startsWith(`${client}:`)) return false
  if (/:(plain|fenced)$/.test(key)) return /^[a-z]*lock$/i.test(kind)
  if (/:(write|shared|under)$/.test(key)) return kind.endsWith(owner.endsWith(':write') ? '.write' : '.read')
  return key.endsWith(':keyed') && kind.startsWith('keyed')
}

for (const engine of engines) {
  void describe(`forged tickets on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)

    const everyOwner = async (
      w: World,
      attempt: (client: Client, key: string, owner: string, other: Client) => Promise<void>,
    ): Promise<void> => {
      w.leavesKeys = true
      const [client, other] = [await w.connect(), await w.connect()]
      await layouts(w, client)
      const before = await found(w)
      assert.ok(before.size > 20, String(before.size))
      for (const [key, there] of before) for (const owner of ownersIn(there)) await attempt(client, key, owner, other)
      await unchanged(w, before, 'in the end')
    }

    scenario(
      'a ticket of each kind, for each key of each layout, of each field as its owner → refused, nothing is written',
      async (w) => {
        let tried = 0
        await everyOwner(w, async (client, key, owner, other) => {
          for (const kind of KINDS) {
            if (isGood(kind, key, owner, client.id)) continue
            tried++
            const error = await rejection(w.run(other.adopt(encode([kind, key, owner, 2 * LEASE, false]))))
            const what = `${kind} ${key} ${owner}: ${String(error)}`
            assert.ok(
              error instanceof TypeError || error instanceof LockLostError || error instanceof EngineError,
              what,
            )
            if (owner.length > 8) assert.ok(!error.message.replaceAll(key, '').includes(owner), what)
          }
        })
        assert.ok(tried > 1000, String(tried))
      },
    )

    scenario(
      'each script that passes, for each key of each layout, from each field → nothing is written',
      async (w) => {
        await everyOwner(w, async (client, key, owner) => {
          // To a plain lock's script that is one.
          if (key.endsWith(':one') && owner === 'total') return
          if (key.endsWith(':redissons') && owner === REDISSON) return
          for (const script of PASSES) {
            if (KINDS.some((kind) => isGood(kind, key, owner, client.id))) {
              const kinds = KINDS.filter((kind) => isGood(kind, key, owner, client.id)).join()
              if (script.name.startsWith('read-write') ? kinds.includes('.') : !kinds.includes('.')) continue
            }
            const mark = script === readWriteLockWritePass ? ':write' : ''
            const to = `${client.id}:8000000009${mark}`
            const keys = [key, `${key}:counter`, `${key}:given`].slice(0, script.keys)
            const last = script === keyedLockPass ? [fieldOf('a'), fieldOf('b')] : [`{${key}}`]
            const args = script === lockPass || script === readWriteLockWritePass ? [] : last
            await w
              .raw('EVAL', script.text, keys.length, ...keys, owner, to, 2 * LEASE, ...args)
              .catch((error: unknown) => assert.match(String(error), /WRONGTYPE/))
          }
        })
      },
    )

    scenario('one ticket, adopted by many at once → exactly one has it', async (w) => {
      const clients = [await w.connect(), await w.connect()]
      for (const lock of [
        (clients[0] as Client).lock(w.id),
        (clients[0] as Client).fencedLock(w.id),
        (clients[0] as Client).readWriteLock(w.id).read,
        (clients[0] as Client).readWriteLock(w.id).write,
        (clients[0] as Client).keyedLock(w.id, ['a', 'b']),
      ]) {
        const ticket = await (await lock.acquire({ lease: LEASE })).detach()
        const calls = times(10, (i) => (clients[i % 2] as Client).adopt(ticket))
        const settled = await w.run(Promise.allSettled(calls))
        const holds = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
        assert.equal(holds.length, 1)
        for (const each of settled) if (each.status === 'rejected') assert.ok(each.reason instanceof LockLostError)
        assert.equal(await w.run(holds[0]?.release() as Promise<boolean>), true)
      }
    })

    scenario('a ticket, and meanwhile the lock is a third one’s → LockLostError, the third keeps it', async (w) => {
      const [one, two, three] = [await w.connect(), await w.connect(), await w.connect()]
      for (const make of [
        (client: Client) => client.lock(w.id),
        (client: Client) => client.fencedLock(w.id),
        (client: Client) => client.readWriteLock(w.id).read,
        (client: Client) => client.readWriteLock(w.id).write,
        (client: Client) => client.keyedLock(w.id, ['a', 'b']),
      ]) {
        const ticket = await (await make(one).acquire({ lease: LEASE })).detach()
        await w.raw('DEL', w.id)
        const hold = await make(three).acquire({ lease: LEASE })
        const before = await found(w)
        assert.ok((await rejection(w.run(two.adopt(ticket)))) instanceof LockLostError)
        await unchanged(w, before, make(three).name)
        assert.equal(await w.run(hold.release()), true)
        w.leavesKeys = true
        await w.raw('DEL', w.id)
      }
    })

    scenario(
      'a ticket of which a part was changed → refused, and the hold goes to whoever has the right one',
      async (w) => {
        const client = await w.connect()
        const ticket = await (await client.readWriteLock(w.id).read.acquire({ lease: LEASE })).detach()
        const before = await found(w)
        const [kind, name, wire, lease, watched] = partsOf(ticket)
        const nested = `["${kind}","${name}",${'['.repeat(100_000)}${']'.repeat(100_000)},${lease},${watched}]`
        const forged: [string, RegExp][] = [
          [altered(ticket, 0, 'readWriteLock.write'), /its owner is not one/],
          [altered(ticket, 0, 'semaphore'), /an unknown kind/],
          [altered(ticket, 0, 'readWriteLock.read ["a"]'), /an unknown kind/],
          [altered(ticket, 0, 'keyedLock'), /an unknown kind/],
          [altered(ticket, 0, 'keyedLock []'), /its keys/],
          [altered(ticket, 0, 'keyedLock [["a"]]'), /its keys/],
          [altered(ticket, 0, 'keyedLock ["a",5]'), /its keys/],
          [altered(ticket, 0, 'keyedLock ["\\ud800"]'), /key in a ticket/],
          [altered(ticket, 0, `keyedLock ${JSON.stringify(times(10_001, String))}`), /10001/],
          [altered(ticket, 0, `keyedLock ${JSON.stringify(times(20, () => 'x'.repeat(60_000)))}`), /1200000/],
          [altered(ticket, 1, ''), /name in a ticket/],
          [altered(ticket, 1, 'n'.repeat(65_537)), /name in a ticket/],
          [altered(ticket, 1, '\ud800'), /name in a ticket/],
          [altered(ticket, 2, `${wire}${'0'.repeat(15)}`), /its owner is not one/],
          [altered(ticket, 2, wire.toUpperCase()), /its owner is not one/],
          [altered(ticket, 2, ` ${wire}`), /its owner is not one/],
          [altered(ticket, 2, `${wire}\n`), /its owner is not one/],
          [altered(ticket, 3, 0), /changed/],
          [altered(ticket, 3, -5), /changed/],
          [altered(ticket, 3, 1e300), /changed/],
          [altered(ticket, 3, 2 ** 52 + 1), /lease in a ticket/],
          [altered(ticket, 4, 1), /changed/],
          [encode([kind, name, wire, lease, watched, 9999]), /changed/],
          [encode([kind, name, wire, lease, watched, 1, '77']), /changed/],
          [encode(`${JSON.stringify(partsOf(ticket))} `), /changed/],
          [encode(nested), /changed/],
          [encode('['.repeat(300_000)), /changed/],
          [encode('"\\'.repeat(150_000)), /changed/],
          [`${ticket}=`, /changed/],
          [ticket.slice(0, -4), /changed/],
          [ticket.slice(1), /this is not a ticket/],
          [`holdfast1.${'A'.repeat(12_000_000)}`, /too long/],
          [altered(ticket, 0, `keyedLock [${Array(1_790_000).fill('""').join(',')}]`), /too many/],
          [altered(ticket, 1, '"'.repeat(4_000_000)), /too long/],
        ]
        for (const [text, why] of forged) {
          const since = process.cpuUsage()
          const error = await rejection(client.adopt(text))
          const took = process.cpuUsage(since)
          const what = `${text.slice(0, 80)}: ${String(error).slice(0, 200)}`
          assert.ok(error instanceof TypeError || error instanceof RangeError, what)
          assert.match(error.message, why, what)
          assert.ok(error.message.includes('ticket') && !error.message.includes(wire), what)
          assert.ok(error.message.length < 300, what)
          assert.ok(took.user + took.system < 1_000_000, `${took.user} µs: ${what}`)
        }
        for (const other of ['lock', 'fencedLock', 'keyedLock ["a"]'])
          assert.ok((await rejection(w.run(client.adopt(altered(ticket, 0, other))))) instanceof LockLostError, other)
        const elsewhere = altered(ticket, 1, `${w.id}:other`)
        assert.ok((await rejection(w.run(client.adopt(elsewhere)))) instanceof LockLostError)
        await unchanged(w, before, 'after all of them')
        assert.equal(await w.run((await w.run(client.adopt(ticket))).release()), true)
      },
    )

    scenario(
      'more keys than a lock may have → RangeError; longer ones than a ticket may have → not detached, and still held',
      async (w) => {
        const client = await w.connect()
        const most = times(10_000, (i) => `\u0001"\\é${i}`)
        const hold = await w.run(client.keyedLock(w.id, most).acquire({ lease: LEASE }))
        const adopted = await w.run(client.adopt(await w.run(hold.detach())))
        assert.equal(await w.run(adopted.release()), true)
        assert.throws(() => client.keyedLock(w.id, [...most, 'one more']), RangeError)
        const long = times(17, (i) => `${i}${'k'.repeat(64_000)}`)
        const more = await w.run(client.keyedLock(w.id, long).acquire({ lease: LEASE }))
        assert.ok((await rejection(w.run(more.detach()))) instanceof RangeError)
        assert.equal(more.state, 'held')
        assert.equal(await w.run(more.release()), true)
      },
    )

    scenario(
      'a forged ticket of very many keys → LockLostError, and no more than the first keys are hashed',
      async (w) => {
        let encoded = 0
        const codec = { encode: (value: unknown) => (encoded++, String(value)), decode: String }
        const client = await w.connect({ codec })
        const keys = times(10_000, (i) => `k${i}`)
        const owner = `${client.id}:2969291851`
        encoded = 0
        const ticket = encode([`keyedLock ${JSON.stringify(keys)}`, w.id, owner, LEASE, true])
        assert.ok((await rejection(client.adopt(ticket))) instanceof LockLostError)
        assert.ok(encoded <= 200, `${encoded} keys were encoded`)
        const some = keys.slice(0, 300)
        const hold = await client.keyedLock(w.id, some).acquire({ lease: LEASE })
        const adopted = await client.adopt(await hold.detach())
        assert.equal(await client.keyedLock(w.id, some.slice(-1)).isLocked(), true)
        assert.equal(await adopted.release(), true)
        assert.equal(await client.keyedLock(w.id, some).isLocked(), false)
      },
    )

    scenario('adopted while the client drains → ClosedError, and the ticket is good', async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const ticket = await (await one.lock(w.id).acquire({ lease: LEASE })).detach()
      const last = await two.lock(`${w.id}:last`).acquire({ lease: LEASE })
      const closing = watch(two.close({ drain: 60_000 }))
      assert.ok((await rejection(two.adopt(ticket))) instanceof ClosedError)
      assert.equal(await w.run(last.release()), true)
      await w.run(closing.promise)
      assert.equal(await w.run((await w.run(one.adopt(ticket))).release()), true)
    })
  })
}
