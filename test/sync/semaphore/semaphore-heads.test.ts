import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LINE, stage } from '../../support/semaphore-stage.js'

const CHANNEL = 'redisson_sc:{s}'

type Stage = Awaited<ReturnType<typeof stage>>

/** A Redisson gives back a permit that it has had for long. */
const givenBack = async ({ raw }: Stage): Promise<void> => {
  await raw('INCRBY', 's', 1)
  await raw('PUBLISH', CHANNEL, 1)
}

/** How long it takes until this one has its permit, ms. */
const untilEntered = async ({ clock, entered }: Stage, name: string): Promise<number> => {
  const began = clock.monotonic()
  for (let ms = 0; ms < 6000; ms++) {
    const found = entered.find((one) => one.name === name)
    if (found !== undefined) return found.at - began
    await clock.advance(1)
  }
  return Infinity
}

void test('whoever was first leaves, and a Redisson gives back → the next one has it at once', async () => {
  const s = await stage(3, 0)
  const leaves = new AbortController()
  const first = await s.come(0, 'first', { signal: leaves.signal })
  const next = await s.come(1, 'next')
  leaves.abort()
  await assert.rejects(s.run(first.coming))
  await s.clock.advance(60)
  await givenBack(s)
  assert.ok((await untilEntered(s, 'next')) <= 5)
  await s.run(next.coming)
  await s.end(1)
})

void test('two Redissons give back, one after the other → each of those who wait has one at once', async () => {
  const s = await stage(3, 0)
  const all = [await s.come(0, 'first', {}, 5000), await s.come(1, 'second', {}, 5000), await s.come(2, 'third')]
  await s.clock.advance(60)
  await givenBack(s)
  assert.ok((await untilEntered(s, 'first')) <= 5)
  await s.clock.advance(60)
  await givenBack(s)
  assert.ok((await untilEntered(s, 'second')) <= 5)
  await s.run(Promise.all(all.map(({ coming }) => coming)))
  await s.end(2)
})

void test('a Redisson has lately had its turn, and ours give a permit to one of ours → the next of ours hears a Redisson’s release', async () => {
  const s = await stage(4, 2)
  await s.run(s.semaphore(0).acquire())
  await s.raw('DECRBY', 's', 1)
  const all = [await s.come(1, 'first', {}, 5000), await s.come(2, 'second')]
  await s.raw('HSET', 'holdfast_permits_turn:{s}', 'since', s.clock.now(), 'came', s.clock.now())
  await s.run(s.semaphore(0).release())
  await s.clock.advance(40)
  await givenBack(s)
  assert.ok((await untilEntered(s, 'second')) <= 5)
  await s.raw('DEL', 'holdfast_permits_turn:{s}')
  await s.run(Promise.all(all.map(({ coming }) => coming)))
  await s.end(2)
})

void test('long visits of ours alone → three steps each, whoever is first next', async () => {
  const { clock, drivers, pause, run, semaphore, clients, end } = await stage(6, 2)
  let visits = 0
  const caller = async (place: number): Promise<void> => {
    while (clock.monotonic() < 8000) {
      await semaphore(place).using(async () => {
        await pause(20)
        visits++
      })
    }
  }
  await run(Promise.all(clients.map((_, place) => caller(place))))
  const scripts = drivers.reduce((sum, driver) => sum + driver.scripts, 0)
  assert.ok(scripts / visits <= 3.1, `${scripts / visits} scripts a visit`)
  await end()
})

/** Each process of one caller all the time: how often each was there, and how long somebody waited at most. */
const contest = async (s: Stage, turn: number): Promise<{ visits: number[]; longest: number; scripts: number }> => {
  const visits = s.clients.map(() => 0)
  let longest = 0
  const caller = async (place: number): Promise<void> => {
    while (s.clock.monotonic() < 12_000) {
      const came = s.clock.monotonic()
      await s.semaphore(place).using(async () => {
        longest = Math.max(longest, s.clock.monotonic() - came)
        await s.pause(turn)
        visits[place]! += 1
      })
    }
  }
  await s.run(Promise.all(s.clients.map((_, place) => caller(place))))
  return { visits, longest, scripts: s.drivers.reduce((sum, driver) => sum + driver.scripts, 0) }
}

void test('the server counts nobody, as behind a proxy → in turn, and a release does not wake everybody', async () => {
  const s = await stage(12, 1)
  s.server().pubsub.count = () => 0
  const { visits, longest, scripts } = await contest(s, 20)
  const all = visits.reduce((sum, count) => sum + count)
  assert.ok(Math.min(...visits) >= 0.7 * Math.max(...visits), visits.join())
  assert.ok(longest <= 3 * 12 * 20, `${longest} ms`)
  assert.ok(all > 400, `${all} visits`)
  assert.ok(scripts / all <= 5.5, `${scripts / all} scripts a visit`)
  await s.end()
})

void test('one of four cannot subscribe → it has its turns, the others are not much slower for it', async () => {
  const s = await stage(4, 1)
  s.drivers[0]!.subscribe = () => Promise.reject(new Error('NOPERM no such channel for you'))
  const { visits, longest } = await contest(s, 20)
  // Each of its turns may cost a poll.
  assert.ok(visits[0]! >= 10, visits.join())
  assert.ok(longest <= 3000, `${longest} ms`)
  await s.end()
})

for (const lost of ['line', 'due', 'wanted'] as const)
  void test(`granted to who answers nothing, and a key of the line is evicted (${lost}) → given back once, after 3 s`, async () => {
    const s = await stage(3, 2)
    await s.run(s.semaphore(0).acquire({ permits: 2 }))
    await s.come(1, 'silent', { permits: 2 })
    s.drivers[1]!.send = () => new Promise(() => undefined)
    await s.run(s.semaphore(0).release(2))
    assert.equal(Number(String(await s.raw('GET', 's'))), 0)
    await s.raw('DEL', `holdfast_permits_${lost}:{s}`)
    const { coming } = await s.come(2, 'next', {}, 20)
    const took = await untilEntered(s, 'next')
    assert.ok(took >= 2900 && took <= 4200, `${took} ms`)
    await s.run(coming)
    await s.clock.advance(5000)
    await s.run(s.semaphore(2).tryAcquire())
    assert.equal(Number(String(await s.raw('GET', 's'))), 1)
    await s.drivers[1]!.close()
  })

void test('granted on trial, and its amount is evicted → it has its permits, and nobody has them twice', async () => {
  const s = await stage(3, 2)
  await s.run(s.semaphore(0).acquire({ permits: 2 }))
  const { send } = s.drivers[1]!
  const { coming } = await s.come(1, 'slow', { permits: 2 }, 20)
  s.drivers[1]!.send = async (...args) => {
    await s.pause(50)
    return send.apply(s.drivers[1]!, args)
  }
  await s.run(s.semaphore(0).release(2))
  await s.clock.advance(5)
  await s.raw('DEL', 'holdfast_permits_wanted:{s}')
  await s.run(coming)
  await s.end()
})

void test('deleted and made anew while a grant is on trial → it does not come back to the new one', async () => {
  const s = await stage(3, 1)
  await s.run(s.semaphore(0).acquire())
  await s.come(1, 'silent')
  s.drivers[1]!.send = () => new Promise(() => undefined)
  await s.run(s.semaphore(0).release())
  assert.equal(await s.run(s.semaphore(0).delete()), true)
  assert.equal(await s.run(s.semaphore(0).trySetPermits(1)), true)
  await s.clock.advance(5000)
  assert.equal(await s.run(s.semaphore(2).tryAcquire()), true)
  assert.equal(await s.run(s.semaphore(2).tryAcquire()), false)
  assert.equal(Number(String(await s.raw('GET', 's'))), 0)
  await s.drivers[1]!.close()
})

void test('deleted while several wait → each is told so within a poll, and nothing is left', async () => {
  const s = await stage(3, 1)
  await s.run(s.semaphore(0).acquire())
  const all = [await s.come(1, 'first'), await s.come(2, 'second')]
  await s.run(s.semaphore(0).delete())
  for (const { coming } of all) await assert.rejects(s.run(coming), { name: 'NotInitializedError' })
  await s.run(s.semaphore(0).trySetPermits(1))
  await s.end()
})

void test('permits are taken away while some wait → nobody has any until there are enough again', async () => {
  const s = await stage(3, 2)
  await s.run(s.semaphore(0).acquire({ permits: 2 }))
  const { coming } = await s.come(1, 'waits')
  await s.run(s.semaphore(0).addPermits(-2))
  await s.run(s.semaphore(0).release(2))
  await s.clock.advance(1500)
  assert.deepEqual(s.names(), [])
  await s.run(s.semaphore(2).addPermits(2))
  await s.run(coming)
  await s.end(2)
})

void test('drained while some wait, then given back → they have theirs', async () => {
  const s = await stage(3, 2)
  await s.run(s.semaphore(0).acquire())
  const { coming } = await s.come(1, 'waits', { permits: 2 })
  assert.equal(await s.run(s.semaphore(2).drain()), 1)
  await s.run(s.semaphore(2).release())
  assert.deepEqual(s.names(), [])
  await s.run(s.semaphore(0).release())
  await s.run(coming)
  await s.end()
})

void test('a line of 2,000 places of nobody, each in its way → who waits is served', async () => {
  for (const [fraction, ahead] of [
    ['', 1e9],
    ['.5', -1000],
    ['.75', 1e12],
  ] as const) {
    const s = await stage(2, 1)
    const places = Array.from(
      { length: 2000 },
      (_, i) => `${String(i).padStart(8, '0')}-dead-8000-8000-000000000000:${i}`,
    )
    await s.raw('RPUSH', LINE, ...places)
    const due = `${s.clock.now() + ahead}${fraction}`
    await s.raw('ZADD', 'holdfast_permits_due:{s}', ...places.flatMap((place) => [due, place]))
    await s.raw('HSET', 'holdfast_permits_wanted:{s}', ...places.flatMap((place) => [place, -1]))
    const { coming } = await s.come(0, 'lives')
    await s.run(coming)
    assert.deepEqual(s.names(), ['lives'])
    await s.run(Promise.all(s.clients.map((client) => client.close())))
  }
})

void test('the list of a busy line is evicted again and again → everybody has turns all the same', async () => {
  const s = await stage(6, 1)
  const visits = s.drivers.map(() => 0)
  const until = s.clock.monotonic() + 20_000
  const callers = visits.map(async (_, place) => {
    while (s.clock.monotonic() < until)
      await s.semaphore(place).using(async () => {
        visits[place]! += 1
        await s.pause(20)
      })
  })
  const evicted = (async () => {
    for (let time = 0; time < 4; time++) {
      await s.pause(1000)
      await s.raw('DEL', LINE)
    }
  })()
  await s.clock.advance(6000)
  const before = [...visits]
  await s.clock.advance(10_000)
  for (const [place, count] of visits.entries())
    assert.ok(count - before[place]! > 20, `${visits.join()} after ${before.join()}`)
  await s.run(Promise.all([...callers, evicted]))
  await s.end()
})
