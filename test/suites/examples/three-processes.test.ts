import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { times } from '../contract/lock/kind.js'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

const root = fileURLToPath(new URL('../../../../', import.meta.url))

/** As somebody's project would have it, save that the packages are those of this one. */
const installed = async (example: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  for (const file of ['main.mjs', 'package.json']) await cp(join(root, 'examples', example, file), join(folder, file))
  await mkdir(join(folder, 'node_modules'))
  for (const [name, path] of [
    ['holdfast', root],
    ['fastify', join(root, 'node_modules/fastify')],
  ] as const)
    await symlink(path, join(folder, 'node_modules', name))
  return folder
}

const listening = async (child: ChildProcess): Promise<string> => {
  const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
  return /http:\S+/.exec(line)?.[0] ?? assert.fail(line)
}

const ended = async (child: ChildProcess): Promise<void> => {
  child.kill('SIGTERM')
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

/** Three processes of the example on one server. */
const inThree = (what: string, example: string, body: (urls: readonly string[]) => Promise<void>): void => {
  void test(what, async (t: TestContext) => {
    let server: RedisServer | undefined
    const skip = await started({ ...redisEngine, start: async () => void (server = await startRedis()) })
    if (skip !== undefined) return t.skip(skip)
    const folder = await installed(example)
    const env = { ...process.env, PORT: '0', HOLDFAST_URL: server?.url ?? '' }
    const children = times(3, () =>
      spawn(process.execPath, ['main.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] }),
    )
    try {
      await body(await Promise.all(children.map(listening)))
    } finally {
      await Promise.all(children.map(ended))
      await server?.stop()
      await rm(folder, { recursive: true, force: true })
    }
  })
}

const JSON_OF = { 'content-type': 'application/json', 'x-user': 'ada' }

inThree('equal payments in three processes at once → one is booked', 'idempotent-payments', async (urls) => {
  const pay = (url: string): Promise<Response> => {
    const headers = { ...JSON_OF, 'idempotency-key': '"order-7"' }
    return fetch(`${url}/payments`, { method: 'POST', headers, body: '{"amount":10}' })
  }
  const answers = await Promise.all(urls.flatMap((url) => times(10, () => pay(url))))
  assert.deepEqual(
    answers.map(({ status }) => status).filter((status) => status !== 201 && status !== 409),
    [],
  )
  const ids = new Set<string>()
  for (const url of urls) {
    const later = await pay(url)
    assert.equal(later.status, 201)
    ids.add(((await later.json()) as { id: string }).id)
  }
  assert.equal(ids.size, 1, 'each process replays the same answer')
  const booked = await Promise.all(
    urls.map(async (url) => (await (await fetch(`${url}/payments`, { headers: JSON_OF })).json()) as object[]),
  )
  assert.equal(booked.flat().length, 1)
})

inThree('one address asks three processes at once → five are let in altogether', 'rate-limit-http', async (urls) => {
  const answers = await Promise.all(urls.flatMap((url) => times(8, () => fetch(`${url}/limited`))))
  const statuses = answers.map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 200).length, 5)
  assert.equal(statuses.filter((status) => status === 429).length, 19)
})
