import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, connect, type ClientOptions, type ListedLock, type ListOptions } from 'holdfast'
import { type VirtualClock, virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { openMemoryServer } from '#src/engine/memory/registry.js'
import { PartialDriver } from './partial-driver.js'

/** Some clients of one embedded server, in virtual time. */
export interface Town {
  readonly clock: VirtualClock
  join(options?: ClientOptions): Promise<Client>
  /** A client of the same server on a connection that can be broken in part. */
  joinInPart(options?: ClientOptions): Promise<readonly [Client, PartialDriver]>
  run<T>(promise: Promise<T>): Promise<T>
  list(client: Client, options?: ListOptions): Promise<ListedLock[]>
  raw(...words: readonly string[]): unknown
}

let towns = 0

/** A test in a town. At the end, all clients are closed, and nothing is left on the server. */
export const inTown = (name: string, body: (town: Town) => Promise<void>): void => {
  void test(name, async () => {
    const clock = virtualClock((towns += 1))
    const id = `town${towns}-${process.pid}`
    const server = openMemoryServer(id, clock)
    const clients: Client[] = []
    const run = async <T>(promise: Promise<T>): Promise<T> => {
      let settled = false
      const done = (): void => void (settled = true)
      promise.then(done, done)
      for (await clock.advance(0); !settled;) await clock.advance(10)
      return promise
    }
    const join = async (options: ClientOptions = {}): Promise<Client> => {
      const client = await run(connect({ url: `memory:${id}`, clock, ...options }))
      clients.push(client)
      return client
    }
    const joinInPart = async (options: ClientOptions = {}): Promise<readonly [Client, PartialDriver]> => {
      const driver = new PartialDriver(server)
      const client = await run(start(settle({ url: `memory:${id}`, clock, ...options }, {}), driver))
      clients.push(client)
      return [client, driver]
    }
    const all = async (client: Client, options?: ListOptions): Promise<ListedLock[]> => {
      const rows: ListedLock[] = []
      for await (const row of client.list(options)) rows.push(row)
      return rows
    }
    const raw = (...words: readonly string[]): unknown => server.execute([...words])
    await body({ clock, join, joinInPart, run, raw, list: (client, options) => run(all(client, options)) })
    for (const client of clients) await run(client.close())
    await clock.advance(120_000)
    assert.deepEqual(raw('KEYS', '*'), [])
  })
}
