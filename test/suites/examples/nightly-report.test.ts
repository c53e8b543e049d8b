import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const program = fileURLToPath(new URL('../../../examples/nightly-report.js', import.meta.url))

interface Instance {
  readonly child: ChildProcess
  readonly said: () => string
  /** Resolves when it has said this; rejects when it ends before. */
  readonly says: (text: string) => Promise<void>
}

describe('the example of the nightly report, in processes on a server', () => {
  let server: RedisServer | undefined
  let redis: Redis | undefined
  let skip: string | undefined
  const children: ChildProcess[] = []

  before(async () => {
    skip = await started(redisEngine)
    await redisEngine.stop?.()
    if (skip !== undefined) return
    server = await startRedis()
    redis = new Redis(server.url)
  })

  after(async () => {
    for (const child of children) child.kill('SIGKILL')
    redis?.disconnect()
    await server?.stop()
  })

  const instance = (name: string): Instance => {
    const env = { ...process.env, HOLDFAST_URL: server?.url ?? '' }
    const child = spawn(process.execPath, [program, name], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    children.push(child)
    let text = ''
    child.stdout.on('data', (data: Buffer) => (text += data.toString()))
    const says = async (wanted: string): Promise<void> => {
      while (!text.includes(wanted)) {
        if (child.exitCode !== null) throw new Error(`${name} ended without '${wanted}': ${text}`)
        await sleep(5)
      }
    }
    return { child, said: () => text, says }
  }

  const ended = async (instances: readonly Instance[]): Promise<string> => {
    for (const { child } of instances)
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    return instances.map(({ said }) => said()).join('')
  }

  void test('three that start 0.7 s apart → it is written once', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    await redis?.flushall()
    const instances: Instance[] = []
    for (const name of ['ada', 'bob', 'cleo']) {
      instances.push(instance(name))
      await sleep(700)
    }
    const all = await ended(instances)
    assert.equal(all.split('writing the report').length - 1, 1, all)
    assert.equal(all.split('is written already').length - 1, 2, all)
  })

  void test('the one that writes is killed → the next one writes it, after the lease', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    await redis?.flushall()
    const first = instance('ada')
    await first.says('writing the report')
    first.child.kill('SIGKILL')
    const all = await ended([instance('bob'), first])
    assert.match(all, /bob: done/)
    assert.doesNotMatch(all, /ada: done/)
  })
})
