import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock, type VirtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import type { Driver } from '#src/engine/driver.js'
import type { MemoryServer } from '#src/engine/memory/server.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import { watch } from '../suites/contract/lock/kind.js'
import { SwitchedDriver } from './switched-driver.js'

type Client = Awaited<ReturnType<typeof start>>

export interface Stage {
  readonly clock: VirtualClock
  readonly driver: SwitchedDriver
  readonly client: Client
  /** Another client of the same server, on a connection of its own. */
  other(driver: Driver): Promise<Client>
  readonly server: MemoryServer
  readonly errors: Error[]
  raw(...words: (string | number)[]): unknown
  run<T>(promise: Promise<T>): Promise<T>
}

let stages = 0
export const MINUTE = 60_000

/** The server knows the scripts: what it is asked for, it does when it is asked. */
const warm = async (client: Client, run: Stage['run']): Promise<void> => {
  const [s, p, latch] = [client.semaphore('warm'), client.permitSemaphore('warm'), client.countDownLatch('warm')]
  const steps: (() => Promise<unknown>)[] = [
    ...[() => latch.trySetCount(1), () => latch.countDown(), () => p.trySetPermits(1)],
    ...[() => p.acquire().then((permit) => permit.release()), () => p.delete(), () => s.trySetPermits(1)],
    ...[() => s.using(() => 0), () => s.drain(), () => s.delete()],
  ]
  for (const step of steps) await run(step())
}

/** One client on a server of its own, in virtual time. Nothing but `keeps` is left in the end. */
export const onStage = (
  name: string,
  body: (stage: Stage) => Promise<void>,
  keeps: readonly string[] = [],
  commandTimeout = 500,
): void => {
  void test(name, async () => {
    const clock = virtualClock((stages += 1))
    const id = `stage${stages}-${process.pid}`
    const server = openMemoryServer(id, clock)
    const driver = new SwitchedDriver(new MemoryDriver(server, id))
    const run = async <T>(promise: Promise<T>): Promise<T> => {
      const seen = watch(promise)
      for (await clock.advance(0); !seen.settled; await clock.advance(10)) {
        assert.ok(clock.now() < 1e15)
      }
      return promise
    }
    const settings = settle({ url: `memory:${id}`, clock, presence: false, commandTimeout }, {})
    const client = await run(start(settings, driver))
    const errors: Error[] = []
    client.on('error', (error) => errors.push(error))
    const raw = (...words: (string | number)[]): unknown => server.execute(words.map(String))
    await warm(client, run)
    const others: Client[] = []
    const other = async (on: Driver): Promise<Client> => {
      const opened = await run(start(settings, on))
      others.push(opened)
      return opened
    }
    await body({ clock, driver, client, other, server, errors, raw, run })
    for (const opened of others) await run(opened.close())
    await run(client.close())
    await clock.advance(2 * MINUTE)
    assert.deepEqual(raw('KEYS', '*'), keeps)
    closeMemoryServer(server)
  })
}
