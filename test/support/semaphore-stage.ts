import assert from 'node:assert/strict'
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

export const LINE = 'holdfast_permits_line:{s}'
export const TURN = 'holdfast_permits_turn:{s}'

class CountingDriver extends MemoryDriver {
  scripts = 0

  override send(argv: readonly Arg[], options?: SendOptions): Promise<Reply> {
    if (String(argv[0]).startsWith('EVAL')) this.scripts++
    return super.send(argv, options)
  }
}

let stages = 0

/** So many processes and a semaphore with so many permits; the server is asked by `raw` beside them. */
export const stage = async (processes: number, permits: number) => {
  const clock = virtualClock(1)
  const name = `permits in line ${stages++}`
  const connected = (): MemoryServer => openMemoryServer(name, clock)
  const options = settle({ url: 'memory:', clock, presence: false }, {})
  const drivers = Array.from({ length: processes }, () => new CountingDriver(connected(), undefined))
  const clients = await Promise.all(drivers.map((driver) => start(options, driver)))
  const aside = new MemoryDriver(connected(), undefined)
  const spare = await start(options, aside)
  const raw = (...words: (string | number)[]): Promise<Reply> => aside.send(words.map(String))
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.setTimer(resolve, ms))
  const semaphore = (place: number) => clients[place]!.semaphore('s')
  await raw('SET', 's', permits)

  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let over = false
    const done = (): void => void (over = true)
    promise.then(done, done)
    for (let step = 0; !over && step < 20_000; step++) await clock.advance(1)
    assert.ok(over, 'it goes on for ever')
    return promise
  }

  /** One of this process comes, works for so long when it has its permits, and says so. */
  const entered: { name: string; at: number }[] = []
  const come = async (place: number, name: string, options: SemaphoreOptions = {}, ms = 5) => {
    const work = async (): Promise<void> => {
      entered.push({ name, at: clock.monotonic() })
      await pause(ms)
    }
    const coming = semaphore(place).using(options, work)
    coming.catch(() => undefined)
    await clock.advance(10)
    return { coming }
  }

  const waiting = async (): Promise<string[]> =>
    ((await raw('LRANGE', LINE, 0, -1)) as string[]).map(String).map(clientOf)

  /** All close: there are so many permits again, and nothing else but, for a while, what is known of a turn of others. */
  const end = async (left = permits): Promise<void> => {
    await run(Promise.all(clients.map((client: Client) => client.close())))
    assert.equal(Number(String(await raw('GET', 's'))), left)
    const keys = ((await raw('KEYS', '*')) as string[]).map(String)
    assert.deepEqual(
      keys.filter((key) => key !== TURN),
      ['s'],
    )
    if (keys.length > 1) assert.ok(Number(await raw('PTTL', TURN)) > 0, `${TURN} has no expiry`)
    await run(spare.close())
  }

  const names = (): string[] => entered.map(({ name }) => name)
  return {
    clock,
    clients,
    drivers,
    server: connected,
    aside,
    raw,
    pause,
    run,
    semaphore,
    come,
    entered,
    names,
    waiting,
    end,
  }
}
