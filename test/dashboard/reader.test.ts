import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, type ListedLock } from 'holdfast'
import { Rates } from '#src/dashboard/rates.js'
import { Reader } from '#src/dashboard/reader.js'
import { type Before, freed, shown } from '#src/dashboard/shown.js'
import type { Difference, ShownLock } from '#src/dashboard/state.js'
import { Streams } from '#src/dashboard/streams.js'
import { until } from '../support/until.js'
import { heldLock, listing } from './stage.js'

const alias = (text: string): string => text

/** The lock after readings at these times, each with what was left of its lease. */
const after = (...readings: readonly (readonly [now: number, remaining: number])[]): Before => {
  let last: Before | undefined
  for (const [now, remaining] of readings)
    last = { lock: shown(heldLock('deploy', remaining), { now, alias, before: () => last }), seen: now }
  return last ?? assert.fail()
}

const difference: Difference = {
  ...{ at: 0, every: 1000, where: '', cycles: [], rates: [], trouble: null, missing: null, hidden: 0 },
  ...{ set: [], gone: [] },
}

/** A reader that reads when it is told to. */
const told = () => {
  let listener: (difference: Difference) => void = () => undefined
  const reader = {
    watch: async (given: typeof listener) => {
      listener = given
      return () => undefined
    },
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

  void test('what has ended while nobody looked ended when it was last seen', () => {
    const last = after([0, 30_000], [10_000, 20_000])
    const untilOf = (lock: ShownLock | undefined) => lock?.past.map(({ until }) => until)
    assert.deepEqual(untilOf(freed(last, 40_000)), [10_000])
    assert.equal(freed(last, 40_000)?.free, 10_000)
    assert.equal(freed(last, 80_000), undefined)
    assert.deepEqual(untilOf(freed(last, 11_000)), [11_000])
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

  void test("the server's clock is read again after the connection was lost, and each 60th reading", async () => {
    const client = await connect('memory:')
    let clocks = 0
    let reconnected: () => void = () => undefined
    const counting = new Proxy(
      listing(client, () => []),
      {
        get: (target, part) => {
          if (part === 'script')
            return (lua: string) => {
              if (lua.includes('TIME')) clocks += 1
              return target.script(lua)
            }
          if (part === 'on') return (_: string, listener: () => void) => (reconnected = listener)
          return Reflect.get(target, part) as unknown
        },
      },
    )
    const reader = new Reader({ client: counting, alias, where: '' })
    for (let i = 0; i < 59; i += 1) await reader.fresh()
    assert.equal(clocks, 1)
    await reader.fresh()
    assert.equal(clocks, 2)
    reconnected()
    await reader.fresh()
    assert.equal(clocks, 3)
    await client.close()
  })
})

void describe('what the last five minutes were like', () => {
  void test('hand-overs are added up, waiters are the most; where nobody looked there is nothing', () => {
    const rates = new Rates()
    rates.add(0, 2, 5)
    rates.add(4999, 1, 3)
    rates.add(15_000, 4, 0)
    assert.deepEqual(rates.list(15_000).slice(-4), [[3, 5], null, null, [4, 0]])
    assert.equal(rates.list(15_000).length, 60)
    rates.add(305_000, 1, 1)
    assert.deepEqual(rates.list(305_000).filter(Boolean), [
      [4, 0],
      [1, 1],
    ])
    // The server's clock went back: what was to come counts no more.
    rates.add(10_000, 7, 7)
    assert.deepEqual(rates.list(10_000).filter(Boolean), [[7, 7]])
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

void describe('the stream of a tab', () => {
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
