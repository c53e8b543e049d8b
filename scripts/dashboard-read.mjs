#!/usr/bin/env node
// @ts-check
/**
 * What reading costs the process of the dashboard: 5,000 locks, 20,000 waiters, 200 hand-overs a second, ten tabs. Unlike `dashboard-load`, it writes the locks itself,
 * so it needs neither the clients' CPU nor Chromium, and a small machine is enough. The CPU time counts, so other programs matter little.
 *
 *     node scripts/build.mjs && node scripts/dashboard-read.mjs [--locks N] [--waiters N] [--rate N] [--tabs N] [--seconds N] [--profile DIR]
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ask, freePort } from './dashboard-load/children.mjs'
import { still } from './dashboard-load/still.mjs'

const number = (/** @type {string} */ value) => ({ type: /** @type {const} */ ('string'), default: value })
const { values } = parseArgs({
  options: {
    locks: number('5000'),
    waiters: number('20000'),
    rate: number('200'),
    tabs: number('10'),
    seconds: number('60'),
    profile: { type: 'string' },
  },
})
const [locks, waiters, rate, tabs, seconds] = /** @type {[number, number, number, number, number]} */ (
  [values.locks, values.waiters, values.rate, values.tabs, values.seconds].map(Number)
)

/** A tab that reads its stream, and opens the next one, as the page does. @param {string} base @param {AbortSignal} signal @param {{ bytes: number }} read */
const tab = async (base, signal, read) => {
  let known = ''
  while (!signal.aborted) {
    const { body } = await fetch(`${base}events?after=${known}`, { signal })
    for await (const chunk of body ?? []) {
      read.bytes += chunk.length
      known = /"reading":"([^"]+)"/.exec(Buffer.from(chunk).toString('latin1'))?.[1] ?? known
    }
  }
}

const port = await freePort()
const redis = spawn('redis-server', ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
  stdio: 'ignore',
})
const url = `redis://127.0.0.1:${port}`
const end = new AbortController()
await sleep(1000)
try {
  const load = await still({ url, locks, waiters, rate })
  const profiled = values.profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${values.profile}`]
  const server = fork(join(import.meta.dirname, 'dashboard-load/server.mjs'), {
    execArgv: ['--expose-gc', ...profiled],
  })
  const said = await ask(server, { url })
  const read = { bytes: 0 }
  for (let i = 0; i < tabs; i += 1) void tab(`http://127.0.0.1:${said.port}/`, end.signal, read).catch(() => undefined)
  await sleep(10_000)
  const [before, began] = [await ask(server, 'figures'), read.bytes]
  await sleep(seconds * 1000)
  const [after, ended] = [await ask(server, 'figures'), read.bytes]
  const [cpu, readings] = [after.cpu - before.cpu, after.readings - before.readings]
  const ms = after.at - before.at
  console.log(`readings: ${readings} in ${(ms / 1000).toFixed(0)} s, one in ${(ms / readings / 1000).toFixed(1)} s`)
  console.log(
    `CPU of the dashboard's process: ${((cpu / ms) * 100).toFixed(1)} % of a core, ${(cpu / readings).toFixed(0)} ms for each reading`,
  )
  console.log(`sent to each tab: ${((ended - began) / tabs / readings / 1000).toFixed(0)} KB for each reading`)
  end.abort()
  load.stop()
  server.disconnect()
  await once(server, 'exit')
} finally {
  redis.kill()
}
