import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeadlockError, type Hold, type Lock } from 'holdfast'
import type { Client } from 'holdfast'
import { keyedDeadlines, keyedQueue, keyedSets, keyedTurn } from '#src/keys.js'
import { keyedLockRelease } from '#src/lua/scripts.gen.js'
import { fieldOf } from '#src/sync/keyed-lock/field-of-key.js'
import { seeded } from '../../support/random.js'
import { KEYED_TURN, stage } from '../../support/line-stage.js'
import { channelOf } from '../../support/redisson-actor.js'

const STRANGER = `${crypto.randomUUID()}:1`
const LINE = ['x', keyedQueue('x'), keyedDeadlines('x'), keyedSets('x'), keyedTurn('x')]

const of =
  (...keys: string[]) =>
  (client: Client): Lock =>
    client.keyedLock('x', keys)
const AB = of('a', 'b')

type Stage = Awaited<ReturnType<typeof stage>>

/** What another program writes as the holder of a key. */
const give = async ({ raw, clock }: Stage, key: string, owner: string, ms: number): Promise<void> => {
  const field = fieldOf(key)
  const own = `${field}:${owner}`
  await raw('HSET', 'x', field, owner, `${own}:expire_time`, String(clock.now() + ms), `${own}:lock_count`, '1')
  await raw('PEXPIRE', 'x', '60000')
}
const take = async ({ raw }: Stage, key: string, owner: string): Promise<void> => {
  const field = fieldOf(key)
  await raw('HDEL', 'x', field, `${field}:${owner}:expire_time`, `${field}:${owner}:lock_count`)
}

/** They come again at once, until the time is over; how often each had its keys, and the longest wait. */
const contest = async (on: Stage, draw: (place: number) => readonly string[], until: number, ms = 20) => {
  const { clock, clients, pause } = on
  const visits = clients.map(() => 0)
  const inside = new Map<string, number>()
  let longest = 0
  const caller = async (place: number): Promise<void> => {
    while (clock.monotonic() < until) {
      const [keys, came] = [draw(place), clock.monotonic()]
      await clients[place]!.keyedLock('x', keys).using(async () => {
        for (const key of keys) {
          assert.equal(inside.get(key) ?? 0, 0, key)
          inside.set(key, 1)
        }
        longest = Math.max(longest, clock.monotonic() - came)
        await pause(ms)
        for (const key of keys) inside.set(key, 0)
        visits[place]! += 1
      })
    }
  }
  const scripts = (): number => on.drivers.reduce((sum, driver) => sum + driver.scripts, 0)
  const before = scripts()
  await on.run(Promise.all(clients.map((_, place) => caller(place))))
  const all = visits.reduce((sum, count) => sum + count)
  return { visits, all, longest, scripts: (scripts() - before) / all }
}

void test('8 processes of one caller each, 20 ms a visit → alike often, in turn, in few steps', async () => {
  const on = await stage(8, AB)
  const { visits, all, longest, scripts } = await contest(on, () => ['a', 'b'], 8000)
  assert.ok(all > 350, `${all} visits`)
  assert.ok(Math.min(...visits) >= 0.8 * Math.max(...visits), visits.join())
  assert.ok(longest <= 1.5 * 8 * 20, `${longest} ms`)
  assert.ok(scripts <= 3.5, `${scripts} scripts a visit`)
  await on.end()
})

void test('each takes two keys of eight → never two with one key, alike often, in few steps', async () => {
  const on = await stage(12, AB)
  const draw = seeded(7)
  const pair = (): string[] => {
    const first = Math.floor(draw() * 8)
    return ['abcdefgh'[first]!, 'abcdefgh'[(first + 1 + Math.floor(draw() * 7)) % 8]!]
  }
  const { visits, all, scripts } = await contest(on, pair, 8000)
  assert.ok(all > 500, `${all} visits`)
  assert.ok(Math.min(...visits) >= 0.8 * Math.max(...visits), visits.join())
  assert.ok(scripts <= 4.5, `${scripts} scripts a visit`)
  await on.end()
})

void test('others want other keys → they pass; who wants one that somebody before wants does not', async () => {
  const on = await stage(5, AB)
  const { clients, clock, run, end } = on
  const had: string[] = []
  const comes = async (place: number, name: string, ...keys: string[]): Promise<{ coming: Promise<Hold> }> => {
    const coming = clients[place]!.keyedLock('x', keys).acquire()
    void coming.then(() => had.push(name))
    await clock.advance(10)
    return { coming }
  }
  const [a, c] = [await clients[0]!.keyedLock('x', ['a']).acquire(), await clients[0]!.keyedLock('x', ['c']).acquire()]
  const ab = await comes(1, 'ab', 'a', 'b')
  const bc = await comes(2, 'bc', 'b', 'c')
  const d = await comes(3, 'd', 'd')
  const b = await comes(4, 'b', 'b')
  assert.deepEqual(had, ['d'])
  assert.equal(await run(clients[3]!.keyedLock('x', ['b', 'e']).tryAcquire()), undefined)
  const e = await run(clients[3]!.keyedLock('x', ['e']).tryAcquire())
  assert.ok(e !== undefined)
  await run(c.release())
  assert.deepEqual(had, ['d'])
  await run(a.release())
  await clock.advance(5)
  assert.deepEqual(had, ['d', 'ab'])
  await run((await ab.coming).release())
  await clock.advance(5)
  assert.deepEqual(had, ['d', 'ab', 'bc'])
  await run((await bc.coming).release())
  await clock.advance(5)
  assert.deepEqual(had, ['d', 'ab', 'bc', 'b'])
  for (const hold of [await d.coming, await b.coming, e]) await run(hold.release())
  await end()
})

void test('who waits → shown with the keys that it waits for', async () => {
  const { clients, clock, run, end } = await stage(4, AB)
  const hold = await clients[0]!.keyedLock('x', ['a', 'b']).acquire()
  const comings: Promise<Hold>[] = []
  for (const [place, keys] of [
    [1, ['b', 'c']],
    [2, ['a', 'd']],
    [3, ['c', 'd']],
  ] as const) {
    comings.push(clients[place]!.keyedLock('x', keys).acquire())
    await clock.advance(10)
  }
  const shown = async (...keys: string[]) => {
    const { waiting } = await clients[0]!.keyedLock('x', keys).inspect()
    return waiting.map(({ client, keys }) => [client, keys])
  }
  const [, one, two, three] = clients.map(({ id }) => id)
  assert.deepEqual(await shown('a'), [[two, ['a']]])
  assert.deepEqual(await shown('b', 'c', 'd'), [
    [one, ['b', 'c']],
    [two, ['d']],
    [three, ['c', 'd']],
  ])
  assert.deepEqual(await shown('e'), [])
  await run(hold.release())
  for (const coming of comings) void coming.then((hold) => hold.release())
  await run(Promise.all(comings))
  await end()
})

void test('a hold is over without a word → whoever waits for its keys has them then', async () => {
  const on = await stage(3, AB)
  const { clock, clients, come, entered, run, end } = on
  await give(on, 'b', STRANGER, 730)
  const began = clock.monotonic()
  const { coming } = await come(1, 'waits')
  const behind = clients[2]!.keyedLock('x', ['b', 'c']).using(() => undefined)
  await run(coming)
  assert.ok(entered[0]!.at - began >= 720 && entered[0]!.at - began <= 740, `${entered[0]!.at - began} ms`)
  await run(behind)
  await end()
})

void test('a process that waits died → others have the keys that it wanted, at once', async () => {
  const { clock, clients, drivers, run, end } = await stage(3, AB)
  const hold = await clients[0]!.keyedLock('x', ['a']).acquire()
  clients[1]!
    .keyedLock('x', ['a', 'b'])
    .acquire()
    .catch(() => undefined)
  await clock.advance(10)
  await drivers[1]!.close()
  const b = await run(clients[2]!.keyedLock('x', ['b']).tryAcquire())
  assert.ok(b !== undefined)
  await run(b.release())
  const later = clients[2]!.keyedLock('x', ['a', 'b']).acquire()
  await clock.advance(10)
  await run(hold.release())
  await clock.advance(2)
  await run((await later).release())
  await clock.advance(75_000)
  await end()
})

void test('one that was granted its keys is stopped → the next has them after its trial', async () => {
  const { clock, clients, drivers, come, entered, run, end } = await stage(3, AB)
  const hold = await clients[0]!.keyedLock('x', ['a', 'b']).acquire()
  const stopped = clients[1]!.keyedLock('x', ['a', 'b']).acquire()
  stopped.catch(() => undefined)
  await clock.advance(10)
  const { coming } = await come(2, 'next')
  drivers[1]!.mute = true
  const released = clock.monotonic()
  await run(hold.release())
  await run(coming)
  const waited = entered[0]!.at - released
  assert.ok(waited >= 2900 && waited <= 4100, `${waited} ms`)
  drivers[1]!.mute = false
  await stopped.then(
    (one) => run(one.release()),
    () => undefined,
  )
  await end()
})

void test('others wait for a message → after a release the keys are left to them, and ours has them after', async () => {
  const on = await stage(3, AB)
  const { clock, clients, aside, raw, run, come, names, end } = on
  const channel = channelOf('x')
  await aside.subscribe(channel, 'plain')
  const hold = await clients[0]!.keyedLock('x', ['a', 'b']).acquire()
  await clock.advance(100)
  const { coming } = await come(1, 'ours', {}, 50)
  await run(hold.release())
  await clock.advance(2)
  assert.deepEqual(names(), [])
  assert.equal(await raw('EXISTS', 'x'), 0)
  assert.ok(Number(await raw('PTTL', KEYED_TURN)) > 0, `${KEYED_TURN} has no expiry`)
  assert.equal(await run(clients[2]!.keyedLock('x', ['b']).tryAcquire()), undefined)
  await give(on, 'b', STRANGER, 30_000)
  await clock.advance(20)
  assert.deepEqual(names(), [])
  await take(on, 'b', STRANGER)
  await raw('PUBLISH', channel, '0')
  await clock.advance(10)
  assert.deepEqual(names(), ['ours'])
  await run(coming)
  await aside.unsubscribe(channel, 'plain')
  await end()
})

void test('only another program’s megabyte stands in the line → no client is first in the line, and Redisson has its turn', async () => {
  const { clients, aside, raw, run, end } = await stage(1, AB)
  const channel = channelOf('x')
  await aside.subscribe(channel, 'plain')
  const hold = await run(clients[0]!.keyedLock('x', ['a']).acquire())
  await raw('RPUSH', keyedQueue('x'), 'x'.repeat(1_000_000))
  await run(hold.release())
  assert.ok(Number(await raw('HGET', KEYED_TURN, 'till')) > 0, 'no turn')
  await raw('DEL', keyedQueue('x'))
  await aside.unsubscribe(channel, 'plain')
  await end()
})

void test('only one behind the first waits for a key of another’s → it has it when that is told', async () => {
  const on = await stage(4, AB)
  const { clock, clients, raw, run, end } = on
  const had: string[] = []
  const hold = await clients[0]!.keyedLock('x', ['a']).acquire()
  await give(on, 'c', STRANGER, 30_000)
  const first = clients[1]!.keyedLock('x', ['a', 'b']).using(() => void had.push('ab'))
  await clock.advance(10)
  const second = clients[2]!.keyedLock('x', ['c']).using(() => void had.push('c'))
  await clock.advance(30)
  await take(on, 'c', STRANGER)
  await raw('PUBLISH', channelOf('x'), '0')
  await clock.advance(10)
  assert.deepEqual(had, ['c'])
  await run(second)
  await run(hold.release())
  await run(first)
  await end()
})

void test('beside one who knows of no line and comes again at once → turns are left to either', async () => {
  const on = await stage(2, AB)
  const { clock, clients, aside, raw, pause, run, end } = on
  for (const driver of on.drivers) driver.lag = 1
  const channel = channelOf('x')
  await aside.subscribe(channel, 'plain')
  const had = { ours: 0, theirs: 0 }
  let inside = 0
  const visit = async (side: keyof typeof had): Promise<void> => {
    assert.equal(++inside, 1)
    await pause(5)
    inside--
    had[side] += 1
  }
  const ours = async (place: number): Promise<void> => {
    while (clock.monotonic() < 6000) await clients[place]!.keyedLock('x', ['a', 'b']).using(() => visit('ours'))
  }
  const theirs = async (): Promise<void> => {
    while (clock.monotonic() < 6000) {
      const free = (await raw('HEXISTS', 'x', fieldOf('a'))) === 0 && (await raw('HEXISTS', 'x', fieldOf('b'))) === 0
      if (free) {
        for (const key of ['a', 'b']) await give(on, key, STRANGER, 30_000)
        await visit('theirs')
        for (const key of ['a', 'b']) await take(on, key, STRANGER)
        await raw('PUBLISH', channel, '0')
      }
      await pause(free ? 3 : 1)
    }
  }
  await run(Promise.all([ours(0), ours(1), theirs()]))
  assert.ok(Math.min(had.ours, had.theirs) >= 0.3 * (had.ours + had.theirs), JSON.stringify(had))
  for (const driver of on.drivers) driver.lag = 0
  await aside.unsubscribe(channel, 'plain')
  await end()
})

for (const lost of LINE.slice(1)) {
  void test(`${lost} is deleted while others wait → nobody is forgotten, nobody is in with another`, async () => {
    const on = await stage(5, AB)
    const { clock, raw, pause, run } = on
    const over = (async () => {
      for (let i = 0; i < 2; i++) {
        await pause(2000)
        await raw('DEL', lost)
      }
    })()
    const { longest } = await contest(on, () => ['a', 'b'], 6000)
    await run(over)
    // They find out by asking, once a second.
    assert.ok(longest <= 1300, `${longest} ms`)
    await clock.advance(75_000)
    await on.end()
  })
}

void test('the group is deleted while others wait → who held it is told, and the next has it soon', async () => {
  const { clients, raw, come, run, clock, names, end } = await stage(3, AB)
  const hold = await clients[0]!.keyedLock('x', ['a', 'b']).acquire()
  const all = [(await come(1, 'next')).coming, (await come(2, 'behind')).coming]
  await raw('DEL', 'x')
  await clock.advance(1100)
  assert.deepEqual(names(), ['next', 'behind'])
  await run(Promise.all(all))
  assert.equal(await run(hold.release()), false)
  await end()
})

for (const [name, ...words] of [
  ['SET', 'text'],
  ['HSET', 'name', 'Ann'],
  ['RPUSH', STRANGER, ''],
  ['SADD', STRANGER],
  ['ZADD', 'inf', STRANGER],
] as const) {
  for (const key of LINE.slice(1)) {
    void test(`${name} at ${key} → what is held is freed, and who comes later has it`, async () => {
      const { clock, clients, raw, run, end } = await stage(2, AB)
      const hold = await clients[0]!.keyedLock('x', ['a', 'b']).acquire()
      await raw(name, key, ...words)
      const waits = clients[1]!.keyedLock('x', ['a', 'b']).acquire({ wait: 100 })
      waits.catch(() => undefined)
      await clock.advance(200)
      assert.equal(await run(hold.release()), true)
      await waits.then(
        (one) => run(one.release()),
        () => undefined,
      )
      assert.equal(await raw('HEXISTS', 'x', fieldOf('a')), 0)
      for (const each of LINE) await raw('DEL', each)
      await run((await run(clients[1]!.keyedLock('x', ['a', 'b']).acquire())).release())
      await end()
    })
  }
}

void test('another set is written for who waits → it is not told that it has what it does not want', async () => {
  const { clock, clients, raw, run, end } = await stage(2, AB)
  const hold = await clients[0]!.keyedLock('x', ['a', 'b']).acquire()
  const other = await clients[0]!.keyedLock('x', ['c']).acquire()
  let has = false
  const coming = clients[1]!.keyedLock('x', ['a', 'b']).acquire()
  void coming.then(() => (has = true))
  await clock.advance(10)
  const [place] = (await raw('LRANGE', keyedQueue('x'), '0', '-1')) as string[]
  await raw('HSET', keyedSets('x'), place!, fieldOf('c'))
  await run(other.release())
  await clock.advance(50)
  assert.equal(has, false)
  assert.equal(await raw('HEXISTS', 'x', fieldOf('c')), 0)
  await clock.advance(1000)
  await run(hold.release())
  await run((await run(coming)).release())
  await end()
})

void test('a thousand keys in a set, and in another → one after the other', async () => {
  const on = await stage(3, AB)
  const keys = Array.from({ length: 1000 }, (_, i) => `k${i}`)
  const { visits } = await contest(on, (place) => (place === 0 ? ['k7'] : keys), 1000)
  assert.ok(Math.min(...visits) >= 10, visits.join())
  await on.end()
})

void test('the scripts of the line → with one key they do what they can', async () => {
  const { clients, raw, end } = await stage(1, AB)
  const lock = clients[0]!.keyedLock('x', ['a'])
  const hold = await lock.acquire()
  const [holder] = (await lock.inspect()).holders
  const args = [holder!.owner, channelOf('x'), 'grants', 'PUBLISH', '6', fieldOf('a')]
  assert.equal(await raw('EVAL', keyedLockRelease.text, '1', 'x', ...args), 1)
  assert.equal(await raw('EXISTS', 'x'), 0)
  assert.equal(await hold.release(), false)
  await end()
})

void test('who stands before it waits for a key that its own client holds → it has its key within two seconds', async () => {
  const on = await stage(2, AB)
  const { clock, clients, run, pause } = on
  const outer = await run(clients[0]!.keyedLock('x', ['a']).acquire())
  const both = clients[1]!.keyedLock('x', ['a', 'c']).acquire()
  await run(pause(10))
  const since = clock.monotonic()
  const inner = await run(clients[0]!.keyedLock('x', ['c']).acquire())
  assert.ok(clock.monotonic() - since <= 2200, `${clock.monotonic() - since} ms`)
  await run(Promise.all([inner.release(), outer.release()]))
  await run((await run(both)).release())
  await on.end()
})

void test('two hold one key each and wait for others, behind waiters for those → both go on', async () => {
  const on = await stage(4, AB)
  const { clients, run, pause } = on
  const [a, d] = [
    await run(clients[0]!.keyedLock('x', ['a']).acquire()),
    await run(clients[1]!.keyedLock('x', ['d']).acquire()),
  ]
  const waiters = [clients[2]!.keyedLock('x', ['c', 'd']).acquire(), clients[3]!.keyedLock('x', ['e', 'a']).acquire()]
  await run(pause(10))
  const inner = [clients[0]!.keyedLock('x', ['c']).acquire(), clients[1]!.keyedLock('x', ['e']).acquire()]
  for (const hold of await run(Promise.all(inner))) await run(hold.release())
  await run(Promise.all([a.release(), d.release()]))
  for (const hold of await run(Promise.all(waiters))) await run(hold.release())
  await on.end()
})

void test('a client that holds nothing of the group → does not pass who wants one of its keys, for five seconds', async () => {
  const on = await stage(3, AB)
  const { clients, run, pause } = on
  const a = await run(clients[2]!.keyedLock('x', ['a']).acquire())
  const both = clients[1]!.keyedLock('x', ['a', 'c']).acquire()
  await run(pause(10))
  let passed = false
  const c = clients[0]!.keyedLock('x', ['c']).acquire()
  void c.then(() => (passed = true))
  await run(pause(4500))
  assert.equal(passed, false)
  await run(pause(2000))
  assert.equal(passed, true)
  await run((await run(c)).release())
  await run(a.release())
  await run((await run(both)).release())
  await on.end()
})

void test('a hundred sets of ten keys wait for the key that its client holds → it has the other key all the same', async () => {
  const on = await stage(3, AB)
  const { clock, clients, run, pause } = on
  const hot = await run(clients[0]!.keyedLock('x', ['hot']).acquire())
  const leaves = new AbortController()
  const waiters = Array.from({ length: 200 }, (_, n) => {
    const keys = ['hot', ...Array.from({ length: 9 }, (_, k) => `${n} ${k}`)]
    return clients[1 + (n % 2)]!.keyedLock('x', keys).acquire({ signal: leaves.signal })
  })
  const ended = Promise.allSettled(waiters)
  await run(pause(50))
  const since = clock.monotonic()
  const other = await run(clients[0]!.keyedLock('x', ['z']).acquire())
  assert.ok(clock.monotonic() - since <= 2500, `${clock.monotonic() - since} ms`)
  await run(other.release())
  leaves.abort()
  await run(ended)
  await run(hot.release())
  await on.end()
})

void test('a call that is dismissed, and the answer to its leaving comes after the grace → it asks again once, and nothing is held', async () => {
  const on = await stage(2, AB)
  const { clock, clients, drivers, raw, run, pause } = on
  const before = await run(clients[1]!.keyedLock('x', ['b']).acquire())
  const owner = clients[0]!.owner()
  const [first, second] = [
    ['a', 'b'],
    ['b', 'c'],
  ].map((keys) => clients[0]!.keyedLock('x', keys).acquire({ owner }))
  const refused = second!.then(
    () => undefined,
    (error: unknown) => error,
  )
  await run(pause(100))
  drivers[0]!.lag = 70
  await run(before.release())
  const had = await run(first!)
  assert.ok((await run(refused)) instanceof DeadlockError)
  const released = had.release()
  await clock.advance(300)
  drivers[0]!.lag = 0
  await run(released)
  await clock.advance(100)
  assert.equal(await raw('EXISTS', 'x'), 0)
  await on.end()
})
