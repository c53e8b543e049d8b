import assert from 'node:assert/strict'
import { systemClock } from '#src/base/clock.js'
import type { Hold, World } from './kind.js'
import { exists, foreign, held, lasted, pttl, rejection, timed, times } from './kind.js'
import type { Part } from './kind.js'

const ALLOWANCE = 300_000

const queueOf = (name: string): string => `redisson_lock_queue:{${name}}`
const deadlinesOf = (name: string): string => `redisson_lock_timeout:{${name}}`

const inLine = async (w: World, name: string): Promise<string[]> =>
  (await w.raw('LRANGE', queueOf(name), 0, -1)) as string[]

/** Until when each of the line counts as alive, ms from now by the server's clock. */
const deadlines = async (w: World, name: string): Promise<number[]> => {
  const [seconds, micros] = ((await w.raw('TIME')) as string[]).map(Number) as [number, number]
  const now = seconds * 1000 + micros / 1000
  const flat = (await w.raw('ZRANGE', deadlinesOf(name), 0, -1, 'WITHSCORES')) as (string | string[])[]
  return flat
    .flat()
    .filter((_, index) => index % 2 === 1)
    .map((score) => Number(score) - now)
}

const nobodyInLine = async (w: World, name: string): Promise<void> => {
  assert.deepEqual(await inLine(w, name), [])
  assert.equal(await exists(w, deadlinesOf(name)), false)
}

/** Each comes when the one before stands in the line. */
const oneByOne = async <T>(w: World, name: string, count: number, come: (index: number) => T): Promise<T[]> => {
  const all: T[] = []
  const before = (await inLine(w, name)).length
  for (let index = 0; index < count; index += 1) {
    all.push(come(index))
    await w.eventually(async () => (await inLine(w, name)).length === before + index + 1)
  }
  return all
}

/** What Redisson's own tests say of its fair lock, and nothing else does. */
export const fairLines: Part = (kind, scenario) => {
  const { make, fair = false, options } = kind
  // Older wire formats have lines of their own.
  if (!fair || options !== undefined) return

  scenario(
    'F01: 8 waiters with a lease of 1.5 s each, none of whom releases → in order, one after each lease',
    async (w) => {
      const clients = [await w.connect(), await w.connect()]
      const first = await make(clients[0] as (typeof clients)[0], w.id).acquire({ lease: 30_000 })
      const order: number[] = []
      const waits = await oneByOne(w, w.id, 8, async (index) => {
        const lock = make(clients[index % 2] as (typeof clients)[0], w.id)
        assert.ok((await lock.tryAcquire({ wait: 60_000, lease: 1500 })) !== undefined)
        order.push(index)
      })
      await w.raw('PEXPIRE', w.id, 10)
      const began = w.now()
      await w.run(Promise.all(waits))
      assert.deepEqual(
        order,
        times(8, (index) => index),
      )
      lasted(w, w.now() - began, 7 * 1500, 8 * (1500 + w.patience) + 1000)
      assert.equal(await w.run(first.release()), false)
      await w.eventually(async () => !(await exists(w, w.id)))
    },
  )

  scenario('F02: 40 owners at once, each inside for 10 ms → all get in, one after the other', async (w) => {
    const clients = [await w.connect(), await w.connect()]
    let inside = 0
    let done = 0
    // Without messages each hand-over takes a poll.
    const owners = w.patience > 0 ? 8 : 40
    const visits = times(owners, (index) =>
      make(clients[index % 2] as (typeof clients)[0], w.id).using({ lease: 5000 }, async () => {
        assert.equal((inside += 1), 1, 'two inside')
        await w.pause(10)
        inside -= 1
        done += 1
      }),
    )
    await w.run(Promise.all(visits))
    assert.equal(done, owners)
    await nobodyInLine(w, w.id)
  })

  for (const { id, wait, rounds, serve } of [
    { id: 'F03: waits that time out again and again', wait: 30, rounds: 10, serve: false },
    { id: 'F04 F09: waits that are served again and again', wait: 20_000, rounds: 5, serve: true },
  ]) {
    scenario(`${id}, the last is aborted → nothing has piled up`, async (w) => {
      const client = await w.connect()
      const holder = serve ? undefined : await make(client, w.id).acquire({ lease: 30_000 })
      const worker = async (): Promise<void> => {
        for (let round = 0; round < rounds; round += 1) {
          const hold = await make(client, w.id).tryAcquire({ wait, lease: 30_000 })
          assert.equal(hold !== undefined, serve)
          await w.pause(2)
          await hold?.release()
        }
      }
      const controller = new AbortController()
      const last = await w.run(Promise.all(times(3, worker))).then(async () => {
        const blocker = holder ?? (await make(client, w.id).acquire({ lease: 30_000 }))
        const [waiting] = await oneByOne(w, w.id, 1, () =>
          rejection(make(client, w.id).acquire({ signal: controller.signal })),
        )
        const [left = Infinity] = await deadlines(w, w.id)
        assert.ok(left <= 30_000 + ALLOWANCE, `${left} ms`)
        controller.abort('enough')
        assert.equal(await w.run(waiting ?? assert.fail()), 'enough')
        return blocker
      })
      await nobodyInLine(w, w.id)
      assert.equal(await w.run(make(client, w.id).forceRelease()), true)
      assert.equal(await w.run(last.release()), false)
      assert.equal(await make(client, w.id).isLocked(), false)
    })
  }

  scenario('F05 F07: each place adds one allowance; who leaves the middle or is served adds none', async (w) => {
    const client = await w.connect()
    const first = await make(client, w.id).acquire({ lease: 30_000 })
    const controllers = times(4, () => new AbortController())
    const waits = await oneByOne(w, w.id, 4, (index) => {
      const wait = make(client, w.id).acquire({ signal: controllers[index]?.signal })
      wait.catch(() => undefined)
      return wait
    })
    const spread = async (): Promise<number[]> => (await deadlines(w, w.id)).map((ms) => Math.round(ms / ALLOWANCE))
    assert.deepEqual(await spread(), [1, 2, 3, 4])
    const before = await inLine(w, w.id)
    controllers[1]?.abort('leaves')
    assert.equal(await rejection(w.run(waits[1] ?? assert.fail())), 'leaves')
    assert.deepEqual(await inLine(w, w.id), [before[0], before[2], before[3]])
    let hold = first
    for (const index of [0, 2, 3]) {
      const { value, ms } = await timed(w, () => hold.release().then(() => waits[index] ?? assert.fail()))
      lasted(w, ms, 0, 300)
      hold = value
      for (const left of await deadlines(w, w.id)) assert.ok(left <= 30_000 + 4 * ALLOWANCE + 1000)
    }
    assert.equal(await w.run(hold.release()), true)
    await nobodyInLine(w, w.id)
  })

  scenario('F06: single tries → never in the line, so whoever comes takes a freed lock', async (w) => {
    const [client, other] = [await w.connect(), await w.connect()]
    const attempt = (): Promise<Hold | undefined> => w.run(make(client, w.id).tryAcquire({ lease: 30_000 }))
    const first = await attempt()
    assert.ok(first !== undefined)
    assert.deepEqual([await attempt(), await attempt()], [undefined, undefined])
    await nobodyInLine(w, w.id)
    assert.equal(await w.run(first.release()), true)
    const second = await attempt()
    assert.ok(second !== undefined)
    assert.equal(await attempt(), undefined)
    await w.raw('PEXPIRE', w.id, 50)
    await w.pass(100)
    // Its own process believes in the lease that it asked for.
    const third = await w.run(make(other, w.id).tryAcquire())
    assert.ok(third !== undefined)
    assert.equal(await w.run(second.release()), false)
    assert.equal(await w.run(third.release()), true)
  })

  scenario(
    'F08: the three ahead have died → taken out when their time is over, who comes then is served',
    async (w) => {
      const [one, two] = [await w.connect(), await w.connect()]
      const dead = times(3, (index) => `00000000-0000-8100-8000-00000000000${index}:1`)
      await foreign(kind, w, w.id, 500)
      const [seconds] = ((await w.raw('TIME')) as string[]).map(Number) as [number]
      for (const [index, owner] of dead.entries()) {
        await w.raw('RPUSH', queueOf(w.id), owner)
        await w.raw('ZADD', deadlinesOf(w.id), seconds * 1000 + 600_000 + index, owner)
      }
      assert.equal(await w.run(make(one, w.id).tryAcquire()), undefined)
      const { value, ms } = await timed(w, () => make(one, w.id).acquire())
      // When the lease is over nobody hears of theirs: they are passed over.
      lasted(w, ms, 0, 2500)
      assert.deepEqual(await inLine(w, w.id), dead)
      const next = make(two, w.id).acquire()
      await w.eventually(async () => (await inLine(w, w.id)).length === 1, 6000 + w.patience)
      assert.equal(await w.run(value.release()), true)
      assert.equal(await w.run((await w.run(next)).release()), true)
      await nobodyInLine(w, w.id)
    },
  )

  scenario('F10 G-07: who timed out → leaves nothing that is in another’s way', async (w) => {
    const [one, two] = [await w.connect(), await w.connect()]
    const first = await w.run(make(one, w.id).tryAcquire({ wait: 0 }))
    assert.ok(first !== undefined)
    assert.equal(await w.run(make(two, w.id).tryAcquire({ wait: 200 })), undefined)
    await nobodyInLine(w, w.id)
    assert.equal(await w.run(first.release()), true)
    const next = await w.run(make(one, w.id).tryAcquire({ wait: 0 }))
    assert.ok(next !== undefined)
    assert.equal(await w.run(next.release()), true)
  })

  scenario('F26: owners of one client and of two, one after the other → in the order in which they came', async (w) => {
    const clients = [await w.connect(), await w.connect()]
    const waiters = w.patience > 0 ? 6 : 12
    for (const several of [1, 2]) {
      const first = await make(clients[0] as (typeof clients)[0], w.id).acquire()
      const order: number[] = []
      const waits = await oneByOne(w, w.id, waiters, async (index) => {
        await make(clients[index % several] as (typeof clients)[0], w.id).using(async () => {
          order.push(index)
          await w.pause(5)
        })
      })
      assert.equal(await w.run(first.release()), true)
      await w.run(Promise.all(waits))
      assert.deepEqual(
        order,
        times(waiters, (index) => index),
      )
    }
    await nobodyInLine(w, w.id)
  })

  scenario('F27: a name mapper → the line, its deadlines and the channels bear the mapped name', async (w) => {
    const client = await w.connect({ mapName: (name) => `${w.prefix}test::${name}` })
    const lock = make(client, w.id)
    assert.equal(await lock.isLocked(), false)
    const hold = await lock.acquire()
    assert.equal(await lock.isLocked(), true)
    assert.ok(await exists(w, `${w.prefix}test::${w.id}`))
    const [next] = await oneByOne(w, `${w.prefix}test::${w.id}`, 1, () => lock.acquire())
    assert.equal(await exists(w, deadlinesOf(`${w.prefix}test::${w.id}`)), true)
    assert.equal(await w.run(hold.release()), true)
    assert.equal(await w.run((await w.run(next ?? assert.fail())).release()), true)
    assert.equal(await lock.isLocked(), false)
  })

  scenario(
    'G-25: clients whose clocks are a minute off, both ways → in order, deadlines by the server’s',
    async (w) => {
      const off = (ms: number) => ({ ...systemClock, now: () => systemClock.now() + ms })
      const clients = await Promise.all([60_000, 0, -60_000].map((ms) => w.connect({ clock: off(ms) })))
      const first = await make(clients[0] as (typeof clients)[0], w.id).acquire({ lease: 30_000 })
      const order: number[] = []
      const waits = await oneByOne(w, w.id, 6, async (index) => {
        const hold = await make(clients[(index + 1) % 3] as (typeof clients)[0], w.id).acquire({ lease: 10_000 })
        order.push(index)
        await held(w, hold)
        assert.ok((await pttl(w, w.id)) <= 10_000)
        assert.equal(await hold.release(), true)
      })
      const left = await deadlines(w, w.id)
      assert.ok(
        left.every((ms, place) => Math.abs(ms - ALLOWANCE * (place + 1) - 30_000) < 10_000),
        left.join(),
      )
      assert.equal(await w.run(first.release()), true)
      await w.run(Promise.all(waits))
      assert.deepEqual(order, [0, 1, 2, 3, 4, 5])
      await nobodyInLine(w, w.id)
    },
  )
}
