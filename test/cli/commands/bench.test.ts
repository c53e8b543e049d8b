import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { quantile } from '#src/cli/bench/measure.js'
import { admit, APP_LINE } from '../../support/acl.js'
import { startCluster } from '../../support/redis-cluster.js'
import { type Broken, onServer } from '../../support/server.js'
import { holdfast, linesOf, MAIN } from './stage.js'

const ROWS = ['script', 'alone', 'many', 'contended', 'fair']

interface Row {
  readonly row: string
  readonly callers: number
  readonly perSecond: number
  readonly median: number
  readonly p99: number
  readonly serverCpu: number | null
  readonly clientCpu: number
}

interface Plan {
  readonly row: string
  readonly load: object
  readonly visits: number
  readonly busy: number
  readonly wait: number
  readonly requests: { readonly visits: number }
  readonly cores: number
  readonly limits: { readonly alone: number }
}

const rowsOf = (out: string): readonly Row[] => linesOf(out).map((line) => JSON.parse(line) as Row)

/** `holdfast bench`, and something that happens while it measures the rows behind the first. */
const during = async ({ server }: Broken, event: (kill: (signal: NodeJS.Signals) => void) => unknown) => {
  const child = spawn(process.execPath, [MAIN, 'bench', '--json', '--url', server.url, '--duration', '10s'])
  const error = text(child.stderr)
  await once(child.stdout, 'data')
  child.stdout.resume()
  await event((signal) => void child.kill(signal))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, error: await error }
}

void describe('holdfast bench', () => {
  void test('the value that a share of the values do not exceed', () => {
    const hundred = Array.from({ length: 100 }, (_, i) => i + 1)
    assert.deepEqual([quantile(hundred, 0.5), quantile(hundred, 0.99), quantile([7], 0.99)], [50, 99, 7])
  })

  onServer(
    '--json → each row with its figures; the server counts as many scripts; nothing is left there',
    async ({ server, redis }) => {
      const before = performance.now()
      const { code, out, error } = await holdfast(['bench', '--json', '--duration', '3s'], { url: server.url })
      assert.deepEqual([code, error], [0, ''])
      assert.ok(performance.now() - before >= 3000)
      const rows = rowsOf(out)
      assert.deepEqual(
        rows.map(({ row, callers }) => [row, callers]),
        ROWS.map((row, i) => [row, [1, 1, 64, 8, 8][i]]),
      )
      for (const { perSecond, median, p99, serverCpu, clientCpu } of rows) {
        assert.ok(perSecond > 1 && median > 0 && p99 >= median && clientCpu > 0)
        assert.ok(serverCpu !== null && serverCpu > 0)
      }
      assert.deepEqual(await redis.keys('*'), [])
      // A fifth of each 600 ms is not counted. A pair is two scripts, and the first row one.
      const least = rows.reduce((sum, { row, perSecond }) => sum + perSecond * 0.48 * (row === 'script' ? 1 : 2), 0)
      const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1] ?? 0)
      assert.ok(calls >= least * 0.9, `${calls} scripts for at least ${least}`)
    },
  )

  onServer('a table for people: a title line, and the rows', async ({ server }) => {
    const { code, out } = await holdfast(['bench', '--duration', '1s'], { url: server.url })
    assert.equal(code, 0)
    const [head = '', ...rows] = linesOf(out)
    assert.match(head, /^ +per second +median +p99 +server +client$/)
    assert.deepEqual(
      rows.map((row) => row.slice(0, 24).trimEnd()),
      ['an empty script', '1 caller, 1 lock', '64 callers, 64 locks', '8 clients, 1 lock', '8 clients, 1 fair lock'],
    )
    for (const row of rows) {
      assert.match(row.slice(24), /^ +[\d,]+( +\d+\.\d+ ms){2}( +\d+(\.\d)? µs){2}$/)
      assert.ok(row.length <= 80)
    }
  })

  onServer('--plan --json → behind the rows, what the load takes of this server', async ({ server }) => {
    const load = ['--clients', '50', '--locks', '5', '--rate', '20', '--hold', '100ms']
    const { code, out } = await holdfast(['bench', '--plan', '--json', '--duration', '1s', ...load], {
      url: server.url,
    })
    assert.equal(code, 0)
    const lines = linesOf(out)
    const [script, alone] = rowsOf(out) as [Row, Row, ...Row[]]
    const plan = JSON.parse(lines.at(-1) ?? '') as Plan
    assert.equal(lines.length, ROWS.length + 1)
    assert.equal(plan.row, 'plan')
    assert.deepEqual(plan.load, { clients: 50, locks: 5, rate: 20, hold: 100, lease: 30_000, trip: script.median })
    assert.equal(plan.visits, 20)
    assert.ok(Math.abs(plan.busy - (20 / 5) * ((100 + script.median) / 1000)) < 0.001)
    assert.ok(plan.wait > script.median && plan.requests.visits > 40 && plan.cores > 0)
    assert.ok(Math.abs((plan.limits.alone * (alone.serverCpu ?? NaN)) / 700_000 - 1) < 0.01)
  })

  onServer('--plan → a table for people, in 80 columns', async ({ server }) => {
    const { code, out } = await holdfast(['bench', '--plan', '--duration', '1s'], { url: server.url })
    assert.equal(code, 0)
    assert.match(out, /\n100 clients, 1,000 locks, 1,000 per second, held for 20 ms:\n/)
    assert.match(out, /\n {2}the server’s main thread +[\d.,]+ %\n/)
    assert.match(out, /\nThis server carries, /)
    for (const line of linesOf(out)) assert.ok(line.length <= 80, line)
  })

  onServer(
    'a user who may use some keys only, and not INFO → --prefix, and the server’s CPU time is not known',
    async (broken) => {
      const { redis, server } = broken
      const url = server.url.replace('//', `//${await admit(redis, APP_LINE, 'secret')}@`)
      await redis.acl('SETUSER', 'holdfast', '-info')
      const refused = await holdfast(['bench', '--duration', '1s'], { url })
      assert.equal(refused.code, 77)
      const { code, out, error } = await holdfast(['bench', '--json', '--duration', '1s', '--prefix', 'app:x'], { url })
      assert.deepEqual([code, error], [0, ''])
      const rows = rowsOf(out)
      assert.deepEqual(
        rows.map(({ row, serverCpu }) => [row, serverCpu]),
        ROWS.map((row) => [row, null]),
      )
    },
  )

  void test(
    'a cluster → every row; CPU time of one server would mislead, so there is none',
    { timeout: 60_000 },
    async (t) => {
      const cluster = await startCluster().catch((error: unknown) => {
        t.skip(String(error))
        return undefined
      })
      if (cluster === undefined) return
      t.after(() => cluster.stop())
      const { code, out, error } = await holdfast(['bench', '--json', '--duration', '2s'], { url: cluster.url })
      assert.deepEqual([code, error], [0, ''])
      assert.deepEqual(
        rowsOf(out).map(({ row, serverCpu }) => [row, serverCpu]),
        ROWS.map((row) => [row, null]),
      )
    },
  )

  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    onServer(`${signal} in the middle → ${code}, and no lock is left`, async (broken) => {
      const ended = await during(broken, (kill) => kill(signal))
      assert.deepEqual(ended, { code, error: '' })
      await broken.until(async () => (await broken.redis.keys('*')).length === 0, 5000)
    })
  }

  onServer('the server ends in the middle → 69, and it says so once', async (broken) => {
    const { code, error } = await during(broken, () => broken.server.stop())
    assert.equal(code, 69)
    assert.match(error, /^holdfast: .+/)
  })

  for (const [why, args] of [
    ['too short', ['--duration', '999ms']],
    ['too long', ['--duration', '11m']],
    ['no unit', ['--duration', '10']],
    ['an argument', ['x']],
    ['memory:', ['--url', 'memory:']],
    ['a load without --plan', ['--clients', '5']],
    ['no client', ['--plan', '--clients', '0']],
    ['half a lock', ['--plan', '--locks', '1.5']],
    ['no rate', ['--plan', '--rate', 'many']],
    ['a hold without a unit', ['--plan', '--hold', '20']],
  ] as const) {
    void test(`wrong usage: ${why} → 64`, async () => {
      const { code, error } = await holdfast(['bench', ...args])
      assert.equal(code, 64)
      assert.match(error, /Usage: holdfast bench/)
    })
  }

  void test('no server → 69', async () => {
    assert.equal((await holdfast(['bench'], { url: 'redis://127.0.0.1:1' })).code, 69)
  })
})
