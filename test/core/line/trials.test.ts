import assert from 'node:assert/strict'
import type { AcquireOptions, Hold } from 'holdfast'
import { fairLockConfirm } from '#src/lua/scripts.gen.js'
import { type Broken, onServer } from '../../support/server.js'

const NAME = 'a'

/**
 * Two clients stand in line by turns, so that each hand-over is a grant of its own. `work`: what each does with its hold.
 * How many grants were confirmed.
 */
const handOver = async (
  { open, redis, server, until }: Broken,
  works: readonly ((hold: Hold) => Promise<unknown>)[],
  options: AcquireOptions = {},
): Promise<number> => {
  const clients = [await open(), await open()] as const
  const first = await clients[1].fairLock(NAME).acquire()
  const waiting = works.map(() => Promise.resolve())
  for (const [round, work] of works.entries()) {
    const lock = clients[round % 2 === 0 ? 0 : 1].fairLock(NAME)
    waiting[round] = lock.acquire(options).then(async (hold) => {
      await work(hold)
    })
    await until(async () => (await lock.inspect()).waiting.length === round + 1)
  }
  const monitor = await redis.monitor()
  let confirmed = 0
  let last = false
  monitor.on('monitor', (_time: string, [command, argument]: string[]) => {
    if (command?.toLowerCase() === 'evalsha' && argument === fairLockConfirm.sha) confirmed++
    last ||= argument === server.url
  })
  await first.release()
  await Promise.all(waiting)
  await until(async () => (await redis.llen(`redisson_lock_queue:{${NAME}}`)) === 0)
  await redis.echo(server.url)
  await until(() => last)
  monitor.disconnect()
  return confirmed
}

const release = (hold: Hold): Promise<boolean> => hold.release()
const brief = Array.from({ length: 6 }, () => release)

onServer(
  'holds that are over within their turn of the event loop → only the first of each process is confirmed',
  async (broken) => {
    assert.equal(await handOver(broken, [...brief, ...brief]), 2)
  },
)

onServer(
  'a hold that lasts after brief ones → confirmed when its turn is over, and has its whole lease',
  async (broken) => {
    let kept: Hold | undefined
    assert.equal(await handOver(broken, [...brief, (hold) => Promise.resolve((kept = hold))]), 3)
    assert.ok((await broken.redis.pttl(NAME)) > 20_000)
    assert.equal(kept?.state, 'held')
    assert.equal(await broken.redis.llen(`redisson_lock_queue:{${NAME}}`), 0)
    assert.equal(await kept.release(), true)
  },
)

onServer('extended within the turn of its grant → has the longer lease, and leaves the line', async (broken) => {
  let kept: Hold | undefined
  const work = async (hold: Hold): Promise<void> => {
    await hold.extend(60_000)
    kept = hold
  }
  await handOver(broken, [...brief, work], { lease: 20_000 })
  assert.ok((await broken.redis.pttl(NAME)) > 50_000)
  await broken.until(async () => (await broken.redis.llen(`redisson_lock_queue:{${NAME}}`)) === 0)
  assert.equal(await kept?.release(), true)
})

onServer('detached within the turn of its grant → out of the line, and whoever adopts it has it', async (broken) => {
  let ticket = ''
  await handOver(broken, [...brief, async (hold) => (ticket = await hold.detach())])
  assert.equal(await broken.redis.llen(`redisson_lock_queue:{${NAME}}`), 0)
  const adopted = await (await broken.open()).adopt(ticket)
  assert.equal(await adopted.release(), true)
})

onServer(
  'its key was deleted within the turn of its grant → the release says so, and the next one has it',
  async (broken) => {
    const outcomes: boolean[] = []
    const work = async (hold: Hold): Promise<void> => {
      await broken.redis.del(NAME)
      outcomes.push(await hold.release())
    }
    await handOver(broken, [...brief, work, async (hold) => outcomes.push(await hold.release())])
    assert.deepEqual(outcomes, [false, true])
  },
)
