#!/usr/bin/env node
// @ts-check
/**
 * What the dashboard costs under load: 5,000 locks, 20,000 waiters, 200 hand-overs a second, ten tabs; then 1,000 streams at once.
 *
 *     node scripts/build.mjs && node scripts/dashboard-load.mjs [--locks N] [--waiters N] [--rate N] [--tabs N] [--minutes N]
 *
 * Needs redis-server and Chromium. Figures of a machine that does something else meanwhile say nothing.
 */
import { fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { chromium } from 'playwright-core'
import { ask, freePort } from './dashboard-load/children.mjs'
import { framesOf, heapOf, idleShare, measured } from './dashboard-load/page.mjs'
import { chromiumProgram } from './test/chromium.mjs'

const number = (/** @type {string} */ value) => ({ type: /** @type {const} */ ('string'), default: value })
const { values } = parseArgs({
  options: {
    locks: number('5000'),
    waiters: number('20000'),
    rate: number('200'),
    tabs: number('10'),
    minutes: number('10'),
    streams: number('1000'),
  },
})
const [locks, waiters, rate, tabs, minutes, streams] = /** @type {[number, number, number, number, number, number]} */ (
  [values.locks, values.waiters, values.rate, values.tabs, values.minutes, values.streams].map(Number)
)
/** ms: a dozen readings, if they are five seconds apart. */
const IDLE = 60_000

/** @param {string} name @param {object} options @param {string[]} [execArgv] */
const started = async (name, options, execArgv = []) => {
  const child = fork(join(import.meta.dirname, 'dashboard-load', `${name}.mjs`), { execArgv })
  child.send(options)
  const [said] = await once(child, 'message')
  return { child, said }
}

/** @param {number} part @param {readonly number[]} sorted */
const quantile = (part, sorted) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN

const percent = (/** @type {number} */ share) => `${(share * 100).toFixed(1)} %`
const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1_000_000).toFixed(1)} MB`

/** @param {string} name @param {string} value @param {string} [limit] */
const row = (name, value, limit = '') => console.log(`| ${name} | ${value} | ${limit} |`)

/** Opens so many streams, and says how many were refused. @param {string} base */
const manyStreams = async (base) => {
  const end = new AbortController()
  const asked = Array.from({ length: streams }, () =>
    fetch(`${base}events`, { signal: end.signal }).then(
      ({ status }) => status,
      () => 0,
    ),
  )
  const statuses = await Promise.all(asked)
  const state = await fetch(`${base}state`)
  await state.arrayBuffer()
  end.abort()
  return {
    open: statuses.filter((status) => status === 200).length,
    refused: statuses.filter((status) => status === 503).length,
    state: state.status,
  }
}

/** @typedef {import('node:child_process').ChildProcess} Child */

/** @param {import('playwright-core').Browser} browser @param {string} base @param {Child} server @param {Child} load */
const measure = async (browser, base, server, load) => {
  const pages = []
  for (let i = 0; i < tabs; i += 1) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(base)
    pages.push(page)
  }
  const [page] = pages
  if (page === undefined) throw new Error('--tabs must be at least 1')
  await page.locator('.lane').first().waitFor({ timeout: 120_000 })
  const session = await measured(page)
  await sleep(5000)
  const numbers = await page.locator('.number b').allInnerTexts()
  row('locks held, callers that wait, on the page', numbers.slice(0, 2).join(', '), `${locks}, ${waiters}`)

  const [before, counted] = [await ask(server, 'figures'), await ask(load, 'count')]
  const share = await idleShare(session, IDLE)
  const [after, then] = [await ask(server, 'figures'), await ask(load, 'count')]
  const seconds = (after.at - before.at) / 1000
  row('hand-overs a second', ((then.handOvers - counted.handOvers) / seconds).toFixed(0), `${rate}`)
  row(`server side, ${tabs} tabs: CPU of a core`, percent((after.cpu - before.cpu) / seconds / 1000), '≤ 5 %')
  row('readings a second, all tabs together', ((after.readings - before.readings) / seconds).toFixed(2), '≤ 1')
  row("page's main thread", percent(share), '≤ 20 %')

  const { frames, each } = await framesOf(page, session)
  row(
    'frames while scrolling, ms: median, 99 %, longest',
    [quantile(0.5, frames), quantile(0.99, frames), frames.at(-1) ?? NaN].map((ms) => ms.toFixed(0)).join(', '),
    '≤ 50',
  )

  row('main thread for each of them, ms of CPU', each.toFixed(1))

  const heaps = []
  for (let minute = 0; minute <= minutes; minute += 1) {
    if (minute > 0) await sleep(60_000)
    heaps.push({ tab: await heapOf(session), side: await ask(server, 'heap') })
  }
  row('heap of a tab, each minute', heaps.map(({ tab }) => megabytes(tab.bytes)).join(', '), 'flat')
  row('nodes of a tab, each minute', heaps.map(({ tab }) => tab.nodes).join(', '), 'flat')
  row('heap of the server side, each minute', heaps.map(({ side }) => megabytes(side)).join(', '), 'flat')
}

/** @param {string} base @param {Child} server */
const measureStreams = async (base, server) => {
  const had = await ask(server, 'heap')
  const { open, refused, state } = await manyStreams(base)
  const has = await ask(server, 'heap')
  row(`${streams} streams at once: open, refused, then \`state\``, `${open}, ${refused}, ${state}`, '64 open, 200')
  row('heap of the server side, before and after', `${megabytes(had)}, ${megabytes(has)}`)
}

const port = await freePort()
const redis = spawn('redis-server', ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'], {
  stdio: 'ignore',
})
const url = `redis://127.0.0.1:${port}`
await sleep(1000)
try {
  console.error(`${locks} locks and ${waiters} waiters …`)
  const load = await started('locks', { url, locks, waiters, rate })
  const { child, said } = await started('server', { url }, ['--expose-gc'])
  const base = `http://127.0.0.1:${said.port}/`
  const browser = await chromium.launch({
    executablePath: chromiumProgram() ?? '',
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  })
  console.log('| | measured | wanted |\n|---|---|---|')
  try {
    await measure(browser, base, child, load.child)
    await browser.close()
    await measureStreams(base, child)
  } finally {
    await browser.close()
    child.disconnect()
    load.child.disconnect()
  }
} finally {
  redis.kill()
}
