import assert from 'node:assert/strict'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import type { Reply } from '#src/lua/values.js'

type Words = readonly string[]

/** The embedded server, which says no to some commands, and a list of all that were sent. */
class SeenDriver extends MemoryDriver {
  refuses: (words: Words) => boolean = () => false
  readonly sent: Words[] = []
  readonly refused: Words[] = []

  override send(...[argv, options]: Parameters<MemoryDriver['send']>): Promise<Reply> {
    const words = argv.map(String)
    this.sent.push(words)
    if (!this.refuses(words)) return super.send(argv, options)
    this.refused.push(words)
    return Promise.reject(new Error('NOPERM No permissions to access a key'))
  }
}

let servers = 0

const opened = async (refuses: (words: Words) => boolean) => {
  const clock = virtualClock((servers += 1))
  const id = `seen${servers}-${process.pid}`
  const server = openMemoryServer(id, clock)
  const driver = new SeenDriver(server, id)
  driver.refuses = refuses
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    let settled = false
    const done = (): void => void (settled = true)
    promise.then(done, done)
    for (await clock.advance(0); !settled;) await clock.advance(10)
    return promise
  }
  const client = await run(start(settle({ url: `memory:${id}`, clock, deadlocks: 'break' }, {}), driver))
  return { clock, server, driver, run, client }
}

/** One client on a server of its own, in virtual time. At the end it closes, and nothing is left. */
export const onDriver = async (
  refuses: (words: Words) => boolean,
  body: (parts: Awaited<ReturnType<typeof opened>>) => Promise<void>,
): Promise<void> => {
  const parts = await opened(refuses)
  await body(parts)
  const { client, clock, run, server } = parts
  await run(client.close())
  await clock.advance(120_000)
  assert.deepEqual(server.execute(['KEYS', '*']), [])
  closeMemoryServer(server)
}
