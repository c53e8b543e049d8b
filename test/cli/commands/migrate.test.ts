import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { LIBRARIES } from '#src/cli/migrate/names.js'
import { check, type Finding } from 'holdfast/migrate'

const MAIN = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url))

const holdfast = (...args: string[]): Promise<{ code: number; out: string; error: string }> =>
  new Promise((resolve) => {
    execFile(process.execPath, [MAIN, 'migrate', ...args], (failed, out, error) =>
      resolve({ code: failed === null ? 0 : Number(failed.code), out, error }),
    )
  })

const folderOf = async (t: TestContext, files: Readonly<Record<string, string | Buffer>>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-migrate-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  for (const [path, content] of Object.entries(files)) {
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
  return folder
}

const found = async (folder: string): Promise<Finding[]> => {
  const all: Finding[] = []
  for await (const finding of check(folder)) all.push(finding)
  return all
}
const short = (all: readonly Finding[]): string[] => all.map(({ file, line, name }) => `${file}:${line} ${name}`)

const USES = `import Redlock, { ResourceLockedError } from 'redlock'
const redlock = new Redlock([redis], { retryCount: 3 })
await redlock.using(['a'], 5000, work)
const myRetryCount = settings.redlockish
`

void test('every name of the table is found, with what it is called here', async (t) => {
  for (const { packages, names, page } of LIBRARIES)
    for (const name of packages) {
      const uses = names.map(([word]) => (word.startsWith('.') ? `x${word}(1)` : `{ ${word}: 1 }`))
      const folder = await folderOf(t, { 'a.ts': [`import x from '${name}'`, ...uses].join('\n') })
      const all = await found(folder)
      for (const [i, [word, ours]] of names.entries()) {
        const one = all.find((finding) => finding.line === i + 2 && finding.name === word)
        assert.equal(one?.ours, ours, `${name} ${word}`)
        assert.equal(one?.page, page && `docs/migrate/${page}.md`)
      }
      assert.equal(all[0]?.name, name)
    }
})

void test('each sort of import and of file; not other packages, nor node_modules, .git and links', async (t) => {
  const folder = await folderOf(t, {
    'src/a.ts': USES,
    'src/b.cjs': "const { Mutex } = require('redis-semaphore')\n",
    'src/c.mts': "const { default: Redlock } = await import( '@sesamecare-oss/redlock' )\n",
    'src/d.tsx': "import { Mutex } from 'redlock-universal'\nnew Mutex()\n",
    'src/e.js': "import 'redis-semaphore/lib/RedisMutex'\n",
    'src/f.py': USES,
    'node_modules/x/a.js': USES,
    '.git/a.js': USES,
    'package.json': '{\n  "dependencies": {\n    "redlock": "5.0.0",\n    "redlock-universal": "1"\n  }\n}\n',
  })
  await symlink(folder, join(folder, 'src/circle'))
  await symlink(join(folder, 'src/a.ts'), join(folder, 'src/z.ts'))
  await symlink('nowhere', join(folder, 'src/y.ts'))
  assert.deepEqual(short(await found(folder)), [
    'package.json:3 redlock',
    'src/a.ts:1 redlock',
    'src/a.ts:2 Redlock',
    'src/a.ts:2 retryCount',
    'src/a.ts:3 .using',
    'src/b.cjs:1 redis-semaphore',
    'src/c.mts:1 @sesamecare-oss/redlock',
    'src/e.js:1 redis-semaphore',
  ])
})

void test('binary, long and hostile files → no crash, bounded, and no escape sequence is printed', async (t) => {
  const folder = await folderOf(t, {
    'binary.js': Buffer.concat([Buffer.from(USES), Buffer.from([0, 255, 254])]),
    'long.js': USES + ' '.repeat(1_048_576),
    'spaces.js': `${USES}from${' '.repeat(1_000_000)}`,
    'many.js': `${USES}${'retryCount\n'.repeat(5000)}`,
    'a\u001b[31m.ts': USES,
    'invalid.js': Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(USES)]),
  })
  const all = await found(folder)
  const count = (file: string): number => all.filter((finding) => finding.file === file).length
  assert.deepEqual(['binary.js', 'long.js', 'spaces.js', 'many.js', 'invalid.js'].map(count), [0, 0, 4, 1000, 4])
  const { code, out } = await holdfast('check', folder)
  assert.equal(code, 1)
  assert.ok(!out.includes('\u001b'))
})

void test('10,000 files → under five seconds', async (t) => {
  const folder = await folderOf(t, { 'a.ts': USES })
  for (let part = 0; part < 100; part++) {
    await mkdir(join(folder, `${part}`))
    await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        writeFile(join(folder, `${part}/${i}.ts`), 'export const x = 1\n'.repeat(50)),
      ),
    )
  }
  const began = process.cpuUsage()
  assert.equal((await found(folder)).length, 4)
  const { user, system } = process.cpuUsage(began)
  assert.ok(user + system < 5e6, `${Math.round((user + system) / 1000)} ms of CPU`)
})

void test('the command: what it prints, --json, and its exit codes', async (t) => {
  const folder = await folderOf(t, { 'a.ts': USES })
  const { code, out } = await holdfast('check', folder)
  assert.equal(code, 1)
  assert.match(out, /^a\.ts:2 {2}redlock: retryCount {2}→ {2}wait: how many ms/m)
  assert.match(out, /^4 uses; what is different: docs\/migrate\/redlock\.md$/m)
  const json = await holdfast('check', folder, '--json')
  assert.equal(json.code, 1)
  const lines = json.out.trim().split('\n')
  assert.deepEqual(
    lines.map((line) => JSON.parse(line) as Finding),
    await found(folder),
  )
  const none = await holdfast('check', await folderOf(t, { 'a.ts': 'export {}\n' }))
  assert.deepEqual([none.code, none.out], [0, 'found no use of another lock library\n'])
  for (const wrong of [
    [],
    ['check'],
    ['check', '.', '.'],
    ['find', '.'],
    ['check', join(folder, 'b')],
    ['check', join(folder, 'a.ts')],
  ])
    assert.equal((await holdfast(...wrong)).code, 64, wrong.join(' '))
})
