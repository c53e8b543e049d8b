import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock, type VirtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import type { Driver, DriverEvents, SendOptions, SubscriptionKind } from '#src/engine/driver.js'
import { NoReply } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import { times } from '../../contract/lock/kind.js'
import { type Grant, exceeding } from '../../../support/grants.js'
import { seeded } from '../../../support/random.js'
import type { Arg, Reply } from '#src/lua/values.js'

/** How often what goes wrong goes wrong. */
const LOST = 0.04
const LONGEST = 2000

/** The embedded server behind a network that loses requests, replies and messages, and brings some requests much too late. */
class FaultyDriver implements Driver {
  readonly address = 'memory:faulty'
  readonly cluster = false
  calm = false
  readonly #driver: MemoryDriver
  readonly #clock: VirtualClock
  readonly #random: () => number
  readonly faults = { request: 0, reply: 0, late: 0, message: 0 }

  constructor(driver: MemoryDriver, clock: VirtualClock, random: () => number) {
    this.#driver = driver
    this.#clock = clock
    this.#random = random
  }

  get isUp(): boolean {
    return this.#driver.isUp
  }

  open(events: DriverEvents): Promise<void> {
    return this.#driver.open({
      ...events,
      message: (message) => {
        if (this.#happens(3 * LOST)) this.faults.message++
        else void this.#pause(3).then(() => events.message(message))
      },
    })
  }

  async send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    const script = String(argv[0]).startsWith('EVAL')
    if (script && this.#happens(LOST)) {
      this.faults.request++
      return this.#unanswered()
    }
    if (script && this.#happens(LOST)) {
      this.faults.late++
      // What is sent meanwhile overtakes it.
      void this.#pause(LONGEST).then(() => this.#driver.send(argv, options).catch(() => undefined))
      return this.#unanswered()
    }
    await this.#pause(2)
    const lost = script && this.#happens(LOST)
    const reply = this.#driver.send(argv, options)
    reply.catch(() => undefined)
    if (lost) {
      this.faults.reply++
      return this.#unanswered()
    }
    await this.#pause(2)
    return reply
  }

  async #unanswered(): Promise<never> {
    await this.#pause(50)
    throw new NoReply('lost')
  }

  #happens(chance: number): boolean {
    return !this.calm && this.#random() < chance
  }

  #pause(most: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.setTimer(resolve, this.calm ? 0 : most * this.#random())
    })
  }

  subscribe(channel: string, kind: SubscriptionKind): Promise<void> {
    return this.#driver.subscribe(channel, kind)
  }

  unsubscribe(channel: string, kind: SubscriptionKind): Promise<void> {
    return this.#driver.unsubscribe(channel, kind)
  }

  close(): Promise<void> {
    return this.#driver.close()
  }
}

type SimClient = Awaited<ReturnType<typeof start>>

interface History {
  readonly clock: VirtualClock
  readonly clients: readonly SimClient[]
  readonly drivers: readonly FaultyDriver[]
  readonly random: () => number
  pause(ms: number): Promise<void>
  /** Lets time pass until it has settled. */
  run<T>(promise: Promise<T> | undefined): Promise<T | undefined>
  keys(): Promise<string[]>
  /** A command of nobody's. */
  raw(...words: string[]): unknown
}

let histories = 0

const history = async (seed: number, processes: number): Promise<History> => {
  const clock = virtualClock(seed)
  const random = seeded(seed)
  const name = `history${(histories += 1)}-${process.pid}`
  const drivers: FaultyDriver[] = []
  const run = async <T>(promise: Promise<T> | undefined): Promise<T | undefined> => {
    let settled = false
    const done = (): void => void (settled = true)
    void promise?.then(done, done)
    const limit = clock.now() + 600_000
    for (await clock.advance(0); promise !== undefined && !settled; await clock.advance(20)) {
      assert.ok(clock.now() < limit, `seed ${seed}: somebody waits for ever`)
    }
    return promise
  }
  const clients: SimClient[] = []
  for (let process = 0; process < processes; process++) {
    const driver = new FaultyDriver(new MemoryDriver(openMemoryServer(name, clock), name), clock, random)
    driver.calm = true
    drivers.push(driver)
    const settings = settle({ url: `memory:${name}`, clock, presence: false, commandTimeout: 500 }, {})
    const client = await run(start(settings, driver))
    assert.ok(client !== undefined)
    client.on('error', () => undefined)
    clients.push(client)
    driver.calm = false
  }
  const server = openMemoryServer(name, clock)
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void clock.setTimer(resolve, ms))
  const raw = (...words: string[]): unknown => server.execute(words)
  const keys = (): Promise<string[]> => Promise.resolve(raw('KEYS', '*') as string[])
  return { clock, clients, drivers, random, pause, run, keys, raw }
}

/** What a limiter's sorted set says was granted: the last four bytes of an entry are how many permits. */
const grantsOf = (entries: readonly string[]): Map<string, Grant> => {
  const all = new Map<string, Grant>()
  for (let i = 0; i < entries.length; i += 2) {
    const call = entries[i] as string
    all.set(call, { at: Number(entries[i + 1]), permits: Buffer.from(call, 'latin1').readUInt32LE(call.length - 4) })
  }
  return all
}

const HISTORIES = 60
const seeds = times(HISTORIES, (index) => 1 + index)

/** All is quiet: what was late has come, what was given up is taken back. */
const quiet = async ({ clock, drivers }: History): Promise<void> => {
  for (const driver of drivers) driver.calm = true
  await clock.advance(130_000)
}

void describe('histories of synchronizers on a network that loses and delays', () => {
  void test(`semaphore, ${HISTORIES} seeds → never more inside than permits; in the end all are there`, async () => {
    const met = { request: 0, reply: 0, late: 0, message: 0 }
    let had = 0
    for (const seed of seeds) {
      const h = await history(seed, 1 + (seed % 3))
      const permits = 1 + (seed % 4)
      let inside = 0
      const first = h.clients[0]?.semaphore('s')
      await h.run(first?.trySetPermits(permits))
      const worker = async (client: SimClient): Promise<void> => {
        for (let round = 0; round < 6; round++) {
          const wanted = 1 + Math.floor(h.random() * permits)
          const signal = h.random() < 0.2 ? new AbortController() : undefined
          if (signal !== undefined) void h.pause(200 * h.random()).then(() => signal.abort('left'))
          const options = {
            permits: wanted,
            signal: signal?.signal,
            wait: h.random() < 0.3 ? 300 * h.random() : 60_000,
          }
          const work = async (): Promise<void> => {
            inside += wanted
            had++
            assert.ok(inside <= permits, `seed ${seed}: ${inside} inside of ${permits}`)
            await h.pause(20 * h.random())
            inside -= wanted
          }
          await client
            .semaphore('s')
            .using(options, work)
            .catch((error: unknown) => {
              if (error instanceof assert.AssertionError) throw error
            })
        }
      }
      await h.run(Promise.all(h.clients.flatMap((client) => times(4, () => worker(client)))))
      await quiet(h)
      assert.equal(await h.run(first?.available()), permits, `seed ${seed}`)
      await h.run(Promise.all(h.clients.map((client) => client.close())))
      assert.deepEqual(await h.keys(), ['s'], `seed ${seed}`)
      for (const { faults } of h.drivers)
        for (const fault of Object.keys(met) as (keyof typeof met)[]) met[fault] += faults[fault]
    }
    assert.ok(had > 10 * HISTORIES, `${had} were had`)
    for (const [fault, count] of Object.entries(met)) assert.ok(count > HISTORIES, `${fault} happened ${count} times`)
  })

  void test(`permit semaphore, ${HISTORIES} seeds → never more inside than permits; in the end all are there`, async () => {
    for (const seed of seeds) {
      const h = await history(seed, 1 + (seed % 3))
      const permits = 1 + (seed % 4)
      let inside = 0
      const first = h.clients[0]?.permitSemaphore('p')
      await h.run(first?.trySetPermits(permits))
      const worker = async (client: SimClient): Promise<void> => {
        const p = client.permitSemaphore('p')
        for (let round = 0; round < 5; round++) {
          const wanted = 1 + Math.floor(h.random() * permits)
          const terms = h.random() < 0.5 ? { renew: true } : { lease: 500_000 }
          const taken = await p.acquireMany(wanted, { ...terms, wait: 400 * h.random() }).catch(() => [])
          inside += taken.length
          assert.ok(inside <= permits, `seed ${seed}: ${inside} inside of ${permits}`)
          await h.pause(20 * h.random())
          inside -= taken.length
          for (const permit of taken) assert.equal(await permit.release(), true, `seed ${seed}`)
        }
      }
      await h.run(Promise.all(h.clients.flatMap((client) => times(3, () => worker(client)))))
      await quiet(h)
      assert.deepEqual(await h.run(first?.available()), permits, `seed ${seed}`)
      assert.deepEqual(await h.run(first?.acquired()), 0, `seed ${seed}`)
      // What lapsed is taken back by whoever takes some.
      const taken = await h.run(h.clients[0]?.permitSemaphore('p').acquireMany(permits, { wait: 60_000 }))
      await h.run(first?.release((taken ?? []).map(({ id }) => id)))
      await h.run(Promise.all(h.clients.map((client) => client.close())))
      assert.deepEqual(await h.keys(), ['p'], `seed ${seed}`)
    }
  })

  void test(`count-down latch, ${HISTORIES} seeds → opens with the last count, for all`, async () => {
    for (const seed of seeds) {
      const h = await history(seed, 1 + (seed % 3))
      const count = 2 + (seed % 5)
      let begun = 0
      await h.run(h.clients[0]?.countDownLatch('l').trySetCount(count))
      const waits = h.clients.flatMap((client) =>
        times(3, async () => {
          for (;;) {
            const open = await client
              .countDownLatch('l')
              .wait()
              .catch(() => false)
            if (open) break
          }
          assert.equal(begun, count, `seed ${seed}: open after ${begun} of ${count}`)
        }),
      )
      const counting = times(count, async (index) => {
        await h.pause(300 * h.random())
        begun++
        await h.clients[index % h.clients.length]?.countDownLatch('l').countDown()
      })
      await h.run(Promise.all([...waits, ...counting]))
      await quiet(h)
      await h.run(Promise.all(h.clients.map((client) => client.close())))
      assert.deepEqual(await h.keys(), [], `seed ${seed}`)
    }
  })

  void test(`rate limiter, ${HISTORIES} seeds → no window holds more than the rate, and each grant is in one`, async () => {
    const interval = 1000
    for (const seed of seeds) {
      const h = await history(seed, 1 + (seed % 3))
      const permits = 2 + (seed % 4)
      await h.run(h.clients[0]?.rateLimiter('r').trySetRate({ permits, interval }))
      const log = new Map<string, Grant>()
      let [over, had] = [false, 0]
      const watching = async (): Promise<void> => {
        for (; !over; await h.pause(20)) {
          const there = grantsOf(h.raw('ZRANGE', '{r}:permits', '0', '-1', 'WITHSCORES') as string[])
          // What leaves before its time was taken back.
          for (const [call, { at }] of log) if (!there.has(call) && at > h.clock.now() - interval) log.delete(call)
          for (const [call, grant] of there) log.set(call, grant)
        }
      }
      const worker = async (client: SimClient): Promise<void> => {
        for (let round = 0; round < 5; round++) {
          const wanted = 1 + Math.floor(h.random() * permits)
          const signal = h.random() < 0.3 ? new AbortController() : undefined
          if (signal !== undefined) void h.pause(300 * h.random()).then(() => signal.abort('left'))
          const wait = h.random() < 0.3 ? 0 : 3000 * h.random()
          const asked = client.rateLimiter('r').tryAcquire({ permits: wanted, wait, signal: signal?.signal })
          if ((await asked.catch(() => undefined))?.allowed === true) had += wanted
        }
      }
      const watched = watching()
      await h.run(Promise.all(h.clients.flatMap((client) => times(3, () => worker(client)))))
      await h.run(h.pause(50))
      over = true
      await h.run(watched)
      const grants = [...log.values()]
      const granted = grants.reduce((sum, { permits }) => sum + permits, 0)
      assert.equal(exceeding(grants, permits, interval), undefined, `seed ${seed}`)
      assert.ok(had > 0 && had <= granted, `seed ${seed}: ${had} had, ${granted} granted`)
      await quiet(h)
      await h.run(h.clients[0]?.rateLimiter('r').delete())
      await h.run(Promise.all(h.clients.map((client) => client.close())))
      assert.deepEqual(await h.keys(), [], `seed ${seed}`)
    }
  })
})
