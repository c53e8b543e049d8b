import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { times } from '../contract/lock/kind.js'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** As somebody's project would have it, save that the packages are those of this one. */
const installed = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  for (const file of ['main.mjs', 'package.json'])
    await cp(join(root, 'examples/idempotent-payments', file), join(folder, file))
  await mkdir(join(folder, 'node_modules'))
  await symlink(root, join(folder, 'node_modules/holdfast'))
  await symlink(join(root, 'node_modules/fastify'), join(folder, 'node_modules/fastify'))
  return folder
}

for (const engine of ['memory', 'redis'] as const) {
  void describe(`the example of payments on ${engine}`, () => {
    let folder = ''
    let server: RedisServer | undefined
    let child: ChildProcess | undefined
    let url = ''
    let skip: string | undefined

    before(async () => {
      if (engine === 'redis')
        skip = await started({ ...redisEngine, start: async () => void (server = await startRedis()) })
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
      await server?.stop()
      if (folder !== '') await rm(folder, { recursive: true, force: true })
    })

    const pay = (user: string, key: string, amount: unknown): Promise<Response> =>
      fetch(`${url}/payments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-user': user, ...(key !== '' && { 'idempotency-key': key }) },
        body: JSON.stringify({ amount }),
      })

    void test('twenty equal payments at once, and one later → one is booked', async (t) => {
      if (skip !== undefined) return t.skip(skip)
      const answers = await Promise.all(times(20, () => pay('ada', '"order-7"', 10)))
      assert.ok(answers.every(({ status }) => status === 201 || status === 409))
      const later = await pay('ada', '"order-7"', 10)
      assert.deepEqual([later.status, later.headers.get('idempotent-replayed')], [201, 'true'])
      const { id } = (await later.json()) as { id: string }
      assert.equal(later.headers.get('location'), `/payments/${id}`)
      const list = (await (await fetch(`${url}/payments`, { headers: { 'x-user': 'ada' } })).json()) as object[]
      assert.equal(list.length, 1)
    })

    void test('what its page says of another amount, another user, and no key', async (t) => {
      if (skip !== undefined) return t.skip(skip)
      const statuses: number[] = []
      for (const [user, key, amount] of [
        ['cleo', 'k', 10],
        ['cleo', 'k', 11],
        ['bob', 'k', 11],
        ['bob', '', 11],
        ['bob', 'k2', 'ten'],
      ] as const)
        statuses.push((await pay(user, key, amount)).status)
      assert.deepEqual(statuses, [201, 422, 201, 400, 400])
    })

    if (engine === 'redis')
      void test('Redis lost the key → the same payment gets its id again, another amount 422', async (t) => {
        if (server === undefined) return t.skip(skip)
        const redis = new Redis(server.url)
        const { id } = (await (await pay('dora', 'k', 10)).json()) as { id: string }
        await redis.flushall()
        assert.deepEqual(await (await pay('dora', 'k', 10)).json(), { id, amount: 10 })
        await redis.flushall()
        redis.disconnect()
        assert.equal((await pay('dora', 'k', 11)).status, 422)
        const list = (await (await fetch(`${url}/payments`, { headers: { 'x-user': 'dora' } })).json()) as object[]
        assert.equal(list.length, 1)
      })
  })
}
