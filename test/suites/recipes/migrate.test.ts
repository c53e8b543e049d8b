import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { LIBRARIES } from '#src/cli/migrate/names.js'
import { type PostgresServer, startPostgres } from '../../support/postgres.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { root } from './recipe.js'

const run = promisify(execFile)
/** As the pages name them. */
const PACKAGES = ['redlock@5.0.0-beta.2', 'redis-semaphore@5', 'pg@8']
const PAGES = ['redlock', 'redis-semaphore', 'redisson', 'shedlock', 'advisory-locks']
const CALLERS = 4

const pageOf = (page: string): Promise<string> => readFile(join(root, `docs/migrate/${page}.md`), 'utf8')

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

  /** The program, in several processes at once. */
  const runsOf = async (code: string): Promise<string[]> => {
    const file = join(folder, 'program.mjs')
    await writeFile(file, code)
    const database = typeof postgres === 'string' ? {} : { DATABASE_URL: postgres.url }
    const env = { ...process.env, REDIS_URL: server.url, ...database }
    const all = Array.from({ length: CALLERS }, () => run(process.execPath, [file], { cwd: folder, env }))
    return (await Promise.all(all)).map(({ stdout }) => stdout.trim())
  }

  for (const page of PAGES)
    test(`docs/migrate/${page}.md → each of its programs does the work of ${CALLERS} processes one at a time`, async (t) => {
      const lacks = reason ?? (page === 'advisory-locks' && typeof postgres === 'string' ? postgres : undefined)
      if (lacks !== undefined) {
        assert.ok(!/redis|postgres/.test(process.env['HOLDFAST_REQUIRE'] ?? ''), lacks)
        t.skip(lacks)
        return
      }
      const programs = [...(await pageOf(page)).matchAll(/^```js\n\/\/ (before|after)\.mjs\n(.*?)^```$/gms)]
      const both = ['redlock', 'redis-semaphore', 'advisory-locks'].includes(page)
      assert.deepEqual(
        programs.map(([, which]) => which),
        both ? ['before', 'after'] : ['after'],
      )
      for (const [, which, code = ''] of programs) {
        await redis.set('stock:left', 10)
        const said = await runsOf(code)
        const done = page === 'shedlock' ? 1 : CALLERS
        assert.equal(await redis.get('stock:left'), String(10 - done), which)
        if (page === 'shedlock') assert.deepEqual(said.sort(), ['ran', 'skipped', 'skipped', 'skipped'])
      }
    })
})

for (const { page, names } of LIBRARIES) {
  if (page === undefined) continue
  void test(`docs/migrate/${page}.md → has every name that holdfast migrate check finds`, async () => {
    const text = await pageOf(page)
    const missing = names.map(([name]) => name.replace(/^\./, '')).filter((name) => !text.includes(name))
    assert.deepEqual(missing, [])
  })
}
