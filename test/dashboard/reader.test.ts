import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type ListedLock } from 'holdfast'
import { changed } from '#src/dashboard/lock-changes.js'
import { Picture, type Step } from '#src/dashboard/compare-readings.js'
import { Rates } from '#src/dashboard/hand-over-rates.js'
import { Reader } from '#src/dashboard/reader.js'
import { aliases, type Before, freed, lockIds, type Seen, shown as shownWith } from '#src/dashboard/lock-for-page.js'
import { type Difference, type ShownLock, WINDOW } from '#src/dashboard/page-messages.js'
import { Streams } from '#src/dashboard/streams.js'
import { seeded } from '../support/random.js'
import { until } from '../support/until.js'
import { heldBy, heldLock, listing, overriding } from './stage.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const alias = (text: string): string => text
const idOf = lockIds()
const shown = (lock: ListedLock, seen: Omit<Seen, 'idOf'>): ShownLock => shownWith(lock, { ...seen, idOf })

type Read = readonly [now: number, remaining: number, count?: number]

/** The lock after readings at these times, each with what was left of its lease. */
const afterReadings = (readings: readonly Read[], holder: object = {}): Before => {
  let last: Before | undefined
  for (const [now, remaining, count = 1] of readings) {
    const held = heldLock('deploy', remaining)
    const lock = { ...held, holders: [{ ...heldBy(held), ...holder, count }] } as ListedLock
    last = { lock: shown(lock, { now, alias, before: () => last }), seen: now }
  }
  return last ?? assert.fail()
}

const after = (...readings: readonly Read[]): Before => afterReadings(readings)

const REDISSON = { client: '6fd2a4c8-1b2c-4d5e-8f90-a1b2c3d4e5f6', label: undefined }

/** The lock of a thread of Redisson. */
const ofThread = (...readings: readonly Read[]): ShownLock => afterReadings(readings, REDISSON).lock

const difference: Difference = {
  ...{ at: 0, now: 0, reading: 'r7', after: 'r7', every: 1000, where: '', cycles: [], rates: [], schedules: [] },
  ...{ trouble: null, missing: null, hidden: 0, set: [], changed: [], gone: [] },
}

/** A reader that reads when it is told to. */
const told = () => {
  let listener: (difference: Difference) => void = () => undefined
  const reader = {
    fresh: async () => undefined,
    watch: (given: typeof listener) => {
      listener = given
      return () => undefined
    },
    around: difference,
    snapshot: () => ({ ...difference, locks: [] }),
  }
  return { reader: reader as unknown as Reader, read: () => listener(difference) }
}

const eventOf = ({ value }: { value?: Uint8Array | undefined }): string =>
  /^(?:event: )?(\w+)/.exec(Buffer.from(value ?? []).toString())?.[1] ?? ''

void describe('what the dashboard makes of two readings', () => {
  void test('a renewal is late only if it was late when the lock was read', () => {
    assert.equal(after([0, 30_000], [20_000, 10_000]).lock.late, undefined)
    const renewed = after([0, 30_000], [10_000, 20_000], [11_000, 30_000])
    assert.deepEqual([renewed.lock.renewed, renewed.lock.late], [true, undefined])
    const late = after([0, 30_000], [10_000, 20_000], [11_000, 30_000], [28_000, 13_000])
    assert.equal(late.lock.late, true)
    assert.equal(after([0, 30_000], [11_000, 30_000], [28_000, 13_000], [29_000, 30_000]).lock.late, undefined)
  })

  void test('a lease that somebody extended is not late, neither at its half nor when renewals show again', () => {
    const renewed = [
      [0, 30_000],
      [10_000, 20_000],
      [11_000, 30_000],
    ] as const
    const extended = [...renewed, [12_000, 900_000]] as const
    assert.deepEqual([after(...extended).lock.renewed, after(...extended).lock.late], [undefined, undefined])
    const half = [...extended, [600_000, 312_000], [891_000, 21_000]] as const
    assert.equal(after(...half).lock.late, undefined)
    assert.equal(after(...half, [892_000, 30_000]).lock.late, undefined)
    assert.equal(after(...half, [892_000, 30_000], [908_000, 14_000]).lock.late, true)
  })

  void test('a reading that took long has renewed nothing', () => {
    const last = after([0, 30_000], [8000, 22_000])
    const at = (took: number, remaining: number): boolean | undefined =>
      shown(heldLock('deploy', remaining), { now: 10_000, took, alias, before: () => last }).renewed
    // It was looked at 500 ms after the reading before, and the last answer came 1500 ms later.
    assert.deepEqual([at(1500, 21_500), at(0, 30_000)], [undefined, true])
  })

  void test('a lease that moves before a renewal is due was not renewed', () => {
    assert.equal(after([0, 30_000], [3000, 30_000]).lock.renewed, undefined)
    const renewed = [
      [0, 30_000],
      [9500, 20_500],
      [10_500, 29_500],
    ] as const
    assert.equal(after(...renewed).lock.renewed, true)
    // A client of holdfast has acquired another level: each of its holds has an owner of its own.
    assert.equal(after(...renewed, [13_000, 30_000]).lock.renewed, true)
    // A thread of Redisson may as well have released the lock, and holds it now without renewals.
    assert.equal(ofThread(...renewed).renewed, true)
    assert.equal(ofThread(...renewed, [13_000, 30_000]).renewed, undefined)
    assert.equal(ofThread(...renewed, [13_000, 30_000], [29_000, 14_000]).late, undefined)
  })

  void test('a thread of Redisson whose renewed lease ends earlier holds the lock anew', () => {
    const renewed = [
      [0, 30_000],
      [9500, 20_500],
      [10_500, 29_500],
    ] as const
    const again = ofThread(...renewed, [11_500, 10_000])
    assert.deepEqual(
      [again.holders[0]?.since, again.until, again.lease, again.renewed, again.late],
      [11_500, 21_500, 10_000, undefined, undefined],
    )
    assert.deepEqual(
      again.past.map(({ since, until }) => [since, until]),
      [[0, 11_500]],
    )
    // Another level with a shorter lease, and a lease that may be that of a level: the hold may be the same.
    for (const same of [ofThread(...renewed, [11_500, 10_000, 2]), ofThread([0, 60_000], [1000, 30_000])])
      assert.deepEqual([same.holders[0]?.since, same.past, same.renewed, same.late], [0, [], undefined, undefined])
    // Nobody but Redisson uses an owner again.
    assert.deepEqual(after(...renewed, [11_500, 10_000]).lock.past, [])
    const slow = { ...afterReadings(renewed, REDISSON), took: 20_000 }
    const held = heldLock('deploy', 10_000)
    const lock = { ...held, holders: [{ ...heldBy(held), ...REDISSON }] }
    assert.deepEqual(shown(lock, { now: 11_500, alias, before: () => slow }).past, [])
  })

  void test('a hold that says that it begins later began when it was first seen', () => {
    const early = afterReadings([[1000, 30_000], [2000, 29_000]], { since: 9e15 }) // prettier-ignore
    assert.equal(early.lock.holders[0]?.since, 1000)
    assert.equal(freed(early, { now: 3000 })?.past[0]?.until, 3000)
    assert.equal(freed(early, { now: 3000 + 2 * WINDOW }), undefined)
  })

  void test('the page of a lock has the same address whichever process serves it, and an owner has not', () => {
    const [one, other] = [aliases('one'), aliases('other')]
    const lock = (alias: (text: string) => string) =>
      shownWith(heldLock('deploy'), { now: 0, alias, idOf: lockIds(), before: () => undefined })
    assert.equal(lock(one).id, lock(other).id)
    assert.notEqual(lock(one).id, shown(heldLock('invoice'), { now: 0, alias: one, before: () => undefined }).id)
    assert.notEqual(lock(one).holders[0]?.id, lock(other).holders[0]?.id)
  })

  void test('long names that come and go leave nothing in the process', async () => {
    const client = await connect('memory:')
    const elections = overriding(client, { election: () => ({ leader: async () => undefined }) })
    const long = (i: number, reading: number): ListedLock => {
      const lock = heldLock(`${reading}:${i}:${'n'.repeat(50_000)}`)
      return {
        ...lock,
        kind: 'fencedLock',
        token: BigInt(i),
        holders: [{ ...heldBy(lock), owner: 'o:1', client: 'o' }],
      }
    }
    const picture = new Picture(elections, alias)
    const heap = (): number => {
      collect()
      return process.memoryUsage().heapUsed + process.memoryUsage().external
    }
    const before = heap()
    for (let reading = 0; reading < 150; reading += 1) {
      picture.take({
        listed: Array.from({ length: 20 }, (_, i) => long(i, reading)),
        now: reading * 2 * WINDOW,
        partly: false,
      })
      await new Promise((resolve) => setImmediate(resolve))
    }
    // They have 150 MB.
    assert.ok(heap() - before < 50_000_000, `${Math.round((heap() - before) / 1_000_000)} MB`)
    assert.equal(picture.locks.filter(({ free }) => free === undefined).length, 20)
    await client.close()
  })

  void test('a holder whom others have pushed out of view holds on', () => {
    const owners = Array.from({ length: 21 }, (_, i) => ({ ...heldBy(heldLock('deploy')), owner: `${i}:1` }))
    const ends: number[] = []
    const read = (holders: readonly unknown[], last: Before | undefined, now: number): Before => ({
      lock: shown({ ...heldLock('deploy'), holders } as ListedLock, {
        ...{ now, alias, before: () => last },
        onEnd: (at) => ends.push(at),
      }),
      seen: now,
    })
    const first = read(owners.slice(1), undefined, 0)
    const pushed = read(owners, first, 1000)
    assert.deepEqual([pushed.lock.past, ends], [[], []])
    const back = read(owners.slice(1), pushed, 2000)
    assert.deepEqual(
      back.lock.past.map(({ id }) => id),
      ['0:1'],
    )
    assert.deepEqual(ends, [2000])
  })

  void test('what others publish about their keys is cut, one by one and all together', () => {
    const keys = Array.from({ length: 30 }, () => 'k'.repeat(500))
    const holder = { ...heldBy(heldLock('deploy')), keys, waitsFor: keys.map((name) => ({ name })) }
    const { holders } = shown({ ...heldLock('deploy'), holders: [holder] } as never, {
      now: 0,
      alias,
      before: () => undefined,
    })
    const [one] = holders
    for (const texts of [one?.keys, one?.wants]) assert.deepEqual([texts?.length, texts?.join('').length], [3, 903])
  })

  void test('what has ended while nobody looked ended when it was last seen', () => {
    const last = after([0, 30_000], [10_000, 20_000])
    const untilOf = (lock: ShownLock | undefined) => lock?.past.map(({ until }) => until)
    assert.deepEqual(untilOf(freed(last, { now: 40_000 })), [10_000])
    assert.equal(freed(last, { now: 40_000 })?.free, 10_000)
    assert.equal(freed(last, { now: 80_000 }), undefined)
    assert.deepEqual(untilOf(freed(last, { now: 11_000 })), [11_000])
    const other = { ...heldLock('deploy'), holders: [{ ...heldLock('deploy').holders[0], owner: 'other:1' }] as never }
    assert.deepEqual(untilOf(shown(other, { now: 40_000, alias, before: () => last })), [10_000])
  })

  void test('a reading that keeps the process busy is followed by a longer pause', async () => {
    const client = await connect('memory:')
    const busy = (text: string): string => {
      const began = process.cpuUsage()
      for (let ms = 0; ms < 20;) ms = process.cpuUsage(began).user / 1000
      return text
    }
    const locks = Array.from({ length: 10 }, (_, i) => heldLock(`order:${i}`))
    const reader = new Reader({ client: listing(client, () => locks), alias: busy, where: '' })
    await reader.poll()
    // 200 ms of a core, of which it may take a twentieth.
    assert.ok(reader.snapshot().every >= 4000, `${reader.snapshot().every}`)
    await client.close()
  })

  void test("the server's version is read again after the connection was lost, and at each 60th reading", async () => {
    const client = await connect('memory:')
    let asked = 0
    let reconnected: () => void = () => undefined
    const counting = overriding(
      listing(client, () => []),
      {
        script: (lua: string) => {
          if (lua.includes('INFO')) asked += 1
          return client.script(lua)
        },
        on: (_: string, listener: () => void) => (reconnected = listener),
      },
    )
    const reader = new Reader({ client: counting, alias, where: '' })
    for (let i = 0; i < 59; i += 1) await reader.fresh()
    assert.equal(asked, 1)
    await reader.fresh()
    assert.equal(asked, 2)
    reconnected()
    await reader.fresh()
    assert.equal(asked, 3)
    await client.close()
  })

  void test('a snapshot of an old reading says when it is sent', async () => {
    const client = await connect('memory:')
    const reader = new Reader({ client: listing(client, () => []), alias, where: '' })
    await reader.poll()
    const { at } = reader.snapshot()
    await until(() => reader.snapshot().now >= at + 200)
    assert.equal(reader.snapshot().at, at)
    await client.close()
  })

  void test("a clock of the dashboard's machine that is set changes nothing, the server's does", async (t) => {
    const real = Date.now.bind(Date)
    const began = [real(), performance.now()] as const
    // A wall clock that nobody sets.
    const steady = (): number => Math.floor(began[0] + performance.now() - began[1])
    let [here, there] = [0, 5000]
    t.mock.method(Date, 'now', () => steady() + here)
    const client = await connect('memory:')
    const time = () => [`${Math.floor((steady() + there) / 1000)}`, `${((steady() + there) % 1000) * 1000}`]
    const script = (lua: string) => (lua.includes('TIME') ? { run: async () => time() } : client.script(lua))
    let locks = [heldLock('deploy'), heldLock('invoice')]
    const server = overriding(
      listing(client, () => locks),
      { script },
    )
    const reader = new Reader({ client: server, alias, where: '' })
    const read = async () => {
      await reader.fresh()
      const { now, locks } = reader.snapshot()
      assert.ok(Math.abs(now - steady() - there) < 500, `${now - steady() - there} ms`)
      return locks.map(({ name, past }) => [name, past.length])
    }
    await read()
    const both = [
      ['deploy', 0],
      ['invoice', 1],
    ]
    locks = locks.slice(0, 1)
    assert.deepEqual(await read(), both)
    for (here of [3_600_000, -3_600_000, 0]) {
      const { now } = reader.snapshot()
      assert.ok(Math.abs(now - steady() - there) < 500, `${now - steady() - there} ms before it is read again`)
      assert.deepEqual(await read(), both)
    }
    // Both are one machine.
    here = 3_600_000
    there += 3_600_000
    assert.deepEqual(await read(), [['deploy', 0]])
    await client.close()
  })

  void test("a server's clock that is set back hides no waiter, and an answer on a slow way moves no time", async () => {
    const client = await connect('memory:')
    let [ahead, slow] = [0, 0]
    const script = (lua: string) =>
      lua.includes('TIME')
        ? {
            run: async () => {
              await sleep(slow)
              const ms = Date.now() + ahead
              return [`${Math.floor(ms / 1000)}`, `${(ms % 1000) * 1000}`]
            },
          }
        : client.script(lua)
    const waiter = { owner: 'b:1', client: 'b-0000', label: 'web-2' }
    const waitedFor = () => ({ ...heldLock('deploy'), waiting: [{ ...waiter, deadline: Date.now() + ahead + 9000 }] })
    const server = overriding(
      listing(client, () => [waitedFor()]),
      { script },
    )
    const reader = new Reader({ client: server, alias, where: '' })
    const read = async () => {
      await reader.fresh()
      return reader.snapshot()
    }
    assert.equal((await read()).locks[0]?.waiters, 1)
    ahead = -3_600_000
    const back = await read()
    assert.equal(back.locks[0]?.waiters, 1)
    assert.ok(Math.abs(back.at - Date.now() - ahead) < 1000)
    ahead = 3_600_000
    assert.equal((await read()).locks[0]?.waiters, 1)
    // The middle of its way would be 100 ms beside the truth.
    slow = 200
    const { now } = await read()
    assert.ok(Math.abs(now - Date.now() - ahead) < 80, `${now - Date.now() - ahead} ms`)
    await client.close()
  })
})

/** What pages show after these readings: when, and which locks were listed then. */
const pictured = async (
  ...readings: readonly (readonly [now: number, listed: readonly ListedLock[], timesSet?: number])[]
) => {
  const client = await connect('memory:')
  const picture = new Picture(client, alias)
  const steps = readings.map(([now, listed, timesSet]) => picture.take({ now, listed, partly: false, timesSet }))
  await client.close()
  const ended = (step: Step | undefined) => step?.rates.map((rate) => rate?.[0] ?? 0) ?? []
  return { picture, steps, ended: ended(steps.at(-1)) }
}

void describe('what several readings say', () => {
  const deploy = heldLock('deploy')

  void test('a hold that ended between two readings far apart is counted once, where it was seen last', async () => {
    const { ended } = await pictured([0, [deploy]], [12_000, []], [24_000, []])
    assert.deepEqual(ended.slice(-5), [1, 0, 0, 0, 0])
    const soon = await pictured([0, [deploy]], [6000, []], [12_000, []])
    assert.deepEqual(soon.ended.slice(-3), [0, 1, 0])
    const early = await pictured([0, [{ ...deploy, holders: [{ ...heldBy(deploy), since: 5000 }] }]], [1000, []])
    assert.deepEqual(early.ended.slice(-1), [1], 'its client is ahead: it says that the hold began later')
    const hour = await pictured([0, [deploy]], [3_600_000, []])
    assert.equal(Math.max(...hour.ended), 0)
  })

  void test("after the server's clock was set back, nothing from the future is left", async () => {
    const other = { ...deploy, holders: [{ ...heldBy(deploy), owner: 'deploy:2' }] }
    const gone = heldLock('gone')
    const { picture, steps } = await pictured(
      [1_000_000, [deploy, gone]],
      [1_001_000, [other, gone]],
      [1_002_000, [other]],
      [500_000, [other], 1],
    )
    assert.deepEqual(
      picture.locks.map(({ name, past, free }) => [name, past.length, free]),
      [['deploy', 0, undefined]],
    )
    // Pages replace what they have: it says nothing any more.
    assert.deepEqual([steps[3]?.set.length, steps[3]?.changed.length, steps[3]?.gone], [1, 0, [idOf(gone)]])
  })

  void test("a server's clock that is set forward renews nothing, and nothing seems to have lasted longer", async () => {
    const { picture } = await pictured([0, [deploy]], [1000, [deploy]], [3_602_000, [deploy], 1])
    assert.deepEqual(
      picture.locks.map(({ holders, renewed, past }) => [holders[0]?.since, renewed, past.length]),
      [[3_602_000, undefined, 0]],
    )
  })

  void test('a page that applies the differences has what a new page gets', async () => {
    const client = await connect('memory:')
    const picture = new Picture(client, alias)
    let page = new Map<string, ShownLock>()
    const random = seeded(7)
    const pick = (most: number) => Math.floor(random() * most)
    const person = (n: number) => ({ owner: `c${n}:1`, client: `c${n}-0000`, ...(n % 2 > 0 && { label: `web-${n}` }) })
    const lock = (i: number): ListedLock => ({
      ...{ name: `order:${i}`, key: `order:${i}`, kind: 'lock', remaining: pick(8) > 0 ? 1000 * pick(30) : Infinity },
      holders: pick(5) > 0 ? [{ ...person(pick(4)), mode: 'exclusive', count: 1 + pick(2) }] : [],
      waiting: Array.from({ length: pick(4) }, (_, n) => person(4 + n)),
      ...(pick(3) > 0 && { token: BigInt(pick(3)) }),
    })
    let [now, timesSet] = [1_000_000, 0]
    for (let reading = 0; reading < 200; reading += 1) {
      const moved = pick(10) > 0 ? pick(3000) : pick(100_000) - 20_000
      now += moved
      if (moved < 0) timesSet += 1
      const listed = Array.from({ length: 12 }, (_, i) => lock(i)).filter(() => pick(4) > 0)
      const step = picture.take({ now, listed, partly: pick(10) === 0, timesSet })
      const next = new Map(page)
      for (const id of step.gone) next.delete(id)
      for (const one of step.set) next.set(one.id, one)
      for (const one of step.changed) next.set(one.id, changed(next.get(one.id) ?? assert.fail(), sent(one), now))
      page = next
      for (const one of picture.locks)
        assert.deepEqual(sent(recent(page.get(one.id) ?? assert.fail(), now)), sent(recent(one, now)))
      assert.equal(page.size, picture.locks.length)
    }
    await client.close()
  })
})

/** As it comes through JSON. */
const sent = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

/** A page shows no holds that ended before the last minute. */
const recent = (lock: ShownLock, now: number): ShownLock => ({
  ...lock,
  past: lock.past.filter(({ until }) => until > now - WINDOW),
})

void describe('what the last five minutes were like', () => {
  void test('hand-overs are added up, waiters are the most; where nobody looked there is nothing', () => {
    const rates = new Rates()
    rates.add(0, 5, [0, 0])
    rates.add(4999, 3, [4999])
    rates.add(20_000, 0, [20_000, 20_000, 20_000, 99_000])
    assert.deepEqual(rates.list(20_000).slice(-5), [[3, 5], null, null, null, [4, 0]])
    assert.equal(rates.list(20_000).length, 60)
    rates.add(310_000, 1, [310_000])
    assert.deepEqual(rates.list(310_000).filter(Boolean), [
      [4, 0],
      [1, 1],
    ])
    // The server's clock went back: what was to come counts no more.
    rates.add(10_000, 7, Array<number>(7).fill(10_000))
    assert.deepEqual(rates.list(10_000).filter(Boolean), [[7, 7]])
  })

  void test('readings that are further apart than the steps leave no gap', () => {
    const rates = new Rates()
    rates.add(0, 5, [])
    rates.add(12_000, 7, [12_000])
    rates.add(27_000, 1, [])
    assert.deepEqual(rates.list(27_000).slice(-6), [
      [0, 5],
      [0, 5],
      [1, 7],
      [0, 7],
      [0, 7],
      [0, 1],
    ])
  })

  void test('an election and a slot are shown as what they are', async () => {
    const client = await connect('memory:')
    let leads: () => void = () => undefined
    const leading = new Promise<void>((resolve) => (leads = resolve))
    const ended = new AbortController()
    const led = client.election('boss').lead({ signal: ended.signal }, async ({ signal }) => {
      leads()
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    })
    await leading
    await client.fencedLock('tokens').acquire()
    const listed: ListedLock[] = []
    for (const name of ['boss', 'tokens']) for await (const lock of client.list({ name })) listed.push(lock)
    const all = [...listed, heldLock('{nightly}:slot-lock:2026-01-01')]
    const reader = new Reader({ client: listing(client, () => all), alias, where: '' })
    await until(async () => {
      await reader.fresh()
      return reader.snapshot().locks.some(({ role }) => role === 'election')
    })
    const roles = reader.snapshot().locks.map(({ name, role }) => [name, role])
    assert.deepEqual(roles, [
      ['boss', 'election'],
      ['tokens', undefined],
      ['{nightly}:slot-lock:2026-01-01', 'slot'],
    ])
    ended.abort()
    await led.catch(() => undefined)
    await client.close()
  })
})

void describe('elections', () => {
  void test('a reading that leaves out a part forgets none, and a whole one those that ended', async () => {
    const client = await connect('memory:')
    let asked = 0
    const boss: ListedLock = { ...heldLock('boss'), kind: 'fencedLock', token: 7n }
    const leader = async () => {
      asked += 1
      return { client: heldBy(boss).client }
    }
    const picture = new Picture(overriding(client, { election: () => ({ leader }) }), alias)
    let now = 0
    const roles = async (listed: readonly ListedLock[], partly = false) => {
      picture.take({ listed, now: (now += 1000), partly })
      await new Promise((resolve) => setImmediate(resolve))
      return picture.locks.map(({ role }) => role)
    }
    await roles([boss])
    assert.deepEqual(await roles([boss]), ['election'])
    for (const _ of [1, 2]) assert.deepEqual(await roles([], true), ['election'])
    assert.deepEqual([await roles([boss]), asked], [['election'], 1])
    await roles([])
    await roles([boss])
    assert.equal(asked, 2)
    await client.close()
  })
})

void describe('the stream of a tab', () => {
  void test('a tab that knows the newest reading gets no snapshot', async () => {
    const { reader } = told()
    const streams = new Streams(reader, 9)
    const second = async (after?: string): Promise<string> => {
      const tab = streams.open('read', after)?.getReader() ?? assert.fail()
      await tab.read()
      const event = eventOf(await tab.read())
      await tab.cancel()
      return event
    }
    assert.deepEqual([await second('r7'), await second('r6'), await second('')], ['unchanged', 'snapshot', 'snapshot'])
  })

  void test('a tab that is behind gets one snapshot, when it has read everything', async () => {
    const { reader, read } = told()
    const tab = new Streams(reader, 1).open('read')?.getReader() ?? assert.fail()
    assert.deepEqual([eventOf(await tab.read()), eventOf(await tab.read())], ['retry', 'snapshot'])
    for (let i = 0; i < 6; i += 1) read()
    const events: string[] = []
    for (let i = 0; i < 5; i += 1) {
      events.push(eventOf(await tab.read()))
      read()
    }
    assert.deepEqual(events, [...Array.from({ length: 4 }, () => 'difference'), 'snapshot'])
    assert.equal(eventOf(await tab.read()), 'difference')
    await tab.cancel()
  })

  void test('ends after its time, and leaves room for the next one', async (t) => {
    // The timer of a stream does not keep a process alive.
    const alive = setInterval(() => undefined, 1000)
    t.after(() => clearInterval(alive))
    const { reader } = told()
    const streams = new Streams(reader, 1, 50)
    const tab = streams.open('read')?.getReader() ?? assert.fail()
    assert.equal(streams.open('read'), undefined)
    const events: string[] = []
    for (let next = await tab.read(); !next.done; next = await tab.read()) events.push(eventOf(next))
    assert.deepEqual(events, ['retry', 'snapshot', 'end'])
    await streams.open('read')?.cancel()
    assert.notEqual(streams.open('read'), undefined)
  })

  void test('a browser goes away while its stream ends → its place is free once', async (t) => {
    const alive = setInterval(() => undefined, 1000)
    t.after(() => clearInterval(alive))
    const { reader } = told()
    const streams = new Streams(reader, 1, 50)
    const tab = streams.open('read')?.getReader() ?? assert.fail()
    await tab.read()
    await tab.read()
    // The end waits to be read.
    await until(() => streams.open('read') !== undefined)
    await tab.cancel()
    assert.equal(streams.open('read'), undefined)
  })

  void test('a stream that cannot be written fails, and leaves its place', async () => {
    const { reader } = told()
    let fails = true
    const failing = overriding(reader as never, {
      snapshot: () => (fails ? assert.fail('too long') : { ...difference, locks: [] }),
    }) as unknown as Reader
    const streams = new Streams(failing, 1)
    const tab = streams.open('read')?.getReader() ?? assert.fail()
    await assert.rejects(async () => {
      for (;;) await tab.read()
    }, /too long/)
    fails = false
    await streams.open('read')?.cancel()
    assert.notEqual(streams.open('read'), undefined)
  })

  void test('a tab that reads nothing keeps its place after its time', async () => {
    const { reader } = told()
    const streams = new Streams(reader, 1, 20)
    const stream = streams.open('read') ?? assert.fail()
    await new Promise((resolve) => setTimeout(resolve, 100))
    assert.equal(streams.open('read'), undefined)
    await stream.cancel()
    assert.notEqual(streams.open('read'), undefined)
  })
})
