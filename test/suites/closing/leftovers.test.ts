import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import { rejection } from '../contract/lock/kind.js'
import { SwitchedDriver } from '../../support/switched-driver.js'

type Client = Awaited<ReturnType<typeof start>>

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** The watchdog's lease, and the allowance of who waits. */
const LEASE = 30 * SECOND
const ALLOWANCE = 5 * MINUTE

let scenes = 0

/** A server, and clients of it that end as processes do: closed, or killed. */
const scene = async (count: number) => {
  // Who is killed has no time any more.
  const [clock, clientClock] = [virtualClock(1), virtualClock(2)]
  const name = `leftovers${(scenes += 1)}-${process.pid}`
  const server = openMemoryServer(name, clock)
  const both = async (ms: number): Promise<void> => {
    for (let passed = 0; passed < ms; passed += 10) {
      await clock.advance(10)
      await clientClock.advance(10)
    }
  }
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false
    const settle = (): void => void (settled = true)
    promise.then(settle, settle)
    for (await clientClock.advance(0); !settled; await both(10)) assert.ok(clock.now() < 1e15)
    return promise
  }
  const drivers = Array.from({ length: count }, () => new SwitchedDriver(new MemoryDriver(server, name)))
  const settings = settle({ url: 'memory:', clock: clientClock }, {})
  const clients: Client[] = []
  for (const driver of drivers) clients.push(await run(start(settings, driver)))
  const keys = (): string[] => (server.execute(['KEYS', '*']) as string[]).sort()
  const left = (): number[] => keys().map((key) => server.execute(['PTTL', key]) as number)
  const end = (): void => {
    closeMemoryServer(server)
  }
  return { clock, both, run, drivers, clients, keys, left, end }
}

/** Whatever makes keys; the second waits for what the first has. Resolves while both hold and wait. */
const work = async ({ both, run, clients }: Awaited<ReturnType<typeof scene>>): Promise<void> => {
  const [one, two] = clients as [Client, Client]
  await run(one.semaphore('s').trySetPermits(3))
  await run(one.permitSemaphore('p').trySetPermits(3))
  await run(one.countDownLatch('l').trySetCount(2))
  await run(one.rateLimiter('r').trySetRate({ permits: 5, interval: MINUTE, keepAlive: MINUTE }))
  for (const client of [one, two]) {
    await run(client.semaphore('s').acquire())
    await run(client.permitSemaphore('p').acquire({ lease: MINUTE }))
    await run(client.rateLimiter('r').acquire())
    for (const name of ['a', 'b']) {
      const locks = [
        client.lock(`${name}1`),
        client.fairLock(`${name}2`),
        client.readWriteLock(`${name}3`, { fair: true }).write,
      ]
      for (const lock of [...locks, client.fencedLock(`${name}4`), client.keyedLock(`${name}5`, ['x', 'y'])])
        rejection(lock.acquire()).catch(() => undefined)
    }
  }
  await both(2 * SECOND)
}

/** What is kept on purpose, and what it is made of. */
const isKept = (key: string): boolean => /^[lprs]$|\{r\}|^redisson_lock_token/.test(key)

void test('closed → no key is left but what the objects are made of', async () => {
  const at = await scene(2)
  await work(at)
  assert.ok(at.keys().some((key) => !isKept(key)))
  for (const client of at.clients) await at.run(client.close())
  assert.deepEqual(
    at.keys().filter((key) => !isKept(key)),
    [],
  )
  at.end()
})

void test('closed after a step that nobody answered for a minute → its note lasts for two minutes', async () => {
  const at = await scene(1)
  const [[client], [driver]] = [at.clients as [Client], at.drivers as [SwitchedDriver]]
  const s = client.semaphore('s')
  await at.run(s.trySetPermits(1))
  await at.run(s.release())
  await at.both(2 * SECOND)
  driver.loses = (words) => (words.some((word) => word.includes('holdfast_request')) ? 'answer' : undefined)
  assert.match(String(await at.run(rejection(s.release()))), /no reply/)
  driver.loses = () => undefined
  assert.equal(await at.run(s.available()), 3, 'done once')
  await at.run(client.close())
  const notes = at.keys().filter((key) => key.startsWith('holdfast_request'))
  assert.equal(notes.length, 1)
  for (const ms of at.left().filter((ms) => ms >= 0)) assert.ok(ms <= 2 * MINUTE, `${ms} ms`)
  await at.clock.advance(2 * MINUTE + 1)
  assert.deepEqual(at.keys(), ['s'])
  at.end()
})

for (const [end, rest] of [
  ['closed', 'those with an id are released'],
  ['killed', 'so do those that never expire, and those of a using'],
] as const) {
  void test(`${end} with permits taken by hand → those without an id stay taken; ${rest}`, async () => {
    const at = await scene(2)
    const [one, two] = at.clients as [Client, Client]
    await at.run(one.semaphore('s').trySetPermits(5))
    await at.run(one.permitSemaphore('p').trySetPermits(5))
    await at.run(one.semaphore('s').acquire({ permits: 2 }))
    rejection(one.semaphore('s').using(() => new Promise(() => undefined))).catch(() => undefined)
    await at.run(one.permitSemaphore('p').acquireMany(2))
    await at.run(one.permitSemaphore('p').acquire({ lease: MINUTE }))
    const free = async (): Promise<number[]> => [
      await at.run(two.semaphore('s').available()),
      await at.run(two.permitSemaphore('p').available()),
    ]
    await at.both(SECOND)
    assert.deepEqual(await free(), [2, 2])
    if (end === 'killed') (at.drivers[0] as SwitchedDriver).up = false
    else await at.run(one.close())
    const stay = end === 'closed' ? [3, 5] : [2, 3]
    await at.both(2 * MINUTE)
    assert.deepEqual(await free(), stay)
    for (let hours = 0; hours < 24; hours++) await at.clock.advance(HOUR)
    assert.deepEqual(await free(), stay)
    at.end()
  })
}

void test('killed → what it leaves is gone when the guide says so', async () => {
  const at = await scene(2)
  await work(at)
  // Steps of the last second, whose notes nobody has deleted yet; and one that is on its way.
  for (const client of at.clients) await at.run(client.semaphore('s').release())
  const [first] = at.drivers as [SwitchedDriver]
  first.loses = () => 'answer'
  rejection((at.clients[0] as Client).semaphore('s').acquire()).catch(() => undefined)
  await at.both(10)
  for (const driver of at.drivers) driver.up = false
  const names = (pattern: RegExp): string[] => at.keys().filter((key) => pattern.test(key))
  const [list, notes, lines, ours] = [
    /^holdfast:client:.*:locks$|^holdfast:client:register$/,
    /^holdfast_request/,
    /^redisson_lock_(queue|timeout)/,
    /^holdfast_(rwlock|line|keyed)_?/,
  ]
  const rest = (): string[] =>
    at
      .keys()
      .filter(
        (key) =>
          !isKept(key) && key !== '{p}:timeout' && ![list, notes, lines, ours].some((pattern) => pattern.test(key)),
      )
  assert.ok(names(notes).length >= 3 && names(lines).length >= 2 && names(ours).length >= 2 && rest().length > 4)
  const began = at.clock.now()
  for (const [after, gone] of [
    [LEASE, rest],
    [1.5 * LEASE, () => names(list)],
    [MINUTE, () => names(/\{r\}|^r$/)],
    [ALLOWANCE + MINUTE, () => names(ours)],
    [HOUR, () => names(notes)],
    [ALLOWANCE + LEASE + DAY, () => names(lines)],
  ] as const) {
    await at.clock.advance(began + after - at.clock.now())
    assert.deepEqual(gone(), [], `after ${after} ms`)
  }
  assert.deepEqual(
    at.keys().filter((key) => !isKept(key)),
    // What is over in it comes back when somebody next takes or counts permits.
    ['{p}:timeout'],
  )
  at.end()
})
