// @ts-check
// A Prometheus of its own on a free port, which keeps its data in a temporary folder.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

export const freePort = async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  probe.close()
  await once(probe, 'close')
  return port
}

/** @param {string} url @param {import('node:child_process').ChildProcess} child */
const ready = async (url, child) => {
  for (let wait = 0; wait < 600; wait += 1) {
    if (child.exitCode !== null) throw new Error(`prometheus ended with ${child.exitCode}`)
    const answer = await fetch(`${url}/-/ready`).catch(() => undefined)
    if (answer?.ok) return
    await sleep(50)
  }
  throw new Error('prometheus does not answer')
}

/** Waits until the app was scraped once: from then on, Prometheus sees each step of its counters. @param {string} url */
const scraped = async (url) => {
  for (let wait = 0; wait < 600; wait += 1) {
    if ((await ask(url, 'up == 1')).length > 0) return
    await sleep(50)
  }
  throw new Error('prometheus does not reach the app')
}

/**
 * @typedef {object} Series
 * @property {Record<string, string>} metric its labels
 * @property {[time: number, value: string]} value
 */

/** @param {string} url @param {string} query @param {number} [time] s @returns {Promise<Series[]>} */
const ask = async (url, query, time) => {
  const body = new URLSearchParams({ query, ...(time !== undefined && { time: String(time) }) })
  const response = await fetch(`${url}/api/v1/query`, { method: 'POST', body })
  const { data, error } = /** @type {{ data?: { result: Series[] }, error?: string }} */ (await response.json())
  if (data === undefined) throw new Error(`${error}: ${query}`)
  return data.result
}

/** @param {{ config: string, alerts: string }} files the text of prometheus.yml and alerts.yml */
export const startPrometheus = async ({ config, alerts }) => {
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-prometheus-'))
  await writeFile(join(folder, 'prometheus.yml'), config)
  await writeFile(join(folder, 'alerts.yml'), alerts)
  const address = `127.0.0.1:${await freePort()}`
  const options = ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${address}`]
  const child = spawn('prometheus', [...options, '--log.level=warn'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const kill = () => void child.kill('SIGKILL')
  process.once('exit', kill)
  const url = `http://${address}`
  const stop = async () => {
    process.off('exit', kill)
    const running = child.pid !== undefined && child.exitCode === null && child.signalCode === null
    if (running && child.kill('SIGTERM')) await once(child, 'exit')
    await rm(folder, { recursive: true, force: true })
  }
  try {
    const failed = once(child, 'error').then(([error]) => Promise.reject(error))
    await Promise.race([ready(url, child).then(() => scraped(url)), failed])
  } catch (error) {
    await stop()
    throw error
  }
  return {
    url,
    /** @param {string} query @param {number} [time] s */
    query: (query, time) => ask(url, query, time),
    stop,
  }
}
