import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SemaphoreOptions } from 'holdfast'
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

const LINE = 'holdfast_limiter_line:{r}'
const PLACES = 'holdfast_limiter_places:{r}'
const KEYS = { line: LINE, places: PLACES }

class CountingDriver extends MemoryDriver {
  scripts = 0
  deaf = false

  override send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (String(argv[0]).startsWith('EVAL')) this.scripts++
    return super.send(argv, options)
  }

  override subscribe(...what: Parameters<MemoryDriver['subscribe']>): Promise<void> {
    return this.deaf ? Promise.reject(new Error('NOPERM')) : super.subscribe(...what)
  }
}

let stages = 0

/** So many processes and a limiter; the server is asked by `raw` beside them. */
const stage = async (processes: number, permits: number, interval: number) => {
  const clock = virtualClock(1)
  const name = `rate in line ${stages++}`
  const connected = (): MemoryServer => openMemoryServer(name, clock)
  const quiet = (): void => undefined
  const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet }
  const options = settle({ url: 'memory:', clock, presence: false, logger }, {})
  const drivers = Array.from({ length: processes }, () => new CountingDriver(connected(), undefined))
  const clients = await Promise.all(drivers.map((driver) => start(options, driver)))
  const aside = new MemoryDriver(connected(), undefined)
  const spare = await start(options, aside)
  const raw = (...words: (string | number)[]): Promise<Reply> => aside.send(words.map(String))
  const limiter = (place: number) => clients[place]!.rateLimiter('r')

  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let over = false
    const done = (): void => void (over = true)
    promise.then(done, done)
    for (let step = 0; !over && step < 70_000; step++) await clock.advance(1)
    assert.ok(over, 'it goes on for ever')
    return promise
  }
  if (permits > 0) await run(limiter(0).trySetRate({ permits, interval }))

  /** One of this process comes, and says when it has its permits. */
  const served: { name: string; at: number }[] = []
  const come = async (place: number, name: string, options: SemaphoreOptions = {}) => {
    const coming = limiter(place)
      .acquire({ ...options, waitForSetup: true })
      .then(() => void served.push({ name, at: clock.monotonic() }))
    coming.catch(() => undefined)
    await clock.advance(10)
    return { coming }
  }

  const waiting = async (): Promise<string[]> =>
    ((await raw('ZRANGE', LINE, 0, -1)) as string[]).map(String).map(clientOf)

  /** All close: nothing of the line is left. */
  const end = async (): Promise<void> => {
    await run(Promise.all(clients.map((client: Client) => client.close())))
    assert.equal(await raw('EXISTS', LINE, PLACES), 0)
    await run(spare.close())
  }
  const names = (): string[] => served.map(({ name }) => name)

  /** Each process asks again at once, for so long. */
  const contest = async (ms: number, amountOf: (place: number) => number = () => 1) => {
    const visits = clients.map(() => 0)
    let longest = 0
    const until = clock.monotonic() + ms
    const before = drivers.reduce((sum, driver) => sum + driver.scripts, 0)
    const caller = async (place: number): Promise<void> => {
      while (clock.monotonic() < until) {
        const came = clock.monotonic()
        await limiter(place).acquire({ permits: amountOf(place) })
        longest = Math.max(longest, clock.monotonic() - came)
        visits[place]! += 1
      }
    }
    await run(Promise.all(clients.map((_, place) => caller(place))))
    const all = visits.reduce((sum, count) => sum + count)
    const scripts = drivers.reduce((sum, driver) => sum + driver.scripts, 0) - before
    return { visits, longest, all, each: scripts / all }
  }
  return { clock, clients, drivers, raw, run, limiter, come, served, names, waiting, end, contest }
}

for (const [processes, permits, interval] of [
  [4, 20, 1000],
  [16, 20, 1000],
  [48, 20, 1000],
  [16, 1, 50],
] as const)
  void test(`${processes} processes of one caller each, ${permits} permits in ${interval} ms → alike often, in turn, in few steps`, async () => {
    const { end, contest } = await stage(processes, permits, interval)
    const { visits, longest, all, each } = await contest(12_000)
    const rate = permits / interval
    assert.ok(all >= 0.92 * rate * 12_000, `${all} visits`)
    assert.ok(Math.min(...visits) >= Math.floor(0.8 * Math.max(...visits)) - 1, visits.join())
    assert.ok(longest <= (1.5 * processes) / rate + interval, `${longest} ms`)
    assert.ok(each <= 2.6, `${each} scripts a visit`)
    await end()
  })

void test('one of 8 processes wants three at a time → as often as the others, and nobody waits for longer than that takes', async () => {
  const { end, contest } = await stage(8, 20, 1000)
  const { visits, each } = await contest(12_000, (place) => (place === 0 ? 3 : 1))
  assert.ok(Math.min(...visits) >= 0.8 * Math.max(...visits), visits.join())
  assert.ok(each <= 2.6, `${each} scripts a visit`)
  await end()
})

void test('permits are free for a moment while somebody stands in the line → no newcomer has any', async () => {
  const { raw, run, limiter, come, names, end } = await stage(4, 1, 60_000)
  await run(limiter(0).acquire())
  const first = await come(1, 'stands')
  await raw('SET', '{r}:value', 1)
  const { allowed, retryAfter } = await run(limiter(2).tryAcquire())
  assert.deepEqual([allowed, retryAfter > 0], [false, true])
  const second = await come(3, 'newcomer')
  await run(first.coming)
  assert.deepEqual(names(), ['stands'])
  await run(limiter(0).release())
  await run(second.coming)
  await end()
})

void test('who is first wants many, others come one at a time → it is next, and those behind it have the rest', async () => {
  const { clock, run, limiter, come, names, end } = await stage(4, 3, 60_000)
  await run(limiter(0).acquire({ permits: 3 }))
  const all = [await come(1, 'three', { permits: 3 }), await come(2, 'one'), await come(3, 'another')]
  await run(limiter(0).release(2))
  assert.equal((await run(limiter(0).tryAcquire())).allowed, false)
  await clock.advance(100)
  assert.deepEqual(names(), [])
  await run(limiter(0).release())
  await clock.advance(20)
  assert.deepEqual(names(), ['three'])
  await run(limiter(0).release(3))
  await run(Promise.all(all.map(({ coming }) => coming)))
  assert.deepEqual(names(), ['three', 'one', 'another'])
  await end()
})

for (const [first, second] of [
  [1, 2],
  [2, 1],
] as const)
  void test(`the first of a process leaves, which wanted ${first}, and another waits there for ${second} → it has its place`, async () => {
    const { clock, clients, run, limiter, come, names, waiting, end } = await stage(3, 4, 60_000)
    await run(limiter(0).acquire({ permits: 4 }))
    const leaves = new AbortController()
    const { coming } = await come(1, 'first', { permits: first, signal: leaves.signal })
    const others = [await come(2, 'of another', { permits: 2 }), await come(1, 'second', { permits: second })]
    leaves.abort()
    await assert.rejects(run(coming))
    await clock.advance(5)
    assert.deepEqual(await waiting(), [clients[1]!.id, clients[2]!.id])
    await run(limiter(0).release(4))
    await run(Promise.all(others.map((other) => other.coming)))
    assert.deepEqual(names(), ['second', 'of another'])
    await end()
  })

void test('three wait in each of two processes → each process stands in the line once, and they take turns', async () => {
  const { clock, clients, run, come, names, waiting, end } = await stage(3, 1, 500)
  const all = [(await come(0, '0')).coming]
  for (let round = 0; round < 3; round++) {
    for (const place of [1, 2]) all.push((await come(place, `${place}`)).coming)
  }
  await clock.advance(50)
  assert.deepEqual(await waiting(), [clients[1]!.id, clients[2]!.id])
  await run(Promise.all(all))
  assert.deepEqual(names(), ['0', '1', '2', '1', '2', '1', '2'])
  assert.deepEqual(await waiting(), [])
  await end()
})

void test('more is free than the line wants, at once → as many as there are permits for, few steps', async () => {
  const { clock, drivers, run, limiter, come, served, end } = await stage(5, 40, 60_000)
  await run(limiter(0).acquire({ permits: 40 }))
  const all = []
  for (const place of [1, 2, 3, 4]) for (let i = 0; i < 20; i++) all.push((await come(place, `${place}`)).coming)
  const before = drivers.reduce((sum, { scripts }) => sum + scripts, 0)
  await run(limiter(0).release(40))
  await clock.advance(30)
  assert.equal(served.length, 40)
  for (const place of [1, 2, 3, 4]) {
    const share = served.filter(({ name }) => name === `${place}`).length
    assert.ok(share >= 5, `${place}: ${share}`)
  }
  const scripts = drivers.reduce((sum, driver) => sum + driver.scripts, 0) - before
  assert.ok(scripts <= 24, `${scripts} scripts`)
  await run(limiter(0).release(40))
  await run(Promise.all(all))
  await end()
})

void test('a process that stands in the line died → the next has its permits at once', async () => {
  const { clock, drivers, run, limiter, come, served, end } = await stage(4, 2, 60_000)
  await run(limiter(0).acquire({ permits: 2 }))
  await come(1, 'dead')
  const others = [(await come(2, 'lives')).coming, (await come(3, 'behind')).coming]
  await drivers[1]!.close()
  const released = clock.monotonic()
  await run(limiter(0).release(2))
  await run(Promise.all(others))
  assert.deepEqual(
    served.map(({ name }) => name),
    ['lives', 'behind'],
  )
  assert.ok(served[1]!.at - released <= 20, `${served[1]!.at - released} ms`)
  await end().catch(() => undefined)
})

void test('the first of the line is stopped and seems to listen → the next has its permits within 3 s, then nobody waits for it', async () => {
  const { clock, drivers, run, limiter, come, served } = await stage(6, 2, 60_000)
  await run(limiter(0).acquire({ permits: 2 }))
  await come(1, 'stopped')
  const all = []
  for (const place of [2, 3]) all.push((await come(place, `${place}`)).coming)
  drivers[1]!.send = () => new Promise(() => undefined)
  const released = clock.monotonic()
  await run(limiter(0).release(2))
  await run(Promise.all(all))
  for (const { name, at } of served) assert.ok(at - released <= 3000, `${name}: ${at - released} ms`)
  const again = (await come(4, '4')).coming
  const at = clock.monotonic()
  await run(limiter(0).release(1))
  await run(again)
  assert.ok(served.at(-1)!.at - at <= 20, `${served.at(-1)!.at - at} ms`)
})

void test('the first of the line was stopped for a while → it is first still', async () => {
  const { clock, clients, drivers, run, limiter, come, served, waiting, end } = await stage(4, 1, 60_000)
  await run(limiter(0).acquire())
  const stopped = (await come(1, 'stopped')).coming
  const other = (await come(2, 'other')).coming
  const send = drivers[1]!.send.bind(drivers[1])
  let goOn: () => void = () => undefined
  const going = new Promise<void>((resolve) => (goOn = resolve))
  drivers[1]!.send = async (...what) => {
    await going
    return send(...what)
  }
  await run(limiter(0).release())
  await run(other)
  const last = (await come(3, 'last')).coming
  assert.deepEqual((await waiting())[0], clients[1]!.id)
  goOn()
  await clock.advance(20)
  await run(limiter(0).release())
  await run(stopped)
  await run(limiter(0).release())
  await run(last)
  assert.deepEqual(
    served.map(({ name }) => name),
    ['other', 'stopped', 'last'],
  )
  await end()
})

void test('one of 6 processes cannot subscribe → it has its turns, and takes nobody’s', async () => {
  const { drivers, end, contest } = await stage(6, 20, 1000)
  drivers[2]!.deaf = true
  const { visits, all } = await contest(12_000)
  assert.ok(all >= 0.92 * 240, `${all} visits`)
  assert.ok(Math.min(...visits) >= 0.5 * Math.max(...visits), visits.join())
  await end()
})

void test('nobody can subscribe → all have their turns', async () => {
  const { drivers, end, contest } = await stage(6, 20, 1000)
  for (const driver of drivers) driver.deaf = true
  const { visits, all } = await contest(12_000)
  assert.ok(all >= 0.8 * 240, `${all} visits`)
  assert.ok(Math.min(...visits) >= 0.6 * Math.max(...visits), visits.join())
  await end()
})

for (const [what, key] of Object.entries(KEYS))
  void test(`a key of the line is evicted again and again (${what}) → those who wait have theirs all the same`, async () => {
    const { clock, raw, end, contest } = await stage(6, 20, 1000)
    let over = false
    const evicts = async (): Promise<void> => {
      while (!over) {
        await new Promise<void>((resolve) => void clock.setTimer(resolve, 2700))
        await raw('DEL', key)
      }
    }
    const evicting = evicts()
    const { visits, all, longest } = await contest(12_000)
    over = true
    assert.ok(all >= 0.8 * 240, `${all} visits`)
    assert.ok(longest < 3000, `${longest} ms, ${visits.join()}`)
    assert.ok(Math.min(...visits) > 5, visits.join())
    await clock.advance(2700)
    await evicting
    await end()
  })

for (const [what, key] of Object.entries(KEYS))
  void test(`something else stands at a key of the line (${what}) → an error of its own, what is given back is back`, async () => {
    const { raw, run, limiter, end } = await stage(2, 2, 60_000)
    await run(limiter(0).acquire({ permits: 2 }))
    await raw('SET', key, 'other')
    await run(limiter(0).release())
    assert.equal(Number(String(await raw('GET', '{r}:value'))), 1)
    await run(limiter(1).tryAcquire()).catch((error: unknown) => {
      assert.match(String(error), /WRONGTYPE|WRONG_KIND/)
    })
    await raw('DEL', key)
    assert.equal(await run(limiter(0).available()), what === 'line' ? 1 : 0)
    await end()
  })

for (const score of ['-inf', '1', 'inf'])
  void test(`another program has left 100,000 members in the line (${score}) → whoever waits has its permits all the same`, async () => {
    const { raw, run, limiter, come, served, clock, end } = await stage(3, 2, 60_000)
    await run(limiter(0).acquire({ permits: 2 }))
    for (let part = 0; part < 100; part++)
      await raw('ZADD', LINE, ...Array.from({ length: 1000 }, (_, i) => [score, `${part} ${i}`]).flat())
    const all = [(await come(1, 'one')).coming, (await come(2, 'two')).coming]
    await clock.advance(100)
    await run(limiter(0).release(2))
    const released = clock.monotonic()
    await run(Promise.all(all))
    for (const { name, at } of served) assert.ok(at - released < 3000, `${name}: ${at - released} ms`)
    await raw('DEL', LINE)
    await end()
  })

void test('messages that say something else → a question each, and nobody waits for longer', async () => {
  const { clients, raw, run, limiter, come, served, clock, end } = await stage(3, 1, 400)
  await run(limiter(0).acquire())
  const began = clock.monotonic()
  const all = [(await come(1, 'one')).coming, (await come(2, 'two')).coming]
  for (const said of ['99999', '0', '-1', 'x', '1e9', '', '30000', '5'])
    for (const place of [1, 2]) await raw('PUBLISH', `holdfast_limiter_grant:{r}:${clients[place]!.id}`, said)
  await run(Promise.all(all))
  assert.deepEqual(
    served.map(({ name }) => name),
    ['one', 'two'],
  )
  assert.ok(served[1]!.at - began <= 820, `${served[1]!.at - began} ms`)
  await end()
})

void test('some wait before a rate is set → they are told, in their order', async () => {
  const { run, limiter, come, served, clock, end } = await stage(4, 0, 0)
  const all = [1, 2, 3].map((place) => come(place, `${place}`))
  const coming = []
  for (const one of all) coming.push((await one).coming)
  await clock.advance(300)
  const began = clock.monotonic()
  await run(limiter(0).trySetRate({ permits: 3, interval: 1000 }))
  await run(Promise.all(coming))
  assert.ok(served.at(-1)!.at - began <= 30, `${served.at(-1)!.at - began} ms`)
  await end()
})

void test('permits of each client for itself → nobody stands in a line', async () => {
  const { run, limiter, raw, contest, end } = await stage(3, 0, 0)
  await run(limiter(0).trySetRate({ permits: 5, interval: 100, scope: 'client' }))
  const { visits, each } = await contest(2000)
  for (const count of visits) assert.ok(count >= 95 && count <= 106, visits.join())
  assert.ok(each <= 1.5, `${each} scripts a visit`)
  assert.equal(await raw('EXISTS', LINE, PLACES), 0)
  await end()
})
