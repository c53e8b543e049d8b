import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { TURN, stage } from '../../support/semaphore-stage.js'
import { type Wire, onWire } from '../../support/wire.js'

const CHANNEL = 'redisson_sc:{s}'

for (const permits of [1, 2, 5])
  void test(`12 processes of one caller each, ${permits} permits, 20 ms a visit → alike often, in turn, in few steps`, async () => {
    const { clock, clients, drivers, pause, run, semaphore, end } = await stage(12, permits)
    const visits = clients.map(() => 0)
    let [inside, longest] = [0, 0]
    const caller = async (place: number): Promise<void> => {
      while (clock.monotonic() < 8000) {
        const came = clock.monotonic()
        await semaphore(place).using(async () => {
          assert.ok(++inside <= permits)
          longest = Math.max(longest, clock.monotonic() - came)
          await pause(20)
          inside--
          visits[place]! += 1
        })
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
  await run(semaphore(0).acquire())
  const { coming } = await come(1, 'stands', {}, 50)
  await raw('SET', 's', 1)
  assert.equal(await run(semaphore(2).tryAcquire()), false)
  await run(coming)
  assert.deepEqual(names(), ['stands'])
  await end()
})

void test('who is first wants many, others come one at a time → it is next, and those behind it have the rest', async () => {
  const { run, semaphore, come, names, waiting, clients, end } = await stage(4, 3)
  await run(semaphore(0).acquire({ permits: 3 }))
  const all = [await come(1, 'three', { permits: 3 }, 30), await come(2, 'one'), await come(3, 'another')]
  assert.deepEqual(
    await waiting(),
    [1, 2, 3].map((place) => clients[place]!.id),
  )
  await run(semaphore(0).release(2))
  assert.equal(await run(semaphore(0).tryAcquire()), false)
  assert.deepEqual(names(), [])
  await run(semaphore(0).release())
  await run(Promise.all(all.map(({ coming }) => coming)))
  assert.deepEqual(names(), ['three', 'one', 'another'])
  await end()
})

void test('several are given back at once → as many go as there are permits for, in one step', async () => {
  const { clock, run, semaphore, come, entered, end } = await stage(5, 4)
  await run(semaphore(0).acquire({ permits: 4 }))
  const all = []
  for (const place of [1, 2, 3, 4]) all.push(await come(place, `${place}`, {}, 20))
  await run(semaphore(0).release(4))
  await clock.advance(5)
  assert.equal(entered.length, 4)
  await run(Promise.all(all.map(({ coming }) => coming)))
  await end()
})

for (const [first, second] of [
  [1, 2],
  [2, 1],
] as const)
  void test(`the first of a process leaves, which wanted ${first}, and another waits there for ${second} → it has its place`, async () => {
    const { clock, clients, run, semaphore, come, names, waiting, end } = await stage(3, 2)
    await run(semaphore(0).acquire({ permits: 2 }))
    const leaves = new AbortController()
    const { coming } = await come(1, 'first', { permits: first, signal: leaves.signal })
    const others = [await come(2, 'of another', { permits: 2 }), await come(1, 'second', { permits: second })]
    leaves.abort()
    await assert.rejects(run(coming))
    await clock.advance(5)
    assert.deepEqual(await waiting(), [clients[1]!.id, clients[2]!.id])
    await run(semaphore(0).release(2))
    await run(Promise.all(others.map((other) => other.coming)))
    assert.deepEqual(names(), ['second', 'of another'])
    await end()
  })

void test('granted as its only caller leaves → the next has it, nothing is left', async () => {
  for (const after of [0, 1, 2, 3]) {
    const { clock, run, semaphore, come, names, end } = await stage(3, 1)
    await run(semaphore(0).acquire())
    const leaves = new AbortController()
    const { coming } = await come(1, 'leaves', { signal: leaves.signal }, 5)
    const next = await come(2, 'next')
    const released = semaphore(0).release()
    await clock.advance(after)
    leaves.abort()
    await Promise.allSettled([run(coming), run(released)])
    await run(next.coming)
    assert.equal(names().at(-1), 'next')
    await end()
  }
})

void test('granted as its first caller leaves, before a single try for more and one who waits → that one has it at once', async () => {
  for (const after of [0, 1, 2, 3]) {
    const { clock, run, semaphore, come, entered, end } = await stage(3, 1)
    await run(semaphore(0).acquire())
    const leaves = new AbortController()
    const { coming } = await come(1, 'leaves', { signal: leaves.signal })
    const released = semaphore(0).release()
    await clock.advance(after)
    const tried = semaphore(1).tryAcquire({ permits: 2 })
    const next = come(1, 'waits')
    leaves.abort()
    await Promise.allSettled([run(coming), run(released)])
    const at = clock.monotonic()
    assert.equal(await run(tried), false)
    await run((await next).coming)
    const waited = (entered.find(({ name }) => name === 'waits')?.at ?? Infinity) - at
    assert.ok(waited < 20, `${waited} ms, ${after} ms after the release`)
    await end()
  }
})

void test('three wait in each of two processes → each process stands in the line once', async () => {
  const { clock, clients, run, semaphore, come, names, waiting, end } = await stage(3, 1)
  await run(semaphore(0).acquire())
  const all: Promise<unknown>[] = []
  for (let round = 0; round < 3; round++) {
    for (const place of [1, 2]) all.push((await come(place, `${place}`)).coming)
  }
  await clock.advance(2500)
  assert.deepEqual(await waiting(), [clients[1]!.id, clients[2]!.id])
  await run(semaphore(0).release())
  await run(Promise.all(all))
  assert.equal(names().length, 6)
  assert.deepEqual(await waiting(), [])
  await end()
})

void test('a process that stands in the line died → the next has its permit at once, and it is not seen there for long', async () => {
  const { clock, drivers, run, semaphore, come, entered, waiting, end, clients } = await stage(4, 1)
  await run(semaphore(0).acquire())
  await come(1, 'dead')
  const others = [(await come(2, 'lives', {}, 6000)).coming, (await come(3, 'behind')).coming]
  await drivers[1]!.close()
  await run(semaphore(0).release())
  const released = clock.monotonic()
  await clock.advance(5500)
  assert.deepEqual(
    entered.map(({ name }) => name),
    ['lives'],
  )
  assert.ok(entered[0]!.at - released <= 2, `${entered[0]!.at - released} ms`)
  assert.deepEqual(await waiting(), [clients[3]!.id])
  await run(Promise.all(others))
  await end()
})

void test('what was granted to somebody who hears nothing any more → given back after 3 s', async () => {
  const { clock, drivers, raw, run, semaphore, come, entered } = await stage(3, 1)
  await run(semaphore(0).acquire())
  await come(1, 'silent')
  const { coming } = await come(2, 'next')
  // It is subscribed, and answers nothing.
  drivers[1]!.send = () => new Promise(() => undefined)
  await run(semaphore(0).release())
  const released = clock.monotonic()
  assert.equal(Number(String(await raw('GET', 's'))), 0)
  await run(coming)
  const [{ name, at } = { name: '', at: 0 }] = entered
  assert.equal(name, 'next')
  assert.ok(at - released >= 2900 && at - released <= 4200, `${at - released} ms`)
  await drivers[1]!.close()
})

void test('nobody comes for long after a grant to who is dead → it is given back to the first who comes', async () => {
  const { clock, drivers, run, semaphore, come, entered } = await stage(3, 1)
  await run(semaphore(0).acquire())
  await come(1, 'silent')
  drivers[1]!.send = () => new Promise(() => undefined)
  await run(semaphore(0).release())
  await drivers[0]!.close()
  await clock.advance(600_000)
  const { coming } = await come(2, 'comes')
  await run(coming)
  assert.equal(entered.length, 1)
})

for (const lost of ['line', 'due', 'wanted'])
  void test(`a key of the line is evicted (${lost}) → those who wait have theirs all the same`, async () => {
    const { clock, raw, run, semaphore, come, end } = await stage(4, 1)
    await run(semaphore(0).acquire())
    const all = []
    for (const place of [1, 2, 3]) all.push(await come(place, `${place}`))
    await raw('DEL', `holdfast_permits_${lost}:{s}`)
    await clock.advance(1200)
    await run(semaphore(0).release())
    await run(Promise.all(all.map(({ coming }) => coming)))
    await end()
  })

for (const key of ['line', 'due', 'wanted', 'turn'])
  void test(`something else stands at a key of the line (${key}) → a release is done all the same`, async () => {
    const { raw, run, semaphore, end } = await stage(2, 2)
    await run(semaphore(0).acquire({ permits: 2 }))
    await raw('SET', `holdfast_permits_${key}:{s}`, 'other')
    await run(semaphore(0).release())
    assert.equal(Number(String(await raw('GET', 's'))), 1)
    await run(semaphore(1).tryAcquire()).catch((error: unknown) => {
      assert.match(String(error), /WRONGTYPE|WRONG_KIND/)
    })
    await raw('DEL', `holdfast_permits_${key}:{s}`)
    await raw('SET', 's', 2)
    await end()
  })

void test('others wait for a message → after a while what is released is left to them, then to ours', async () => {
  const { clock, aside, raw, run, semaphore, come, names, end } = await stage(3, 1)
  await aside.subscribe(CHANNEL, 'plain')
  await run(semaphore(0).acquire())
  await clock.advance(100)
  const { coming } = await come(1, 'ours', {}, 50)
  await run(semaphore(0).release())
  await clock.advance(2)
  assert.deepEqual(names(), [])
  assert.equal(Number(String(await raw('GET', 's'))), 1)
  assert.equal(await run(semaphore(2).tryAcquire()), false)
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
  await end(1)
})

const actors: Redis[] = []

const closeActors = (): void => {
  for (const actor of actors.splice(0)) actor.disconnect()
}

const TRY = `
local value = redis.call('get', KEYS[1])
if value ~= false and tonumber(value) >= tonumber(ARGV[1]) then
  redis.call('decrby', KEYS[1], ARGV[1])
  return 1
end
return 0`
const RELEASE = `
local value = redis.call('incrby', KEYS[1], ARGV[1])
redis.call('publish', KEYS[2], value)`

const onThisWire = (wire: Wire): void => {
  /** For 4 s each side wants a permit all the time, for 5 ms, as so many callers; how often each had one. */
  const contest = async (permits: number, callers: number): Promise<{ ours: number; theirs: number }> => {
    await wire.redis.set('s', permits)
    const had = { ours: 0, theirs: 0 }
    let inside = 0
    const visit = async (side: keyof typeof had): Promise<void> => {
      assert.ok(++inside <= permits)
      await sleep(5)
      inside--
      had[side] += 1
    }
    const until = performance.now() + 4000
    const ours = async (): Promise<void> => {
      const client = await wire.open()
      while (performance.now() < until) await client.semaphore('s').using(() => visit('ours'))
      await client.close()
    }
    /** As Redisson's threads do: a try, a subscription, and a try after each message. */
    const theirs = async (): Promise<void> => {
      const [commands, messages] = [new Redis(wire.url), new Redis(wire.url)]
      actors.push(commands, messages)
      while (performance.now() < until) {
        let had = (await commands.eval(TRY, 1, 's', 1)) === 1
        if (!had) {
          let wake: () => void = () => undefined
          let told = false
          messages.on('message', () => {
            told = true
            wake()
          })
          await messages.subscribe(CHANNEL)
          for (;;) {
            had = (await commands.eval(TRY, 1, 's', 1)) === 1
            if (had || performance.now() > until + 500) break
            if (!told) await Promise.race([new Promise<void>((resolve) => (wake = resolve)), sleep(500)])
            told = false
          }
          messages.removeAllListeners('message')
          await messages.unsubscribe(CHANNEL)
        }
        if (!had) break
        await visit('theirs')
        await commands.eval(RELEASE, 2, 's', CHANNEL, 1)
        // So long a thread takes until it asks again.
        await sleep(2)
      }
    }
    await Promise.all(Array.from({ length: callers }, () => [ours(), theirs()]).flat())
    assert.equal(await wire.redis.get('s'), String(permits))
    await wire.redis.del('s', TURN)
    return had
  }

  for (const [permits, callers] of [
    [1, 1],
    [2, 3],
  ] as const)
    void test(`beside as many Redissons, ${callers}, with ${permits} permits → turns are left to either`, async () => {
      const isShared = ({ ours, theirs }: { ours: number; theirs: number }): boolean =>
        Math.min(ours, theirs) >= (ours + theirs) / 4
      const first = await contest(permits, callers)
      // The machine may have been busy with something else.
      const again = isShared(first) ? first : await contest(permits, callers)
      assert.ok(isShared(again), JSON.stringify([first, again]))
    })
}

await onWire('the line of a semaphore', onThisWire, closeActors)
