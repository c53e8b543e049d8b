import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { times } from '../contract/lock/kind.js'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** As somebody's project would have it, save that the packages are those of this one. */
const installed = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  for (const file of ['main.mjs', 'package.json']) {
    await cp(join(root, 'examples/rate-limit-http', file), join(folder, file))
  }
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/holdfast'))
  await symlink(join(root, 'node_modules/fastify'), join(folder, 'node_modules/fastify'))
  return folder
}

for (const engine of ['memory', 'redis'] as const) {
  void describe(`the example of HTTP limits on ${engine}`, () => {
    let folder = ''
    let server: RedisServer | undefined
    let redis: Redis | undefined
    let child: ChildProcess | undefined
    let url = ''
    let skip: string | undefined

    before(async () => {
      const start = async (): Promise<void> => {
        server = await startRedis()
        redis = new Redis(server.url)
      }
      if (engine === 'redis') skip = await started({ ...redisEngine, start })
      if (skip !== undefined) return
      folder = await installed()
      const env = { ...process.env, PORT: '0', HOLDFAST_URL: server?.url ?? '' }
      child = spawn(process.execPath, ['main.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
      const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
      url = /http:\S+/.exec(line)?.[0] ?? ''
    })

    after(async () => {
      if (child !== undefined) {
        child.kill('SIGTERM')
        const [code] = (await once(child, 'exit')) as [number | null]
        assert.equal(code, 0, 'it did not end in order')
      }
      redis?.disconnect()
      await server?.stop()
      if (folder !== '') await rm(folder, { recursive: true, force: true })
    })

    const lua = async (id: string): Promise<[number, string]> => {
      const answer = await fetch(`${url}/lua/${id}`)
      return [answer.status, await answer.text()]
    }

    void test('fifty at once for one id → three times 1, else 0, always 200; another id counts for itself', async (t) => {
      if (skip !== undefined) return t.skip(skip)
      const answers = await Promise.all(times(50, () => lua('7')))
      assert.deepEqual(answers.map(([status, body]) => `${status} ${body}`).sort(), [
        ...times(47, () => '200 0'),
        ...times(3, () => '200 1'),
      ])
      assert.deepEqual(await lua('8'), [200, '1'])
      assert.deepEqual(await lua('007'), [200, '0'], 'the same number')
    })

    void test('ten seconds after the first → counted anew; refused ones do not make it longer', async (t) => {
      if (skip !== undefined) return t.skip(skip)
      const began = performance.now()
      assert.deepEqual(await lua('9'), [200, '1'])
      const first = performance.now()
      for (let hit = 0; hit < 4; hit += 1) await lua('9')
      let refused = 0
      while ((await lua('9'))[1] === '0') {
        refused += 1
        await sleep(100)
      }
      assert.ok(performance.now() - began >= 9900, 'too early')
      assert.ok(performance.now() - first <= 14_000, 'too late')
      assert.ok(refused > 3)
    })

    void test('an id that is no integer → 400', async (t) => {
      if (skip !== undefined) return t.skip(skip)
      for (const id of ['abc', '1.5', '1e3', '0x1f', '99999999999', '%20', '-']) {
        assert.equal((await lua(id))[0], 400, id)
      }
      assert.deepEqual(await lua('-5'), [200, '1'])
    })

    void test('eight at once from one address → five are let in, the others are told when to come again', async (t) => {
      if (skip !== undefined) return t.skip(skip)
      const answers = await Promise.all(times(8, () => fetch(`${url}/limited`)))
      const refused = answers.filter(({ status }) => status === 429)
      assert.equal(answers.filter(({ status }) => status === 200).length, 5)
      assert.equal(refused.length, 3)
      for (const answer of refused) {
        assert.match(answer.headers.get('retry-after') ?? '', /^([1-9]|10)$/)
        assert.equal(answer.headers.get('ratelimit-policy'), '"limited";q=5;w=10')
      }
    })

    if (engine !== 'redis') return
    void test('the key is a plain counter, shared with whoever counts there; one without an expiry gets one', async (t) => {
      if (skip !== undefined || redis === undefined) return t.skip(skip)
      await redis.incrby('LIMIT:10', 2)
      assert.deepEqual(await lua('10'), [200, '1'])
      assert.deepEqual(await lua('10'), [200, '0'])
      assert.equal(await redis.get('LIMIT:10'), '4')
      const ttl = await redis.ttl('LIMIT:10')
      assert.ok(ttl > 0 && ttl <= 10, String(ttl))
    })
  })
}
