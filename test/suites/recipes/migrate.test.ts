import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import { LIBRARIES } from '#src/cli/migrate/names.js'
import { type PostgresServer, startPostgres } from '../../support/postgres.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { root, soon } from './recipe.js'

const run = promisify(execFile)
/** As the pages name them. */
const PACKAGES = ['redlock@5.0.0-beta.2', 'redis-semaphore@5', 'pg@8']
const PAGES = ['set-nx', 'redlock', 'redis-semaphore', 'redisson', 'shedlock', 'advisory-locks']
/** Which programs a page has, if not `after` alone. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  'set-nx': ['before', 'after', 'both'],
  redlock: ['before', 'after', 'both'],
  'redis-semaphore': ['before', 'after'],
  'advisory-locks': ['before', 'after'],
}
const CALLERS = 4
/** The pages with a release that acquires both locks: the key of the old one, and the command that each of its tries sends. */
const BOTH = [
  { page: 'set-nx', key: 'stock:mutex', command: 'set' },
  { page: 'redlock', key: 'stock', command: 'exists' },
] as const

const pageOf = (page: string): Promise<string> => readFile(join(root, `docs/migrate/${page}.md`), 'utf8')

/** The programs of a page, by their names, in the order of the page. */
const programsOf = async (page: string): Promise<Map<string, string>> => {
  const programs = (await pageOf(page)).matchAll(/^```js\n\/\/ (before|after|both)\.mjs\n(.*?)^```$/gms)
  return new Map([...programs].map(([, which = '', code = '']) => [which, code]))
}

void describe('the pages about leaving another library', () => {
  let folder = ''
  let reason: string | undefined
  let server: RedisServer
  let redis: Redis
  let postgres: PostgresServer | string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-migrate-pages-'))
    server = await startRedis()
    redis = new Redis(server.url)
    postgres = await startPostgres()
    const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--legacy-peer-deps']
    try {
      await run('npm', ['install', ...quietly, '--prefix', folder, ...PACKAGES], { cwd: folder })
    } catch (error) {
      reason = `a package cannot be installed: ${String(error)}`
      return
    }
    await rm(join(folder, 'node_modules/ioredis'), { recursive: true, force: true })
    await symlink(join(root, 'node_modules/ioredis'), join(folder, 'node_modules/ioredis'))
    await symlink(root, join(folder, 'node_modules/holdfast'))
  })
  after(async () => {
    redis.disconnect()
    await server.stop()
    if (typeof postgres !== 'string') await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  })

  /** The program, as a process. */
  const start = async (code: string): Promise<string> => {
    const file = join(folder, `program-${randomUUID()}.mjs`)
    await writeFile(file, code)
    const database = typeof postgres === 'string' ? {} : { DATABASE_URL: postgres.url }
    const env = { ...process.env, REDIS_URL: server.url, ...database }
    return (await run(process.execPath, [file], { cwd: folder, env })).stdout.trim()
  }

  /** Each of the programs, in several processes, all at once. */
  const runsOf = (...codes: readonly string[]): Promise<string[]> =>
    Promise.all(codes.flatMap((code) => Array.from({ length: CALLERS }, () => start(code))))

  /** Without these, the test is skipped, unless they are required. */
  const isSkipped = (t: TestContext, lacks: string | undefined): boolean => {
    if (lacks === undefined) return false
    assert.ok(!/redis|postgres/.test(process.env['HOLDFAST_REQUIRE'] ?? ''), lacks)
    t.skip(lacks)
    return true
  }

  for (const page of PAGES)
    test(`docs/migrate/${page}.md → each of its programs does the work of ${CALLERS} processes one at a time`, async (t) => {
      const lacks = reason ?? (page === 'advisory-locks' && typeof postgres === 'string' ? postgres : undefined)
      if (isSkipped(t, lacks)) return
      const programs = await programsOf(page)
      assert.deepEqual([...programs.keys()], PROGRAMS[page] ?? ['after'])
      for (const [which, code] of programs) {
        await redis.set('stock:left', 10)
        const said = await runsOf(code)
        const done = page === 'shedlock' ? 1 : CALLERS
        assert.equal(await redis.get('stock:left'), String(10 - done), which)
        if (page === 'shedlock') assert.deepEqual(said.sort(), ['ran', 'skipped', 'skipped', 'skipped'])
      }
    })

  for (const { page, key, command } of BOTH) {
    for (const [older, newer] of [
      ['before', 'both'],
      ['both', 'after'],
    ] as const)
      test(`docs/migrate/${page}.md → ${older}.mjs and ${newer}.mjs at once, as in a deploy: no work is lost`, async (t) => {
        if (isSkipped(t, reason)) return
        const programs = await programsOf(page)
        await redis.set('stock:left', 10)
        await runsOf(programs.get(older) ?? '', programs.get(newer) ?? '')
        assert.equal(await redis.get('stock:left'), String(10 - 2 * CALLERS))
      })

    test(`docs/migrate/${page}.md → both.mjs waits for a process that has only the old lock`, async (t) => {
      if (isSkipped(t, reason)) return
      const code = (await programsOf(page)).get('both') ?? ''
      await redis.set('stock:left', 10)
      await redis.set(key, 'of the old release')
      await redis.config('RESETSTAT')
      const tries = async (): Promise<number> => {
        const calls = new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(await redis.info('commandstats'))?.[1]
        return Number(calls ?? 0)
      }
      let over = false
      const running = start(code).finally(() => (over = true))
      // Some of these are its client's own: it has been refused again and again.
      await soon(async () => over || (await tries()) > 12)
      assert.deepEqual([over, await redis.get('stock:left')], [false, '10'])
      await redis.del(key)
      await running
      assert.equal(await redis.get('stock:left'), '9')
    })

    test(`docs/migrate/${page}.md → both.mjs waits for a process that has only the lock of holdfast, without the old one`, async (t) => {
      if (isSkipped(t, reason)) return
      const code = (await programsOf(page)).get('both') ?? ''
      await redis.set('stock:left', 10)
      const client = await connect(server.url)
      const lock = client.lock('lock:stock')
      const hold = await lock.acquire()
      let over = false
      const running = start(code).finally(() => (over = true))
      await soon(async () => over || (await lock.inspect()).waiting.length === 1)
      // The lease of the old lock does not run out while it waits here.
      assert.deepEqual(await redis.mget('stock:left', key), ['10', null])
      await hold.release()
      await running
      assert.equal(await redis.get('stock:left'), '9')
      await client.close()
    })
  }
})

for (const { page, names } of LIBRARIES) {
  if (page === undefined) continue
  void test(`docs/migrate/${page}.md → has every name that holdfast migrate check finds`, async () => {
    const text = await pageOf(page)
    const missing = names.map(([name]) => name.replace(/^\./, '')).filter((name) => !text.includes(name))
    assert.deepEqual(missing, [])
  })
}
