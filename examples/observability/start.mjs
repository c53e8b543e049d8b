// @ts-check
// node start.mjs [--url redis://…] [--seconds 20] [--once]
// Starts a Redis server (or uses yours), the app, Prometheus and some load, then prints each query of the dashboard with its results. See README.md.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { legendOf, queriesOf } from './dashboard.mjs'
import { deadlock, load } from './load.mjs'
import { freePort, startPrometheus } from './prometheus.mjs'

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    once: { type: 'boolean', default: false },
  },
})
/** @param {string} file */
const read = (file) => readFile(new URL(file, import.meta.url), 'utf8')

/** What was started, in this order. @type {(() => Promise<unknown>)[]} */
const started = []
const end = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => end.abort())

/** @param {string} program @param {string[]} args @param {NodeJS.ProcessEnv} [env] */
const run = (program, args, env) => {
  // A process group of its own: Ctrl-C reaches only this program, which stops all of them in order.
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const ended = once(child, 'exit')
  const failed = ended.then(() => Promise.reject(new Error(`${program} ended with ${child.exitCode}`)))
  failed.catch(() => undefined)
  started.push(async () => {
    child.kill('SIGTERM')
    await ended.catch(() => undefined)
  })
  const lines = createInterface({ input: child.stdout })
  /** The first line that matches. @param {RegExp} pattern @returns {Promise<string>} */
  const says = (pattern) =>
    new Promise((resolve) => {
      lines.on('line', (line) => {
        const [match] = pattern.exec(line) ?? []
        if (match !== undefined) resolve(match)
      })
    })
  return { says: (/** @type {RegExp} */ pattern) => Promise.race([says(pattern), failed]) }
}

const startRedis = async () => {
  const port = await freePort()
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-redis-'))
  started.push(() => rm(folder, { recursive: true, force: true }))
  await run('redis-server', ['--port', String(port), '--dir', folder, '--save', '']).says(/Ready to accept connections/)
  return `redis://127.0.0.1:${port}`
}

const start = async () => {
  const url = values.url ?? (await startRedis())
  const env = { HOLDFAST_URL: url, PORT: '0' }
  const app = await run(process.execPath, [new URL('app.mjs', import.meta.url).pathname], env).says(/http:\S+/)
  const config = (await read('prometheus.yml')).replaceAll('15s', '1s').replace('localhost:8080', new URL(app).host)
  const prometheus = await startPrometheus({ config, alerts: await read('alerts.yml') })
  started.push(prometheus.stop)
  console.log(`Redis       ${url}\napp         ${app}/metrics\nPrometheus  ${prometheus.url}/alerts\n`)
  return { app, prometheus }
}

/** @param {import('./dashboard.mjs').Query} query @param {import('./prometheus.mjs').Series[]} series */
const rowsOf = ({ title, legend, unit }, series) =>
  series.map(({ metric, value: [, value] }) => ({
    panel: title,
    series: legendOf(legend, metric),
    value: Number(Number(value).toFixed(4)),
    unit,
  }))

/** @param {Awaited<ReturnType<typeof startPrometheus>>} prometheus */
const show = async (prometheus) => {
  const queries = queriesOf(JSON.parse(await read('dashboard.json')), '1m')
  const rows = await Promise.all(queries.map(async (query) => rowsOf(query, await prometheus.query(query.expr))))
  console.table(rows.flat())
}

/** @param {NodeJS.ErrnoException} error */
const problemOf = ({ code, path, message }) => (code === 'ENOENT' && path ? `${path} is not on the PATH` : message)

const main = async () => {
  const { app, prometheus } = await start()
  const loaded = load(app, end.signal)
  loaded.catch(() => end.abort())
  started.push(() => loaded.catch(() => undefined))
  const waits = deadlock(app)
  started.push(() => waits.catch(() => undefined))
  console.log(`Load for ${values.seconds} seconds …`)
  await sleep(Number(values.seconds) * 1000, undefined, { signal: end.signal })
  await show(prometheus)
  const { calls, decisions } = /** @type {import('./books.mjs').Books} */ (await (await fetch(`${app}/books`)).json())
  console.log('The app itself counted', { calls, decisions })
  if (values.once) return end.abort()
  console.log('Everything goes on until you press Ctrl-C.')
  await once(end.signal, 'abort')
}

try {
  await main()
} catch (error) {
  if (!end.signal.aborted) {
    console.error(problemOf(/** @type {NodeJS.ErrnoException} */ (error)))
    process.exitCode = 1
  }
} finally {
  end.abort()
  for (const stop of started.reverse()) await stop()
}
