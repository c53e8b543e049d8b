import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const PROGRAM = fileURLToPath(new URL('../../support/deadlock-process.js', import.meta.url))

interface Said {
  readonly told?: readonly string[]
  readonly victim?: string | null
  readonly had?: number
  readonly error?: readonly string[] | string
}

/** A process with what it has said, after it holds its lock. */
const start = async (...args: readonly string[]) => {
  const child: ChildProcess = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const said: Said[] = []
  let holds: () => void = () => undefined
  const ready = new Promise<void>((resolve) => (holds = resolve))
  createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    const value = JSON.parse(line) as Said | 'holds'
    if (value === 'holds') holds()
    else said.push(value)
  })
  const exit = once(child, 'exit')
  await ready
  const wait = (): void => void child.stdin?.write('wait\n')
  return { said, exit, wait, child }
}

void describe('two processes that wait for one another', () => {
  let server: RedisServer
  before(async () => {
    server = await startRedis()
  })
  after(() => server.stop())

  void test('break → the younger call is rejected with both labels, the other has its lock in time', async () => {
    const one = await start(server.url, 'one', 'break', 'a', 'b')
    const two = await start(server.url, 'two', 'break', 'b', 'a')
    one.wait()
    await new Promise((resolve) => setTimeout(resolve, 300))
    two.wait()
    await Promise.all([one.exit, two.exit])
    const all = [...one.said, ...two.said]
    assert.deepEqual(
      two.said.filter(({ error }) => error !== undefined),
      [{ error: ['one', 'two'] }],
    )
    const [had, ...more] = all.filter((each) => each.had !== undefined)
    assert.ok(one.said.includes(had as Said) && more.length === 0)
    // 300 ms, 3 s, and what a busy machine takes.
    assert.ok((had?.had ?? 0) < 6000, JSON.stringify(all))
    assert.deepEqual(
      two.said.filter(({ told }) => told !== undefined),
      [{ told: ['a', 'b'], victim: 'two' }],
    )
  })

  void test('report → both are told once, none is rejected; one is killed → the other has its lock, and nothing is left', async (t) => {
    const one = await start(server.url, 'one', 'report', 'a', 'b')
    const two = await start(server.url, 'two', 'report', 'b', 'a')
    for (const { wait } of [one, two]) wait()
    const told = { told: ['a', 'b'], victim: null }
    const due = performance.now() + 15_000
    while ([one, two].some(({ said }) => said.length === 0) && performance.now() < due)
      await new Promise((resolve) => setTimeout(resolve, 50))
    assert.deepEqual([one.said, two.said], [[told], [told]])
    const redis = new Redis(server.url)
    t.after(() => redis.disconnect())
    assert.equal((await redis.keys('holdfast:client:*:waits')).length, 2)
    two.child.kill('SIGKILL')
    await redis.del('b')
    await Promise.all([one.exit, two.exit])
    assert.deepEqual(one.said.length, 2)
    assert.ok(one.said[1]?.had !== undefined)
    // What the killed one has published ends by itself.
    const [left, ...others] = await redis.keys('holdfast:client:*:waits')
    const expires = left === undefined ? 0 : await redis.pttl(left)
    assert.ok(others.length === 0 && expires <= 3000 && expires !== -1)
  })
})
