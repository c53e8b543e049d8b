import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { redisEngine, started } from '../../support/engines.js'
import { startPostgres } from '../../support/postgres.js'
import { startRedis } from '../../support/redis-server.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const required = (process.env['HOLDFAST_REQUIRE'] ?? '').includes('postgres')

/** As its `prepare.mjs` has it: the driver from the registry, holdfast as it is built here. */
const installIn = async (folder: string): Promise<string | undefined> => {
  await cp(join(root, 'examples/fencing-postgres'), folder, { recursive: true })
  const { dependencies } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  assert.equal(dependencies['holdfast'], 'file:../..')
  await rm(join(folder, 'package.json'))
  const quietly = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', folder]
  try {
    await run('npm', ['install', ...quietly, `pg@${dependencies['pg']}`], { cwd: folder })
  } catch (error) {
    return `no postgres driver from the registry: ${String(error)}`
  }
  await symlink(root, join(folder, 'node_modules/holdfast'))
  return undefined
}

void test('the example of fencing → the paused client is refused by the row', { timeout: 240_000 }, async (t) => {
  const noRedis = await started({ ...redisEngine, start: async () => (await startRedis()).stop() })
  if (noRedis !== undefined) {
    t.skip(noRedis)
    return
  }
  const postgres = await startPostgres()
  if (typeof postgres === 'string') {
    assert.ok(!required, postgres)
    t.skip(postgres)
    return
  }
  const redis = await startRedis()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  try {
    const noDriver = await installIn(folder)
    if (noDriver !== undefined) {
      assert.ok(!required, noDriver)
      t.skip(noDriver)
      return
    }
    const env = { ...process.env, HOLDFAST_URL: redis.url, DATABASE_URL: postgres.url }
    const { stdout } = await run(process.execPath, [join(folder, 'main.mjs')], { env, cwd: folder })
    const readme = await readFile(join(folder, 'README.md'), 'utf8')
    const promised = [...readme.matchAll(/^ {4}((?:paused|second|the row).*)$/gm)].map(([, line]) => line)
    assert.equal(promised.length, 6)
    assert.deepEqual(stdout.trim().split('\n'), promised)
  } finally {
    await rm(folder, { recursive: true, force: true })
    await redis.stop()
    await postgres.stop()
  }
})
