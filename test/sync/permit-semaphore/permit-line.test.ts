import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PermitOptions, PermitSemaphore, SetupOptions } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import type { Client } from 'holdfast'
import { settle } from '#src/config/settings.js'
import type { SendOptions } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import type { MemoryServer } from '#src/engine/memory/server.js'
import { clientOf } from '#src/keys.js'
import type { Arg, Reply } from '#src/lua/values.js'

const CHANNEL = 'redisson_sc:{s}'
const TIMEOUTS = '{s}:timeout'
const key = (part: string): string => `holdfast_expirable_${part}:{s}`
const TURN = key('turn')

/** Counts scripts, and lets answers be lost: the script runs, and nobody hears of it. */
class LossyDriver extends MemoryDriver {
  scripts = 0
  /** So many keys has the script whose next answer is lost. */
  loses: ((keys: number) => boolean) | undefined

  override async send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (!String(argv[0]).startsWith('EVAL')) return super.send(argv, options)
    this.scripts++
    const reply = await super.send(argv, options)
    if (this.loses?.(Number(argv[2])) !== true) return reply
    this.loses = undefined
    return new Promise<Reply>(() => undefined)
  }
}

let stages = 0

/** So many processes and a semaphore with so many permits; the server is asked by `raw` beside them. */
const stage = async (processes: number, permits: number) => {
  const clock = virtualClock(1)
  const name = `permits with ids in line ${stages++}`
  const connected = (): MemoryServer => openMemoryServer(name, clock)
  const options = settle({ url: 'memory:', clock, presence: false }, {})
  const drivers = Array.from({ length: processes }, () => new LossyDriver(connected(), undefined))
  const clients = await Promise.all(drivers.map((driver) => start(options, driver)))
  const aside = new MemoryDriver(connected(), undefined)
  const spare = await start(options, aside)
  const raw = (...words: (string | number)[]): Promise<Reply> => aside.send(words.map(String))
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms))
  const semaphore = (place: number): PermitSemaphore => clients[place]!.permitSemaphore('s')
  await raw('SET', 's', permits)

  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let over = false
    const done = (): void => void (over = true)
    promise.then(done, done)
    for (let step = 0; !over && step < 20_000; step++) await clock.advance(1)
    assert.ok(over, 'it goes on for ever')
    return promise
  }

  /** One of this process comes, works for so long when it has its permits, and says so. */
  const entered: { name: string; at: number }[] = []
  const come = async (
    place: number,
    name: string,
    options: PermitOptions & SetupOptions & { count?: number } = {},
    ms = 5,
  ) => {
    const { count = 1, ...rest } = options
    const work = async (): Promise<void> => {
      const had = await semaphore(place).acquireMany(count, rest)
      entered.push({ name, at: clock.monotonic() })
      await pause(ms)
      await Promise.all(had.map((permit) => permit.release()))
    }
    const coming = work()
    coming.catch(() => undefined)
    await clock.advance(10)
    return { coming }
  }

  const waiting = async (): Promise<string[]> =>
    ((await raw('LRANGE', key('line'), 0, -1)) as string[]).map(String).map(clientOf)

  const number = async (...words: string[]): Promise<number> => Number(String(await raw(...words)))
  /** Those that are taken included. */
  const all = async (): Promise<number> => (await number('GET', 's')) + (await number('ZCARD', TIMEOUTS))

  /** All close: there are so many permits again, and nothing else but, for a while, what is known of a turn of others, or of lost answers. */
  const end = async ({ left = permits, unanswered = false } = {}): Promise<void> => {
    await run(Promise.all(clients.map((client: Client) => client.close())))
    assert.equal(await number('GET', 's'), left)
    const keys = ((await raw('KEYS', '*')) as string[]).map(String)
    for (const one of keys.filter((one) => one !== 's')) {
      assert.ok(one === TURN || (unanswered && one.startsWith('holdfast_request:')), `${one} is left`)
      assert.ok((await number('PTTL', one)) > 0, `${one} has no expiry`)
    }
    await run(spare.close())
  }

  const names = (): string[] => entered.map(({ name }) => name)
  return { clock, clients, drivers, aside, raw, number, all, pause, run, semaphore, come, entered, names, waiting, end }
}

for (const permits of [1, 2, 5])
  void test(`12 processes of one caller each, ${permits} permits, 20 ms a visit → alike often, in turn, in few steps`, async () => {
    const { clock, clients, drivers, pause, run, semaphore, end } = await stage(12, permits)
    const visits = clients.map(() => 0)
    let [inside, longest] = [0, 0]
    const caller = async (place: number): Promise<void> => {
      while (clock.monotonic() < 8000) {
        const came = clock.monotonic()
        const permit = await semaphore(place).acquire()
        assert.ok(++inside <= permits)
        longest = Math.max(longest, clock.monotonic() - came)
        await pause(20)
        inside--
        visits[place]! += 1
        await permit.release()
      }
    }
    await run(Promise.all(clients.map((_, place) => caller(place))))
    const all = visits.reduce((sum, count) => sum + count)
    const scripts = drivers.reduce((sum, driver) => sum + driver.scripts, 0)
    assert.ok(all > 350 * permits, `${all} visits`)
    assert.ok(Math.min(...visits) >= 0.8 * Math.max(...visits), visits.join())
    assert.ok(longest <= (1.5 * 12 * 20) / permits, `${longest} ms`)
    assert.ok(scripts / all <= 3.5, `${scripts / all} scripts a visit`)
    await end()
  })

void test('permits are free for a moment while somebody stands in the line → no newcomer has any', async () => {
  const { raw, run, semaphore, come, names, end } = await stage(3, 1)
  const had = await run(semaphore(0).acquire())
  const { coming } = await come(1, 'stands', {}, 50)
  await raw('INCRBY', 's', 1)
  assert.equal(await run(semaphore(2).tryAcquire()), undefined)
  await run(coming)
  assert.deepEqual(names(), ['stands'])
  await run(had.release())
  await end({ left: 2 })
})

void test('who is first wants many, others come one at a time → it is next, and those behind it have the rest', async () => {
  const { run, semaphore, come, names, waiting, clients, end } = await stage(4, 3)
  const [one, ...others] = await run(semaphore(0).acquireMany(3))
  const all = [await come(1, 'three', { count: 3 }, 30), await come(2, 'one'), await come(3, 'another')]
  assert.deepEqual(
    await waiting(),
    [1, 2, 3].map((place) => clients[place]!.id),
  )
  await run(semaphore(0).release(others.map(({ id }) => id)))
  assert.equal(await run(semaphore(0).tryAcquire()), undefined)
  assert.deepEqual(names(), [])
  await run(one!.release())
  await run(Promise.all(all.map(({ coming }) => coming)))
  assert.deepEqual(names(), ['three', 'one', 'another'])
  await end()
})

for (const [how, give] of [
  ['release', (s: PermitSemaphore, ids: readonly string[]) => s.release(ids)],
  ['addPermits', (s: PermitSemaphore) => s.addPermits(4)],
  ['setPermits', (s: PermitSemaphore) => s.setPermits(8)],
] as const)
  void test(`several come at once, by ${how} → as many go as there are permits for, in one step`, async () => {
    const { clock, raw, run, semaphore, come, entered, end } = await stage(5, 4)
    const had = await run(semaphore(0).acquireMany(4))
    const all = []
    for (const place of [1, 2, 3, 4]) all.push(await come(place, `${place}`, {}, 20))
    // Of nobody else was anything seen.
    await raw('HSET', TURN, 'after', clock.now() + 900)
    await raw('PEXPIRE', TURN, 4500)
    await run(
      give(
        semaphore(0),
        had.map(({ id }) => id),
      ),
    )
    await clock.advance(5)
    assert.equal(entered.length, 4)
    await run(Promise.all(all.map(({ coming }) => coming)))
    await run(semaphore(0).setPermits(4))
    await end()
  })

void test('no permits are set, and some wait for that → trySetPermits grants them along the line', async () => {
  const { raw, run, semaphore, come, names, end } = await stage(3, 1)
  await raw('DEL', 's')
  const options = { waitForSetup: true }
  const all = [await come(1, 'first', options), await come(2, 'second', options)]
  assert.equal(await run(semaphore(0).trySetPermits(1)), true)
  await run(Promise.all(all.map(({ coming }) => coming)))
  assert.deepEqual(names(), ['first', 'second'])
  await end()
})

for (const [first, second] of [
  [1, 2],
  [2, 1],
] as const)
  void test(`the first of a process leaves, which wanted ${first}, and another waits there for ${second} → it has its place`, async () => {
    const { clock, clients, run, semaphore, come, names, waiting, end } = await stage(3, 2)
    const had = await run(semaphore(0).acquireMany(2))
    const leaves = new AbortController()
    const { coming } = await come(1, 'first', { count: first, signal: leaves.signal })
    const others = [await come(2, 'of another', { count: 2 }), await come(1, 'second', { count: second })]
    leaves.abort()
    await assert.rejects(run(coming))
    await clock.advance(5)
    assert.deepEqual(await waiting(), [clients[1]!.id, clients[2]!.id])
    await run(semaphore(0).release(had.map(({ id }) => id)))
    await run(Promise.all(others.map((other) => other.coming)))
    assert.deepEqual(names(), ['second', 'of another'])
    await end()
  })

void test('granted as its only caller leaves → the next has it, nothing is left', async () => {
  for (const after of [0, 1, 2, 3]) {
    const { clock, run, semaphore, come, names, end } = await stage(3, 1)
    const had = await run(semaphore(0).acquire())
    const leaves = new AbortController()
    const { coming } = await come(1, 'leaves', { signal: leaves.signal }, 5)
    const next = await come(2, 'next')
    const released = had.release()
    await clock.advance(after)
    leaves.abort()
    await Promise.allSettled([run(coming), run(released)])
    await run(next.coming)
    assert.equal(names().at(-1), 'next')
    await end()
  }
})

void test('three wait in each of two processes → each process stands in the line once', async () => {
  const { clock, clients, run, semaphore, come, names, waiting, end } = await stage(3, 1)
  const had = await run(semaphore(0).acquire())
  const all: Promise<unknown>[] = []
  for (let round = 0; round < 3; round++) {
    for (const place of [1, 2]) all.push((await come(place, `${place}`)).coming)
  }
  await clock.advance(2500)
  assert.deepEqual(await waiting(), [clients[1]!.id, clients[2]!.id])
  await run(had.release())
  await run(Promise.all(all))
  assert.equal(names().length, 6)
  assert.deepEqual(await waiting(), [])
  await end()
})

void test('a process that stands in the line died → the next has its permit at once, and it is not seen there for long', async () => {
  const { clock, drivers, run, semaphore, come, entered, waiting, end, clients } = await stage(4, 1)
  const had = await run(semaphore(0).acquire())
  await come(1, 'dead')
  const others = [(await come(2, 'lives', {}, 6000)).coming, (await come(3, 'behind')).coming]
  await drivers[1]!.close()
  const released = clock.monotonic()
  await run(had.release())
  await clock.advance(5500)
  assert.deepEqual(
    entered.map(({ name }) => name),
    ['lives'],
  )
  assert.ok(entered[0]!.at - released <= 5, `${entered[0]!.at - released} ms`)
  assert.deepEqual(await waiting(), [clients[3]!.id])
  await run(Promise.all(others))
  await end()
})

void test('what was granted to somebody who hears nothing any more → lapses after 3 s by itself, for Redisson too', async () => {
  const { clock, drivers, raw, number, all, run, semaphore, come, entered } = await stage(3, 1)
  const had = await run(semaphore(0).acquire())
  await come(1, 'silent')
  const { coming } = await come(2, 'next')
  // It is subscribed, and answers nothing.
  drivers[1]!.send = () => new Promise(() => undefined)
  await run(had.release())
  const released = clock.monotonic()
  assert.deepEqual([await number('GET', 's'), await number('ZCARD', TIMEOUTS)], [0, 1])
  const [, ends] = (await raw('ZRANGE', TIMEOUTS, 0, 0, 'WITHSCORES')) as string[]
  assert.match(ends!, /^\d+$/, 'Redisson reads whole numbers')
  assert.ok(Number(ends) > clock.now() && Number(ends) <= clock.now() + 3000, ends)
  assert.deepEqual([await run(semaphore(0).permits()), await run(semaphore(0).acquired())], [1, 1])
  await run(semaphore(0).setPermits(1))
  assert.equal(await all(), 1)
  await run(coming)
  const [{ name, at } = { name: '', at: 0 }] = entered
  assert.equal(name, 'next')
  assert.ok(at - released >= 2900 && at - released <= 4200, `${at - released} ms`)
  assert.equal(await number('GET', 's'), 1)
  await drivers[1]!.close()
})

void test('a grant comes late to who has slept for longer → it has another one, and no more', async () => {
  const { clock, drivers, all, run, semaphore, come, names, end } = await stage(3, 1)
  const had = await run(semaphore(0).acquire())
  const sleeps = await come(1, 'sleeps')
  const real = drivers[1]!.send.bind(drivers[1])
  const late: (() => void)[] = []
  drivers[1]!.send = (...words) => new Promise<void>((resolve) => void late.push(resolve)).then(() => real(...words))
  await run(had.release())
  await clock.advance(3100)
  const next = await come(2, 'next', {}, 100)
  assert.deepEqual(names(), ['next'])
  drivers[1]!.send = real
  for (const resolve of late) resolve()
  await run(Promise.all([sleeps.coming, next.coming]))
  assert.equal(await all(), 1)
  assert.deepEqual(names(), ['next', 'sleeps'])
  await end({ unanswered: true })
})

void test('permits lapse and nobody tells → each goes to the first of the line at that time', async () => {
  const { clock, drivers, run, semaphore, come, entered } = await stage(5, 3)
  const began = clock.monotonic()
  for (const lease of [300, 650, 1500]) await run(semaphore(0).acquire({ lease }))
  for (const place of [1, 2, 3]) await come(place, `${place}`, {}, 10_000)
  await drivers[0]!.close()
  await clock.advance(2000)
  assert.deepEqual(
    entered.map(({ name }) => name),
    ['1', '2', '3'],
  )
  const after = entered.map(({ at }) => at - began)
  assert.ok(after[0]! < 320 && after[1]! < 670 && after[2]! < 1520, after.join())
})

void test('one is let in for a short lease and dies → who is first then has it when that is over', async () => {
  const { clock, drivers, run, semaphore, come, entered } = await stage(3, 1)
  const had = await run(semaphore(0).acquire())
  await come(1, 'short', { lease: 200 }, 10_000)
  await come(2, 'next')
  await run(had.release())
  await clock.advance(2)
  assert.equal(entered.length, 1)
  await drivers[1]!.close()
  await clock.advance(230)
  assert.deepEqual(
    entered.map(({ name }) => name),
    ['short', 'next'],
  )
})

for (const lost of ['line', 'due', 'wanted', 'turn'])
  void test(`a key of the line is evicted (${lost}) → those who wait have theirs all the same`, async () => {
    for (const granted of [false, true]) {
      const { clock, raw, drivers, run, semaphore, come, all, end } = await stage(4, 1)
      const had = await run(semaphore(0).acquire())
      const waits = []
      for (const place of [1, 2, 3]) waits.push(await come(place, `${place}`))
      const real = drivers[1]!.send.bind(drivers[1])
      if (granted) {
        drivers[1]!.send = (...words) =>
          new Promise<void>((done) => void clock.setTimer(done, 20)).then(() => real(...words))
        await run(had.release())
      }
      await raw('DEL', key(lost))
      await clock.advance(1200)
      drivers[1]!.send = real
      if (!granted) await run(had.release())
      await run(Promise.all(waits.map(({ coming }) => coming)))
      await clock.advance(3500)
      await run((await run(semaphore(0).acquire())).release())
      assert.equal(await all(), 1)
      await end()
    }
  })

for (const part of ['line', 'due', 'wanted', 'turn'])
  void test(`something else stands at a key of the line (${part}) → a release is done all the same`, async () => {
    const { raw, number, run, semaphore, end } = await stage(2, 2)
    const had = await run(semaphore(0).acquireMany(2))
    await raw('SET', key(part), 'other')
    await run(had[0]!.release())
    assert.equal(await number('GET', 's'), 1)
    await run(semaphore(1).tryAcquire()).catch((error: unknown) => {
      assert.match(String(error), /WRONGTYPE|WRONG_KIND/)
    })
    await raw('DEL', key(part))
    await run(had[1]!.release())
    await run(semaphore(1).setPermits(2))
    await end()
  })

void test('more is wanted than one script grants along the line → whoever is first takes it itself', async () => {
  const { run, semaphore, come, names, all, end } = await stage(3, 1600)
  const had = await run(semaphore(0).acquireMany(1600))
  const waits = [await come(1, 'many', { count: 1500 }, 20), await come(2, 'few', { count: 100 }, 20)]
  await run(semaphore(0).release(had.map(({ id }) => id)))
  await run(Promise.all(waits.map(({ coming }) => coming)))
  assert.deepEqual(names(), ['many', 'few'])
  assert.equal(await all(), 1600)
  await end()
})

void test('an answer of any step along the line is lost → nothing is taken twice, and nothing is left', async () => {
  for (const [who, keys] of [
    [1, 7],
    [0, 7],
    [1, 6],
  ] as const) {
    const { clock, drivers, run, semaphore, come, all, end } = await stage(3, 1)
    const had = await run(semaphore(0).acquire())
    const leaves = new AbortController()
    const waits = [await come(1, 'first', keys === 6 ? { signal: leaves.signal } : {}), await come(2, 'second')]
    drivers[who]!.loses = (count) => count === keys
    if (keys === 6) leaves.abort()
    const released = had.release()
    await clock.advance(20_000)
    await run(released)
    await Promise.allSettled(waits.map(({ coming }) => run(coming)))
    assert.equal(await all(), 1)
    await end({ unanswered: true })
  }
})

void test('callers of one process, within their turn → one script a visit, each with an id of its own, then others have theirs', async () => {
  const { clock, drivers, run, semaphore, come, names, all, end } = await stage(3, 1)
  const had = await run(semaphore(1).acquire())
  const waits = []
  for (let i = 0; i < 40; i++) waits.push(await come(0, 'many', {}, 2))
  waits.push(await come(2, 'another'))
  const before = drivers[0]!.scripts
  await run(had.release())
  await clock.advance(500)
  await run(Promise.all(waits.map(({ coming }) => coming)))
  const first = names().indexOf('another')
  assert.ok(first >= 10 && first <= 35, `${first} before another`)
  assert.ok(drivers[0]!.scripts - before < 60, `${drivers[0]!.scripts - before} scripts for 40 visits`)
  assert.equal(await all(), 1)
  await end()
})

for (const [how, keys] of [
  ['its answer is lost', 4],
  ['it is gone', 0],
] as const)
  void test(`a permit is passed on to another caller here, and ${how} → nobody has it twice, and nothing is left`, async () => {
    const { clock, drivers, raw, run, semaphore, come, entered, all, end } = await stage(1, 1)
    const had = await run(semaphore(0).acquire({ lease: 60_000 }))
    const { coming } = await come(0, 'next')
    if (keys === 0) {
      await raw('ZREMRANGEBYRANK', TIMEOUTS, 0, 0)
      await raw('INCRBY', 's', 1)
    } else drivers[0]!.loses = (count) => count === keys
    const released = had.release()
    await run(coming)
    assert.equal(await run(released), keys !== 0)
    assert.equal(entered.length, 1)
    await clock.advance(130_000)
    assert.equal(await all(), 1)
    await end({ unanswered: true })
  })

void test('there are fewer permits than are taken → what is given back is not passed on', async () => {
  const { clock, run, semaphore, come, names, all, end } = await stage(1, 2)
  const had = await run(semaphore(0).acquireMany(2))
  const { coming } = await come(0, 'next')
  await run(semaphore(0).setPermits(1))
  await run(had[0]!.release())
  await clock.advance(20)
  assert.deepEqual(names(), [])
  await run(had[1]!.release())
  await run(coming)
  assert.equal(await all(), 1)
  await end({ left: 1 })
})

void test('others wait for a message → after a while what is released is left to them, then to ours', async () => {
  const { clock, aside, raw, number, run, semaphore, come, names, end } = await stage(3, 1)
  await aside.subscribe(CHANNEL, 'plain')
  const had = await run(semaphore(0).acquire())
  await clock.advance(100)
  const { coming } = await come(1, 'ours', {}, 50)
  await run(had.release())
  await clock.advance(2)
  assert.deepEqual(names(), [])
  assert.equal(await number('GET', 's'), 1)
  assert.equal(await run(semaphore(2).tryAcquire()), undefined)
  await raw('DECRBY', 's', 1)
  await clock.advance(20)
  assert.deepEqual(names(), [])
  await raw('INCRBY', 's', 1)
  await raw('PUBLISH', CHANNEL, 1)
  await clock.advance(20)
  assert.deepEqual(names(), ['ours'])
  await run(coming)
  await aside.unsubscribe(CHANNEL, 'plain')
  await end()
})

void test('a Redisson gives back what it had, nobody else does → whoever is first of ours has it at once', async () => {
  const { clock, raw, come, names, run, end } = await stage(2, 0)
  const { coming } = await come(1, 'ours')
  await clock.advance(100)
  await raw('INCRBY', 's', 1)
  await raw('PUBLISH', CHANNEL, 1)
  await clock.advance(3)
  assert.deepEqual(names(), ['ours'])
  await run(coming)
  await end({ left: 1 })
})
