import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import type { Client } from 'holdfast'
import { settle } from '#src/config/settings.js'
import type { DriverEvents, Message } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { keyedLockAcquire } from '#src/lua/scripts.gen.js'
import type { Arg, Reply } from '#src/lua/values.js'

/** Notes when keys of a group are asked for, and counts the scripts. */
class NotingDriver extends MemoryDriver {
  readonly asked: number[] = []
  readonly now: () => number
  scripts = 0

  constructor(server: MemoryServer, now: () => number) {
    super(server, undefined)
    this.now = now
  }

  override send(argv: readonly Arg[]): Promise<Reply> {
    if (String(argv[0]).startsWith('EVAL')) this.scripts++
    if (argv[1] === keyedLockAcquire.sha || argv[1] === keyedLockAcquire.text) this.asked.push(this.now())
    return super.send(argv)
  }
}

/** Messages come by a connection of their own, behind the answer. */
class LaterDriver extends MemoryDriver {
  readonly #clock: ReturnType<typeof virtualClock>

  constructor(server: MemoryServer, clock: ReturnType<typeof virtualClock>) {
    super(server, undefined)
    this.#clock = clock
  }

  override open(events: DriverEvents): Promise<void> {
    const message = (one: Message): void => void this.#clock.setTimer(() => events.message(one), 0.1)
    return super.open(Object.assign(Object.create(events) as DriverEvents, { message }))
  }
}

/** One line for a lock, and one for a group. */
const KINDS = {
  lock: (client: Client) => client.lock('x'),
  keyedLock: (client: Client) => client.keyedLock('x', ['a']),
}

/** For 4 s, so many processes' callers want one lock all the time, for `ms` each. */
const contend = async (kind: keyof typeof KINDS, processes: number, callers: number, ms: number) => {
  const clock = virtualClock(1)
  const server = new MemoryServer(clock)
  const now = (): number => clock.monotonic()
  const drivers = Array.from({ length: processes }, () => new NotingDriver(server, now))
  const options = settle({ url: 'memory:', clock, presence: false }, {})
  const clients = await Promise.all(drivers.map((driver) => start(options, driver)))
  const until = now() + 4000
  const stays: { place: number; from: number; to: number }[] = []
  let inside = 0
  const caller = async (place: number): Promise<void> => {
    while (now() < until) {
      await KINDS[kind](clients[place]!).using(async () => {
        assert.equal(++inside, 1)
        const from = now()
        await new Promise<void>((resolve) => void clock.setTimer(resolve, ms))
        inside--
        stays.push({ place, from, to: now() })
      })
    }
  }
  const all = Promise.all(clients.flatMap((_, place) => Array.from({ length: callers }, () => caller(place))))
  while (now() < until + 1000) await clock.advance(1)
  await all
  const closing = Promise.all(clients.map((client) => client.close()))
  for (let i = 0; i < 10; i++) await clock.advance(20)
  await closing
  const scripts = drivers.reduce((sum, driver) => sum + driver.scripts, 0)
  return { asked: drivers.map((driver) => driver.asked), scripts, stays }
}

/** Each time that it goes from one process to another: when, and when the one before was through. */
const switchesOf = (stays: readonly { place: number; from: number; to: number }[]) =>
  stays.slice(1).flatMap(({ place, from }, index) => {
    const { place: before, to } = stays[index]!
    return before === place ? [] : [{ from, freed: to }]
  })

for (const kind of ['lock', 'keyedLock'] as const) {
  void test(`processes of 4 callers pass a ${kind} from one to the next → at once, and with few requests`, async () => {
    for (const processes of [2, 3, 4]) {
      const { scripts, stays } = await contend(kind, processes, 4, 2.3)
      const switches = switchesOf(stays)
      assert.ok(switches.length > 20, `${switches.length} switches`)
      for (const { from, freed } of switches) assert.ok(from - freed < 1, `${from - freed} ms from process to process`)
      assert.ok(scripts / stays.length < 0.5, `${scripts / stays.length} requests a visit`)
    }
  })
}

for (const ms of [20, 150]) {
  void test(`holds of ${ms} ms that nobody passes on → who waits does not ask before it is free`, async () => {
    const { asked, stays } = await contend('keyedLock', 3, ms < 100 ? 1 : 2, ms)
    assert.ok(stays.length > 20)
    const early = asked.flat().filter((at) => stays.some(({ from, to }) => at > from + 1 && at < to))
    assert.deepEqual(early, [])
  })
}

void test('a process has had it alone for long, then another comes now and then → it stands back for nobody', async () => {
  const clock = virtualClock(1)
  const server = new MemoryServer(clock)
  const options = settle({ url: 'memory:', clock, presence: false }, {})
  const open = (): Promise<Client> => start(options, new LaterDriver(server, clock))
  const [busy, other] = [await open(), await open()]
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms))
  let [over, had] = [false, 0]
  const entered: number[] = []
  const callers = Array.from({ length: 4 }, async () => {
    while (!over) {
      await KINDS.keyedLock(busy).using(async () => {
        entered.push(clock.monotonic())
        await pause(2)
      })
    }
  })
  const visit = async (): Promise<number> => {
    let through = Infinity
    const visiting = KINDS.keyedLock(other).using(async () => {
      await pause(20)
      had++
      through = clock.monotonic()
    })
    while (!entered.some((at) => at >= through)) await clock.advance(0.5)
    await visiting
    return entered.find((at) => at >= through)! - through
  }
  await clock.advance(30)
  await visit()
  for (let ms = 0; ms < 3000; ms++) await clock.advance(1)
  for (let time = 0; time < 5; time++) {
    const gap = await visit()
    assert.ok(gap < 3, `${gap} ms until the next one has it`)
    await clock.advance(20)
  }
  assert.equal(had, 6)
  over = true
  const ended = Promise.all([...callers, busy.close(), other.close()].map((one) => one.catch(() => undefined)))
  for (let i = 0; i < 100; i++) await clock.advance(20)
  await ended
})
