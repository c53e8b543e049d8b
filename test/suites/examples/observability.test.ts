import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { type Query, legendOf, queriesOf } from '../../../examples/observability/dashboard.mjs'
import { deadlock, load } from '../../../examples/observability/load.mjs'
import { type Series, startPrometheus } from '../../../examples/observability/prometheus.mjs'
import { onPath } from '../../../scripts/test/packages.mjs'
import { redisEngine, started } from '../../support/engines.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../../../', import.meta.url))
const example = join(root, 'examples/observability')
const noPrometheus = ['prometheus', 'promtool'].every(onPath) ? undefined : 'no prometheus on the PATH'

/** By hand: for how many minutes the app is under load. CI has six seconds of it. */
const minutes = Number(process.env['HOLDFAST_MINUTES'] ?? 0.1)
/** Longer than the whole run, so that every rate is about all that was counted. */
const window = `${Math.ceil(minutes) + 4}m`
const windowSeconds = (Math.ceil(minutes) + 4) * 60

const read = (file: string): Promise<string> => readFile(join(root, file), 'utf8')
const readDashboard = async (): Promise<Parameters<typeof queriesOf>[0]> =>
  JSON.parse(await read('examples/observability/dashboard.json')) as Parameters<typeof queriesOf>[0]

/** The section of the page that lists the queries. */
const section = async (): Promise<string> => {
  const page = await read('docs/telemetry.md')
  const from = page.indexOf('\n## Prometheus and Grafana\n')
  const next = page.indexOf('\n## ', from + 1)
  return page.slice(from, next === -1 ? undefined : next)
}
const documentedQueries = async (): Promise<string[]> =>
  [...(await section()).matchAll(/^\| [^|]+ \| `([^`]+)` \| [^|]+ \|$/gm)].map(([, query = '']) => query)

const metricsIn = (text: string): string[] => [...new Set(text.match(/holdfast_[a-z_]+/g))]
const alertsIn = (rules: string): string[] => [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)
/** A histogram is one metric with three names. */
const base = (name: string): string => name.replace(/_(bucket|count|sum)$/, '')

void describe('what promtool says of the example of observability', () => {
  const promtool = (...args: string[]) => run('promtool', args, { cwd: example })

  void test('its rules, its configuration and the tests of its rules → are right', async (t) => {
    if (noPrometheus !== undefined) return t.skip(noPrometheus)
    assert.match((await promtool('check', 'rules', 'alerts.yml')).stdout, /SUCCESS: 7 rules found/)
    assert.match((await promtool('check', 'config', 'prometheus.yml')).stdout, /is valid prometheus config/)
    assert.match((await promtool('test', 'rules', 'alert-cases.yml')).stdout, /SUCCESS/)
  })

  void test('alerts that always fire, or never → the test of each of them fails', async (t) => {
    if (noPrometheus !== undefined) return t.skip(noPrometheus)
    const rules = await read('examples/observability/alerts.yml')
    const folder = await mkdtemp(join(tmpdir(), 'holdfast-rules-'))
    try {
      await cp(join(example, 'alert-cases.yml'), join(folder, 'alert-cases.yml'))
      for (const threshold of [' > 1e9', ' >= 0']) {
        await writeFile(join(folder, 'alerts.yml'), rules.replaceAll(/ > [0-9]+$/gm, threshold))
        const wrong = await run('promtool', ['test', 'rules', 'alert-cases.yml'], { cwd: folder }).then(
          () => assert.fail(`with${threshold} all tests pass`),
          (error: unknown) => Object.values(error as { stdout: string; stderr: string }).join('\n'),
        )
        const failed = new Set([...wrong.matchAll(/alertname: ?(\w+)/g)].map(([, name]) => name))
        assert.deepEqual([...failed].sort(), alertsIn(rules).sort(), wrong)
      }
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

void test('the dashboard → names no data source, and each of its queries stands in docs/telemetry.md', async () => {
  const text = await read('examples/observability/dashboard.json')
  const uids = [...text.matchAll(/"uid": ("[^"]*")/g)].map(([, uid]) => uid)
  assert.deepEqual([...new Set(uids)], ['"${DS_PROMETHEUS}"'])
  const selectors = /\{(job=~"\.\*")?,?(kind=~"\.\*")?\}/g
  const plain = queriesOf(await readDashboard(), '5m').map(({ expr }) => expr.replaceAll(selectors, ''))
  assert.deepEqual(plain, await documentedQueries())
})

interface Books {
  readonly calls: Readonly<Record<'granted' | 'timeout' | 'refused' | 'error', number>>
  readonly ends: Readonly<Record<'released' | 'lost', number>>
  readonly waits: readonly number[]
  readonly holds: readonly number[]
  readonly deciding: readonly number[]
  readonly decisions: Readonly<Record<'allowed' | 'refused', number>>
  readonly lost: number
  readonly uncertain: number
  readonly reconnects: number
  readonly deadlocks: number
}

/** In Prometheus's way, from the buckets that /metrics shows: between two bounds, all times are spread evenly. */
const quantileOf = (metrics: string, metric: string, kind: string, q: number): number => {
  const buckets = new Map<number, number>()
  for (const [, labels = '', count] of metrics.matchAll(new RegExp(`^${metric}_bucket\\{(.*)\\} (\\d+)$`, 'gm'))) {
    if (!labels.includes(`kind="${kind}"`)) continue
    const bound = Number(/le="([^"]+)"/.exec(labels)![1]!.replace('+Inf', 'Infinity'))
    buckets.set(bound, (buckets.get(bound) ?? 0) + Number(count))
  }
  const bounds = [...buckets].sort(([one], [other]) => one - other)
  const rank = q * bounds.at(-1)![1]
  const at = bounds.findIndex(([, count]) => count > 0 && count >= rank)
  if (at === -1) return NaN
  const [from, before] = bounds[at - 1] ?? [0, 0]
  const [to, count] = bounds[at]!
  return to === Infinity ? from : from + ((to - from) * (rank - before)) / (count - before)
}

/** It is at most that of the times that the app took, whose clock stops a little later: at most their bucket. */
const isInTime = (value: number, times: readonly number[], q: number): boolean => {
  const sorted = [...times].sort((one, other) => one - other)
  const own = sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]
  const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
  return own === undefined ? Number.isNaN(value) : value > 0 && value <= bounds.find((bound) => bound >= own + 0.005)!
}

type Expected = Record<string, number | readonly [from: number, to: number]>

/** What each panel shows when all is quiet, by its legend. Series that are not named here are 0. */
const expectedOf = (books: Books, metrics: string, app: string): Record<string, Expected> => {
  const { calls, ends, decisions } = books
  const perSecond = (counts: Record<string, number>): Expected =>
    Object.fromEntries(Object.entries(counts).map(([name, count]) => [name, count / windowSeconds]))
  const quantiles = (metric: string, q: number, ofLocks: readonly number[], ofLimiter: readonly number[]): Expected => {
    const [lock, rateLimiter] = ['lock', 'rateLimiter'].map((kind) => quantileOf(metrics, metric, kind, q)) as [
      number,
      number,
    ]
    assert.ok(
      isInTime(lock, ofLocks, q) && isInTime(rateLimiter, ofLimiter, q),
      `${metric} ${q}: ${lock}, ${rateLimiter}`,
    )
    return { lock, rateLimiter }
  }
  return {
    'Waiting calls': {},
    'Held locks': {},
    'Oldest hold': {},
    'Wait p50': quantiles('holdfast_lock_wait_duration_seconds', 0.5, books.waits, books.deciding),
    'Wait p99': quantiles('holdfast_lock_wait_duration_seconds', 0.99, books.waits, books.deciding),
    'Hold p99': quantiles('holdfast_lock_hold_duration_seconds', 0.99, books.holds, []),
    Calls: perSecond({
      ...Object.fromEntries(Object.entries(calls).map(([outcome, count]) => [`lock ${outcome}`, count])),
      'rateLimiter granted': decisions.allowed,
      'rateLimiter refused': decisions.refused,
    }),
    // A hold whose key was deleted was ended by force.
    Holds: perSecond({ 'lock released': ends.released, 'lock forced': ends.lost }),
    'Lost locks': perSecond({ lock: books.lost }),
    'Limiter decisions': perSecond(decisions),
    Reconnects: perSecond({ [app]: books.reconnects }),
    Deadlocks: perSecond({ shop: books.deadlocks }),
  }
}

const check = ({ title, legend, expr }: Query, series: readonly Series[], expected: Expected): void => {
  const found = new Map(series.map(({ metric, value }) => [legendOf(legend, metric), Number(value[1])]))
  for (const name of new Set([...found.keys(), ...Object.keys(expected)])) {
    const [value, wanted = 0] = [found.get(name) ?? 0, expected[name]]
    const [from, to] = typeof wanted === 'number' ? [wanted - 1e-9, wanted + 1e-9] : wanted
    const isRight = Number.isNaN(from) ? Number.isNaN(value) : value >= from && value <= to
    assert.ok(isRight, `${title}, ${name}: ${value} is not between ${from} and ${to}: ${expr}`)
  }
}

void describe('a real Prometheus that scrapes the example of observability', () => {
  let skip: string | undefined
  let folder = ''
  let server: RedisServer | undefined
  let redis: Redis | undefined
  let child: ChildProcess | undefined
  let prometheus: Awaited<ReturnType<typeof startPrometheus>> | undefined
  let app = ''
  let queries: Query[] = []

  const books = async (): Promise<Books> => (await (await fetch(`${app}/books`)).json()) as Books
  const post = async (path: string): Promise<number> => {
    const response = await fetch(app + path, { method: 'POST' })
    await response.arrayBuffer()
    return response.status
  }
  const ask = (query: string, time?: number): Promise<Series[]> => prometheus!.query(query, time)

  /** When the app was scraped last, s, once that is later than now. */
  const nextScrape = async (): Promise<number> => {
    const now = Date.now() / 1000
    let at = 0
    await until(async () => {
      const [series] = await ask('timestamp(holdfast_client_reconnects_total)')
      at = Number(series?.value[1] ?? 0)
      return at > now
    })
    return at
  }
  const firing = async (): Promise<string[]> => {
    const alerts = await ask(`count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[${window}]))`)
    return alerts.map(({ metric }) => metric['alertname'] ?? '').sort()
  }

  before(async () => {
    skip = noPrometheus ?? (await started({ ...redisEngine, start: async () => (await startRedis()).stop() }))
    if (skip !== undefined) return
    server = await startRedis()
    redis = new Redis(server.url)
    folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
    await cp(example, folder, { recursive: true, filter: (file) => !file.includes('node_modules') })
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules/holdfast'))
    for (const name of ['express', 'prom-client'])
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    const env = { ...process.env, PORT: '0', HOLDFAST_URL: server.url }
    child = spawn(process.execPath, ['app.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(createInterface({ input: child.stdout! }), 'line')) as [string]
    app = /http:\S+/.exec(line)?.[0] ?? ''
    const config = (await read('examples/observability/prometheus.yml')).replaceAll('15s', '1s')
    const rules = await read('examples/observability/alerts.yml')
    prometheus = await startPrometheus({
      config: config.replace('localhost:8080', new URL(app).host),
      // What takes minutes in production takes seconds here.
      alerts: rules
        .replaceAll(/for: \d+m/g, 'for: 1s')
        .replace(' > 60\n', ' > 2\n')
        .replace(' > 3\n', ' > 0\n'),
    })
    queries = queriesOf(await readDashboard(), window)
  })

  after(async () => {
    await prometheus?.stop()
    if (child !== undefined) {
      child.kill('SIGTERM')
      const [code] = (await once(child, 'exit')) as [number | null]
      assert.equal(code, 0, 'it did not end in order')
    }
    redis?.disconnect()
    await server?.stop()
    if (folder !== '') await rm(folder, { recursive: true, force: true })
  })

  void test('under load → no alert that means trouble', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    await load(app, AbortSignal.timeout(minutes * 60_000))
    await nextScrape()
    const { calls, decisions } = await books()
    t.diagnostic(JSON.stringify({ calls, decisions }))
    assert.ok(calls.granted > 50 && decisions.allowed > 20 && decisions.refused > 0)
    const busy = ['HoldfastWaitsTooLong', 'HoldfastRenewalsFail']
    assert.deepEqual(
      (await firing()).filter((name) => !busy.includes(name)),
      [],
    )
  })

  void test('one thing after the other goes wrong → each alert fires', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    const deadlocked = deadlock(app)
    await redis!.set('shop:product:broken', 'no lock')
    assert.equal(await post('/checkout/broken'), 503)
    const { granted } = (await books()).calls
    const report = post('/report/30')
    await until(async () => (await books()).calls.granted > granted)
    await deadlocked
    assert.equal((await books()).deadlocks, 1)
    // A server that refuses, while the connection stays.
    await redis!.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval')
    await until(async () => (await books()).uncertain > 0)
    await redis!.call('ACL', 'SETUSER', 'default', '+@all')
    await until(async () => (await firing()).includes('HoldfastRenewalsFail'))
    const refused = (await books()).uncertain
    await redis!.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    await until(async () => {
      const { reconnects, uncertain } = await books()
      return reconnects > 0 && uncertain > refused
    })
    await until(async () => (await firing()).includes('HoldfastLockHeldTooLong'))
    await redis!.del('shop:report')
    assert.equal(await report, 503, 'the report went on without its lock')
    const all = alertsIn(await read('examples/observability/alerts.yml'))
    const late = 'HoldfastWaitsTooLong'
    await until(async () => {
      const names = await firing()
      return all.every((name) => name === late || names.includes(name))
    })
  })

  void test('a report that is written while others wait → the gauges show it; then the p99 alert fires', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    const { granted } = (await books()).calls
    const first = post('/report/5')
    await until(async () => (await books()).calls.granted > granted)
    const since = Date.now() / 1000
    // More than one call in a hundred.
    const { length } = (await books()).waits
    const others = Array.from({ length: 5 + Math.ceil(length / 50) }, () => post('/report/0'))
    const waiting = `holdfast_lock_waiting{kind="lock"} ${others.length}\n`
    await until(async () => (await (await fetch(`${app}/metrics`)).text()).includes(waiting))
    const at = await nextScrape()
    const host = new URL(app).host
    const expected: Record<string, Expected> = {
      'Waiting calls': { [`${host} lock`]: others.length },
      'Held locks': { lock: 1 },
      'Oldest hold': { lock: [at - since - 1, at - since + 1] },
    }
    for (const query of queries.slice(0, 3)) check(query, await ask(query.expr, at), expected[query.title]!)
    assert.deepEqual([...new Set(await Promise.all([first, ...others]))], [200])
    await until(async () => (await firing()).includes('HoldfastWaitsTooLong'))
  })

  void test('each query of the dashboard and of the page → the number that the app counted itself', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    const at = await nextScrape()
    const counted = await books()
    const metrics = await (await fetch(`${app}/metrics`)).text()
    const expected = expectedOf(counted, metrics, new URL(app).host)
    const renewals = await ask(`sum by (outcome) (holdfast_lock_renewals_total)`, at)
    // The app does not count renewals that succeed: Prometheus has what /metrics shows.
    const ok = Number(/^holdfast_lock_renewals_total\{outcome="ok"\} (\d+)$/m.exec(metrics)?.[1])
    assert.ok(ok > 0 && renewals.some(({ metric, value }) => metric['outcome'] === 'ok' && Number(value[1]) === ok))
    expected['Renewals'] = { ok: ok / windowSeconds, failed: counted.uncertain / windowSeconds }
    assert.deepEqual(Object.keys(expected).sort(), queries.map(({ title }) => title).sort())
    const documented = (await documentedQueries()).map((query) => query.replaceAll('[5m]', `[${window}]`))
    assert.equal(documented.length, queries.length)
    for (const [i, query] of queries.entries())
      for (const expr of [query.expr, documented[i]!])
        check({ ...query, expr }, await ask(expr, at), expected[query.title]!)
    t.diagnostic(`${queries.length + documented.length} queries, ${counted.waits.length} calls of locks`)
  })

  void test('each metric of the dashboard, the alerts and the page → is there; each that is there → is on the page', async (t) => {
    if (skip !== undefined) return t.skip(skip)
    const metrics = await (await fetch(`${app}/metrics`)).text()
    const there = [...metrics.matchAll(/^# TYPE (holdfast_\w+)/gm)].map(([, name = '']) => name)
    const files = ['examples/observability/dashboard.json', 'examples/observability/alerts.yml']
    const used = metricsIn([await section(), ...(await Promise.all(files.map(read)))].join('\n')).map(base)
    assert.deepEqual([...new Set(used)].sort(), there.sort())
    const linted = promisify(execFile)('promtool', ['check', 'metrics'])
    linted.child.stdin?.end(metrics)
    assert.equal((await linted).stdout, '')
  })
})

void test('npm start of the example of observability → prints each query with its result; Ctrl-C ends all of it', async (t) => {
  const skip = noPrometheus ?? (await started({ ...redisEngine, start: async () => (await startRedis()).stop() }))
  if (skip !== undefined) return t.skip(skip)
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-example-'))
  try {
    await cp(example, folder, { recursive: true, filter: (file) => !file.includes('node_modules') })
    await mkdir(join(folder, 'node_modules'))
    await symlink(root, join(folder, 'node_modules/holdfast'))
    for (const name of ['express', 'prom-client'])
      await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name))
    const starter = spawn(process.execPath, ['start.mjs', '--seconds', '3'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let said = ''
    starter.stdout.on('data', (data: Buffer) => (said += data.toString()))
    const ended = once(starter, 'exit')
    await until(() => said.includes('press Ctrl-C') || starter.exitCode !== null)
    for (const { title } of queriesOf(await readDashboard(), '1m'))
      assert.ok(said.includes(`'${title}'`), `${title}: ${said}`)
    starter.kill('SIGINT')
    assert.deepEqual(await ended, [0, null])
    const urls = [...said.matchAll(/http:\/\/[\w.:]+/g)].map(([url]) => url)
    assert.equal(urls.length, 2)
    for (const url of urls) await assert.rejects(fetch(url), `${url} is still there`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
