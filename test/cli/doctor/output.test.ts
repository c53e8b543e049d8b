import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { CODES, faultOf } from '#src/cli/doctor/codes.js'
import { written } from '../../config/files.js'
import { freePort } from '../../support/redis-server.js'
import { onServer } from '../../support/server.js'
import { holdfast, linesOf, MAIN } from '../commands/stage.js'
import { diagnosed, GOOD } from './stage.js'

const ROOT = new URL('../../../../', import.meta.url)
const pageAt = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')

/** The part of an address that leads to a heading, as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-')

void describe('holdfast doctor: what it prints', () => {
  test('each finding leads to a section that exists, in a page of the package, and is on the page of the command', () => {
    const page = pageAt('docs/command-line.md')
    for (const code of CODES) {
      const [file = '', anchor] = faultOf(code).see.split('#')
      assert.ok(existsSync(new URL(file, ROOT)), file)
      const headings = [...pageAt(file).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
      assert.ok(anchor === undefined || headings.includes(anchor), faultOf(code).see)
      assert.match(page, new RegExp(`^\\| \`${code}\` \\|`, 'm'))
    }
    const rows = [...page.matchAll(/^\| `([a-z-]+)` \| (?:finding|server)/gm)]
    assert.ok(rows.length <= CODES.length)
  })

  onServer(
    'findings → why, what to do, where to read; 1. Accepted ones → 0, and named at the end',
    async ({ server: { url } }) => {
      const { code, out, error } = await holdfast(['doctor'], { url })
      assert.deepEqual([code, error], [1, ''])
      const { why, todo, see } = faultOf('persistence')
      const words = out.replaceAll(/\s+/g, ' ')
      for (const part of [why, todo, `See ${see}`, 'CONFIG SET appendonly yes']) assert.ok(words.includes(part), part)
      assert.match(
        out,
        /^holdfast \d\S+, ioredis \d\S+, Node \d\S+\nredis:\/\/127\.0\.0\.1:\d+\n {2}redis 7\S*, 0 replicas, ping /,
      )
      assert.match(out, /\n1 finding\n$/)
      assert.ok(!out.includes('\u001b'), 'no colours')
      for (const line of linesOf(out)) assert.ok(line.length <= 110, line)
      const accepted = await holdfast(['doctor', '--ignore', 'eviction, persistence'], { url })
      assert.equal(accepted.code, 0)
      assert.match(accepted.out, /\nnothing found; ignored: persistence \(1\)\n$/)
      const { findings, exit } = await diagnosed(['--ignore', 'persistence'], { url })
      assert.deepEqual([exit, findings.map(({ ignored }) => ignored)], [0, [true]])
      assert.equal((await holdfast(['doctor', '--ignore', 'eviction'], { url })).code, 1)
    },
  )

  onServer('--quiet → only what was found, and nothing of what is accepted', async ({ server: { url } }) => {
    const { code, out } = await holdfast(['doctor', '-q'], { url })
    assert.equal(code, 1)
    assert.match(out, /^persistence: [^]*\n {2}See docs\/guide\.md#fenced-locks\n$/)
    assert.deepEqual(await holdfast(['doctor', '-q', '--ignore', 'persistence'], { url }), {
      code: 0,
      out: '',
      error: '',
    })
  })

  onServer('--json → the documented fields, always all of them', async ({ server: { url } }) => {
    const { out } = await holdfast(['doctor', '--json'], { url })
    const objects = linesOf(out).map((line) => JSON.parse(line) as Record<string, unknown>)
    const page = pageAt('docs/command-line.md')
    for (const object of objects) {
      const heading = `| \`${String(object['type'])}\` |`
      assert.ok(page.includes(heading), heading)
      const [row = ''] = page.split('\n').filter((line) => line.startsWith(heading))
      const told = [...row.matchAll(/`(\w+)`/g)].slice(1).map(([, field]) => field)
      assert.deepEqual(Object.keys(object).slice(1), told, heading)
    }
    assert.deepEqual(
      objects.map(({ type }) => type),
      ['client', 'server', 'locks', 'finding'],
    )
  })

  onServer(
    'several findings → stuck locks first, and at the end one line for each code',
    async ({ redis, server: { url } }) => {
      for (const name of ['stuck:1', 'stuck:2']) await redis.hset(name, '00000000-0000-4000-8000-000000000000:55', 1)
      await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
      const { out } = await holdfast(['doctor', '--scan'], { url })
      assert.match(out, /\nno-expiry: stuck:[^]*\neviction: [^]*\npersistence: [^]*\n\nno-expiry: stuck:\d, stuck:\d\n/)
      assert.match(out, /\neviction: redis:\S+\npersistence: redis:\S+\n4 findings\n$/)
    },
  )

  onServer(
    'the reader of the pipe leaves → no error',
    async ({ server: { url } }) => {
      const line = `"$0" "$1" doctor | head -1; echo "\${PIPESTATUS[0]}"`
      const env = { ...process.env, HOLDFAST_URL: url, NO_COLOR: '1' }
      const out = execFileSync('bash', ['-c', line, process.execPath, MAIN], { env, encoding: 'utf8' })
      assert.match(out, /^holdfast [^\n]*\n0\n$/)
    },
    GOOD,
  )

  test('memory: → one line that says why, and 0', async () => {
    for (const surroundings of [{ url: 'memory:' }, { env: { REDIS_URL: 'memory:x' } }]) {
      const error = 'holdfast: memory: is an engine inside one process, so there is no server to examine\n'
      assert.deepEqual(await holdfast(['doctor'], surroundings), { code: 0, out: '', error })
    }
  })

  test('what is wrong → 64 and the usage; no server → 69; a file that is wrong → 78', { timeout: 60_000 }, async () => {
    const url = `redis://127.0.0.1:${await freePort()}`
    for (const [args, says] of [
      [['a'], /takes no arguments/],
      [
        ['--ignore', 'eviction,no\u001b[2Jsuch'],
        /there is no finding "no\\u001b\[2Jsuch"; the findings are eviction, /,
      ],
      [['--ignore', ''], /there is no finding ""/],
      [['--within', '5'], /--within must be a duration/],
      [['--user', ''], /--user must not be empty/],
      [['--url', ''], /--url must not be empty/],
    ] as const) {
      const { code, out, error } = await holdfast(['doctor', ...args], { url })
      assert.deepEqual([code, out], [64, ''], args.join(' '))
      assert.match(error, says)
      assert.match(error, /\n\nUsage: holdfast doctor \[options\]/)
    }
    const away = await holdfast(['doctor'], { url })
    assert.deepEqual([away.code, away.out], [69, ''])
    assert.match(away.error, /^holdfast: [^\n]+\n$/)
    const file = written('wrong.yml', 'singleServerConfig: {address: "nowhere"}\n')
    assert.equal((await holdfast(['doctor', '--config', file])).code, 78)
  })
})
