import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { type Client, connect } from 'holdfast'
import { compileFor, GENERATIONS, folderOf } from './installed.js'

interface App {
  readonly child: ChildProcess
  readonly url: string
}
interface Stats {
  readonly most: number
  readonly slots: readonly string[]
  readonly leading: boolean
}

const started = async (program: string, server: string, terminus: string): Promise<App> => {
  const env = { ...process.env, PORT: '0', HOLDFAST_URL: server, TERMINUS: terminus }
  const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  // Nest may warn of its own affairs before.
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('http:')) return { child, url: line }
  throw new Error('the app has ended')
}

const textAt = async (url: string, init?: RequestInit): Promise<string> => (await fetch(url, init)).text()
const statsOf = async ({ url }: App): Promise<Stats> => JSON.parse(await textAt(`${url}/stats`)) as Stats
const ended = async ({ child }: App): Promise<unknown> => {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode ?? child.signalCode
  const exit = once(child, 'exit')
  child.kill('SIGTERM')
  const [code, signal] = (await exit) as [number | null, string | null]
  return signal ?? code
}

const MOST_WAIT = 20_000
const eventually = async (what: string, holds: () => Promise<boolean>): Promise<void> => {
  const began = performance.now()
  while (!(await holds())) {
    assert.ok(performance.now() - began < MOST_WAIT, what)
    await sleep(50)
  }
}

for (const generation of GENERATIONS) {
  void describe(`holdfast/nest, the ${generation} Nest`, () => {
    let server: RedisServer
    let client: Client
    let apps: [App, App]

    before(async () => {
      server = await startRedis()
      client = await connect(server.url)
      const program = await compileFor(folderOf(generation), 'examples/nestjs/main.ts', 'shop')
      const start = () => started(program, server.url, generation === 'oldest' ? '10' : '')
      apps = await Promise.all([start(), start()])
    })
    after(async () => {
      for (const { child } of apps) child.kill('SIGKILL')
      await client.close()
      await server.stop()
    })

    void test('@Locked: one payment at a time in both apps; result, this and arguments stay', async () => {
      const all = await Promise.all(
        Array.from({ length: 20 }, (_, i) => textAt(`${apps[i % 2]?.url}/orders/7`, { method: 'POST' })),
      )
      assert.deepEqual(new Set(all), new Set(apps.map(({ child }) => `7 paid by ${child.pid}`)))
      for (const app of apps) assert.equal((await statsOf(app)).most, 1)
    })

    void test('@Locked waits for another holder of the same name', async () => {
      const hold = await client.lock('order:8').acquire()
      let paid = false
      const paying = textAt(`${apps[0].url}/orders/8`, { method: 'POST' }).then((text) => {
        paid = true
        return text
      })
      await eventually('it waits', async () => (await client.lock('order:8').inspect()).waiting.length > 0)
      assert.equal(paid, false)
      await hold.release()
      assert.equal(await paying, `8 paid by ${apps[0].child.pid}`)
    })

    void test('a route that is locked keeps its parameters and its other decorators', async () => {
      const answer = await fetch(`${apps[0].url}/locked/x`)
      assert.deepEqual([await answer.text(), answer.headers.get('x-locked')], ['x by locked:x', 'yes'])
    })

    void test('@RunOnce beside @Cron: both apps fire each second, and each slot runs once', async () => {
      await eventually('four slots', async () => {
        const [one, two] = [await statsOf(apps[0]), await statsOf(apps[1])]
        const all = [...one.slots, ...two.slots]
        assert.equal(new Set(all).size, all.length, all.join())
        for (const slot of all) assert.match(slot, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000Z$/)
        return all.length >= 4
      })
    })

    void test('throttlerStorage: 30 requests to both apps → 5 get in', async () => {
      const all = await Promise.all(Array.from({ length: 30 }, (_, i) => fetch(`${apps[i % 2]?.url}/limited`)))
      assert.deepEqual(
        [all.filter(({ status }) => status === 200).length, all.filter(({ status }) => status === 429).length],
        [5, 25],
      )
    })

    void test('health: up; down while the server is silent', async () => {
      const look = async (): Promise<unknown> => {
        const answer = await fetch(`${apps[0].url}/health`)
        const { details } = (await answer.json()) as { details: { holdfast: { status: string } } }
        return [answer.status, details.holdfast.status]
      }
      assert.deepEqual(await look(), [200, 'up'])
      process.kill(server.pid, 'SIGSTOP')
      try {
        assert.deepEqual(await look(), [503, 'down'])
      } finally {
        process.kill(server.pid, 'SIGCONT')
      }
      await eventually('up again', async () => JSON.stringify(await look()) === '[200,"up"]')
    })

    void test('@Leader: one leads; when its app shuts down, the other does, and nothing stays on the server', async () => {
      await eventually('one leads', async () => {
        const leading = [(await statsOf(apps[0])).leading, (await statsOf(apps[1])).leading]
        assert.notDeepEqual(leading, [true, true])
        return leading.includes(true)
      })
      const leader = (await statsOf(apps[0])).leading ? 0 : 1
      const [first, second] = leader === 0 ? apps : [apps[1], apps[0]]
      // A request that waits for a lock when the signal comes is still answered.
      const hold = await client.lock('order:9').acquire()
      const waiting = textAt(`${first.url}/orders/9`, { method: 'POST' })
      await eventually('it waits', async () => (await client.lock('order:9').inspect()).waiting.length > 0)
      const exit = ended(first)
      await eventually('it resigns first', async () => (await statsOf(second)).leading)
      await hold.release()
      assert.equal(await waiting, `9 paid by ${first.child.pid}`)
      assert.equal(await exit, 'SIGTERM')
      assert.equal(await ended(second), 'SIGTERM')
      for await (const { name } of client.list()) assert.fail(`${name} is still on the server`)
    })
  })
}
