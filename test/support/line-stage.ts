import assert from 'node:assert/strict'
import type { AcquireOptions, Lock } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import type { Client } from 'holdfast'
import type { Clock } from '#src/base/clock.js'
import { settle } from '#src/config/settings.js'
import type { DriverEvents, SendOptions } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import type { MemoryServer } from '#src/engine/memory/server.js'
import type { Arg, Reply } from '#src/lua/values.js'

/** What is known of a turn of others. */
export const TURN = 'holdfast_line_turn:{x}'
export const KEYED_TURN = 'holdfast_keyed_turn:{x}'
const READ_WRITE_TURN = 'holdfast_rwlock_turn:{x}'
export const COUNTER = 'redisson_lock_token:{x}'

/** Counts the scripts; what it is answered comes `lag` ms late, and some scripts leave late. */
export class LateDriver extends MemoryDriver {
  readonly #clock: ReturnType<typeof virtualClock>
  scripts = 0
  lag = 0
  /** So many ms, by the script. */
  readonly delays = new Map<string, number>()
  /** Nothing that it sends arrives. */
  mute = false
  /** While it is there, what comes from the server is kept back in it: replies, and messages behind them. */
  back: { readonly replies: (() => void)[]; readonly messages: (() => void)[] } | undefined

  constructor(server: MemoryServer, clock: ReturnType<typeof virtualClock>) {
    super(server, undefined)
    this.#clock = clock
  }

  override open(events: DriverEvents): Promise<void> {
    const message: DriverEvents['message'] = (heard) => {
      if (this.back === undefined) events.message(heard)
      else this.back.messages.push(() => events.message(heard))
    }
    return super.open(Object.assign(Object.create(events) as DriverEvents, { message }))
  }

  /** All of it arrives at once. */
  async arrive(): Promise<void> {
    const { replies, messages } = this.back ?? { replies: [], messages: [] }
    this.back = undefined
    for (const reply of replies) reply()
    await this.#pause(0)
    for (const message of messages) message()
  }

  override async send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (String(argv[0]).startsWith('EVAL')) this.scripts++
    if (this.mute) return new Promise(() => undefined)
    const delay = this.delays.get(String(argv[1]))
    if (delay !== undefined) await this.#pause(delay)
    const reply = super.send(argv, options)
    const { back } = this
    if (back !== undefined)
      await Promise.allSettled([reply, new Promise<void>((resolve) => back.replies.push(resolve))])
    if (this.lag > 0) await Promise.allSettled([reply, this.#pause(this.lag)])
    return reply
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#clock.setTimer(resolve, ms))
  }
}

/** A client's method, or what is asked of a client. */
type Kind = 'lock' | 'fencedLock' | ((client: Client) => Lock)

let stages = 0

/** So many processes that want this kind of lock, and a server, which is asked by `raw` beside them. */
export const stage = async (processes: number, kind: Kind = 'lock') => {
  const open = (client: Client): Lock => (typeof kind === 'string' ? client[kind]('x') : kind(client))
  const clock = virtualClock(1)
  // It goes when all have closed.
  const name = `line ${stages++}`
  const connected = (): MemoryServer => openMemoryServer(name, clock)
  /** The timers of those whose event loops stand still, by place. */
  const still = new Map<number, (() => void)[]>()
  const clockOf = (place: number): Clock => ({
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    randomBytes: (count) => clock.randomBytes(count),
    random: () => clock.random(),
    setTimer: (callback, ...more) =>
      clock.setTimer(
        () => {
          const late = still.get(place)
          if (late === undefined) callback()
          else late.push(callback)
        },
        ...more,
      ),
  })
  const goesOn = (place: number): void => {
    const late = still.get(place) ?? []
    still.delete(place)
    for (const callback of late) callback()
  }
  const optionsOf = (place: number) => settle({ url: 'memory:', clock: clockOf(place), presence: false }, {})
  const drivers = Array.from({ length: processes }, () => new LateDriver(connected(), clock))
  const clients = await Promise.all(drivers.map((driver, place) => start(optionsOf(place), driver)))
  const aside = new MemoryDriver(connected(), undefined)
  const spare = await start(optionsOf(processes), aside)
  const raw = (...words: string[]): Promise<Reply> => aside.send(words)
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms))

  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let over = false
    const done = (): void => void (over = true)
    promise.then(done, done)
    for (let step = 0; !over && step < 20_000; step++) await clock.advance(1)
    assert.ok(over, 'it goes on for ever')
    return promise
  }

  /** One of this process comes, works for so long when it has the lock, and says so. */
  const entered: { name: string; at: number }[] = []
  const come = async (place: number, name: string, options: AcquireOptions = {}, ms = 5) => {
    const work = async (): Promise<void> => {
      entered.push({ name, at: clock.monotonic() })
      await pause(ms)
    }
    const coming = open(clients[place]!).using(options, work)
    coming.catch(() => undefined)
    await clock.advance(10)
    return { coming }
  }

  const waiting = async (): Promise<string[]> => {
    const { waiting } = await open(spare).inspect()
    return waiting.map(({ client }) => client)
  }

  /** All close: nothing is left on the server but the newest token and, for a while, what it knows of a turn of others. */
  const end = async (): Promise<void> => {
    await run(Promise.all(clients.map((client: Client) => client.close())))
    const keys = ((await raw('KEYS', '*')) as string[]).filter((key) => key !== COUNTER)
    const turns = [TURN, KEYED_TURN, READ_WRITE_TURN]
    assert.deepEqual(
      keys.filter((key) => !turns.includes(key)),
      [],
    )
    for (const turn of keys) assert.ok(Number(await raw('PTTL', turn)) > 0, `${turn} has no expiry`)
    await run(spare.close())
  }

  const names = (): string[] => entered.map(({ name }) => name)
  return {
    still,
    goesOn,
    clock,
    server: connected,
    clients,
    drivers,
    aside,
    raw,
    pause,
    run,
    come,
    entered,
    names,
    waiting,
    end,
  }
}
