import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hold } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { readWriteLockReadRenew } from '#src/lua/scripts.gen.js'
import { type Client, redisEngine, scenarios } from '../../support/engines.js'
import type { Arg, Reply } from '#src/lua/values.js'

const LEVELS = 40
/** What one renewal may take of the server, ms. All of 250 reads of so many levels took 17 to 30. */
const MOST_MS = 5

const readers = async (client: Client, count: number): Promise<Hold[]> => {
  const { read } = client.readWriteLock('a')
  const holds = Array.from({ length: count }, async () => {
    const owner = client.owner()
    const own: Hold[] = []
    while (own.length < LEVELS) own.push(await read.acquire({ owner }))
    return own
  })
  return (await Promise.all(holds)).flat()
}

/** How many reads each renewal is about. */
class Counting extends MemoryDriver {
  readonly reads: number[] = []

  override send(argv: readonly Arg[]): Promise<Reply> {
    // Of each the lock, its levels, and its owner.
    if (argv[1] === readWriteLockReadRenew.sha) this.reads.push(Number(argv[2]) / 2)
    return super.send(argv)
  }
}

void test('many reads of many levels → no renewal is about more than 250 of them', async () => {
  const clock = virtualClock(7)
  const driver = new Counting(new MemoryServer(clock), undefined)
  const client = await start(settle({ url: 'memory:', clock }, {}), driver)
  const holds = readers(client, 50)
  await clock.advance(1000)
  await clock.advance(10_000)
  assert.equal(
    driver.reads.reduce((sum, reads) => sum + reads, 0),
    50,
  )
  assert.ok(Math.max(...driver.reads) * LEVELS <= 250, driver.reads.join(' '))
  await clock.advance(60_000)
  assert.ok((await holds).every((hold) => hold.remaining() > 0))
  const closing = client.close()
  await clock.advance(1000)
  await closing
})

const scenario = scenarios(redisEngine)
scenario(`${redisEngine.name}: 250 reads of many levels → each renewal is short`, async (w) => {
  const client = await w.connect({ watchdog: 12_000 })
  const holds = await w.run(readers(client, 250))
  await w.raw('CONFIG', 'SET', 'slowlog-max-len', 10_000)
  await w.raw('CONFIG', 'SET', 'slowlog-log-slower-than', 100)
  await w.raw('SLOWLOG', 'RESET')
  await w.pass(6000)
  const log = (await w.raw('SLOWLOG', 'GET', 10_000)) as [number, number, number, string[]][]
  // Nobody does anything else here.
  const taken = log.filter(([, , , [command = '']]) => /^eval/i.test(command)).map(([, , us]) => us / 1000)
  const middle = taken.sort((a, b) => a - b)[taken.length >> 1] ?? assert.fail('nothing was renewed')
  assert.ok(middle <= MOST_MS, `${taken.join(' ')} ms`)
  assert.ok(holds.every((hold) => hold.remaining() > 0))
})
