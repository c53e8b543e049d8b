import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { after, before, describe } from 'node:test'
import { type Browser, chromium, type Page } from 'playwright-core'
import { connect, type ListedLock } from 'holdfast'
import { dashboard, toNode } from 'holdfast/dashboard'
import { Picture } from '#src/dashboard/compare-readings.js'
import { Reader } from '#src/dashboard/reader.js'
import { lockIds } from '#src/dashboard/lock-for-page.js'
import { Streams } from '#src/dashboard/streams.js'
import { chromiumProgram } from '../../scripts/test/chromium.mjs'
import type { Client } from '../support/engines.js'
import { type Broken, onServer } from '../support/server.js'
import { until } from '../support/until.js'
import { heldBy, heldLock, listening, listing, overriding, served } from './stage.js'

const PICTURES = join(import.meta.dirname, '../../../.build/dashboard')
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const SIZES = [
  [1440, 900],
  [1024, 768],
  [390, 844],
] as const
const THEMES = ['light', 'dark'] as const

interface Looked {
  readonly page: Page
  /** What went wrong on the page. */
  readonly errors: readonly string[]
}

let browser: Browser

const look = async ({ after: end }: Broken, url: string, [width, height] = [1440, 900]): Promise<Looked> => {
  const context = await browser.newContext({ viewport: { width, height }, bypassCSP: false })
  end(() => context.close())
  // Not every browser that can show the page has it.
  await context.addInitScript('delete AbortSignal.any')
  const page = await context.newPage()
  const errors: string[] = []
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('dialog', (dialog) => void errors.push(dialog.message()))
  page.on('console', (line) => line.text().includes('Content Security Policy') && errors.push(line.text()))
  await page.goto(url)
  return { page, errors }
}

/** Serious and critical findings. They are read in a world of its own, so the policy of the page stays as it is. */
const axe = async (page: Page): Promise<readonly string[]> => {
  const session = await page.context().newCDPSession(page)
  const { frameTree } = await session.send('Page.getFrameTree')
  const { executionContextId } = await session.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
  const run = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      ...{ expression, awaitPromise: true, returnByValue: true },
      contextId: executionContextId,
    })
    assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails)?.slice(0, 500))
    return result.value
  }
  await run(AXE)
  const found = await run(`axe.run(document).then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html, any }) => html + ' ' + any.map((a) => a.message)).join(' | ')))`)
  await session.detach()
  return found as readonly string[]
}

/** `waitForFunction` evaluates in the page, which its policy forbids. */
const becomes = (page: Page, what: string): Promise<void> => until(() => page.evaluate<boolean>(what), 10_000)

const picture = (page: Page, name: string): Promise<unknown> => page.screenshot({ path: join(PICTURES, `${name}.png`) })

/** In each size and theme: a picture, no scroll bar at the bottom, and what axe finds. */
const examine = async (
  page: Page,
  name: string,
  sizes: readonly (readonly [number, number])[] = SIZES,
): Promise<void> => {
  for (const [width, height] of sizes) {
    await page.setViewportSize({ width, height })
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      await page.waitForTimeout(250)
      await picture(page, `${name}-${width}-${colorScheme}`)
      assert.deepEqual(await axe(page), [], `${name} ${width} ${colorScheme}`)
      const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
      assert.ok(wide <= 0, `${name} ${width}: ${wide} px too wide`)
    }
  }
}

const lane = (page: Page, name: string) => page.locator('.lane', { has: page.getByRole('link', { name, exact: true }) })

/** Two calls that wait for one another. They end with their clients. */
const deadlock = (one: Client, other: Client): void => {
  const nested = (client: Client, outer: string, inner: string): void => {
    const work = async () => {
      await sleep(1200)
      await client.lock(inner).using(() => undefined)
    }
    client
      .lock(outer)
      .using(work)
      .catch(() => undefined)
  }
  nested(one, 'account:7', 'account:9')
  nested(other, 'account:9', 'account:7')
}

const many = (count: number): readonly ListedLock[] => {
  const now = Date.now()
  const person = (n: number, ms: number) => ({
    owner: `c${n}:1`,
    client: `${n}-0000-0000`,
    label: `web-${n % 40}`,
    since: now - ms,
  })
  return Array.from({ length: count }, (_, i): ListedLock => ({
    ...{ name: `order:${i}`, key: `order:${i}`, kind: 'lock', remaining: 20_000 + (i % 9000) },
    holders: [{ ...person(i, 1000 + i), mode: 'exclusive', count: 1 }],
    waiting: Array.from({ length: i % 9 }, (_, n) => person(i + n + 1, 900 + n)),
  }))
}

/** What pages hear of four readings of one lock. */
const scripted = async () => {
  const client = await connect('memory:')
  const picture = new Picture(client, (text) => text)
  const person = (label: string) => ({ owner: `${label}:1`, client: `${label}-0000`, label })
  const read = (holder: string, waiters: readonly string[], i: number) => {
    const held = heldLock('deploy', 600_000)
    const lock = { ...held, holders: [{ ...heldBy(held), ...person(holder) }], waiting: waiters.map(person) }
    const now = Date.now() + 60_000
    const { set, changed, gone, ...step } = picture.take({ listed: [lock], now, partly: false })
    const nothing = { schedules: [], trouble: null, missing: null }
    const around = { ...step, ...nothing, at: now, now, reading: `r${i}`, every: 1000, where: '' }
    return {
      snapshot: { ...around, may: 'read', locks: picture.locks },
      difference: { ...around, after: `r${i - 1}`, set, changed, gone },
      unchanged: { ...around, after: `r${i}`, may: 'read' },
    }
  }
  const readings = [read('a', ['c'], 0), read('b', ['c', 'd'], 1), read('b', ['d', 'e'], 2), read('b', ['e'], 3)]
  await client.close()
  return readings
}

const HIDE = `Object.defineProperty(document, 'hidden', { value: true, configurable: true })
document.dispatchEvent(new Event('visibilitychange'))`

const SHOW = HIDE.replace('value: true', 'value: false')

/** Notes each text of the connection's state other than the first. */
const WATCH_STATUS = `globalThis.said = []
new MutationObserver(() => said.push(document.querySelector('.status').textContent))
  .observe(document.querySelector('.status'), { childList: true, characterData: true, subtree: true })`

const program = chromiumProgram()

void describe('the page of the dashboard', { skip: program === undefined && 'no chromium on the PATH' }, () => {
  before(async () => {
    mkdirSync(PICTURES, { recursive: true })
    const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    browser = await chromium.launch({ executablePath: program ?? '', args })
  })
  after(() => browser.close())

  onServer('nothing is locked: it says so, and why', async (broken) => {
    const { page, errors } = await look(broken, await served(broken))
    await page.getByRole('heading', { name: 'Nothing is locked' }).waitFor()
    await examine(page, 'nothing')
    assert.deepEqual(errors, [])
  })

  onServer('who holds what, who waits, a hand-over, a deadlock', async (broken) => {
    const [web, worker, mailer] = (await Promise.all(
      ['web-1', 'worker-a', 'mailer'].map((label) => broken.open({ label })),
    )) as [Client, Client, Client]
    const { page, errors } = await look(broken, await served(broken, { title: 'production' }))
    const first = await web.fairLock('invoice').acquire()
    const waits = worker.fairLock('invoice').acquire()
    await broken.until(async () => (await web.fairLock('invoice').inspect()).waiting.length === 1)
    const second = mailer.fairLock('invoice').acquire()
    const invoice = lane(page, 'invoice')
    await invoice.getByText('1. worker-a waits').waitFor()
    await invoice.getByText('2. mailer waits').waitFor()
    assert.match((await invoice.locator('.line2').textContent()) ?? '', /^web-1/)

    await first.release()
    await invoice.getByText('1. mailer waits').waitFor()
    assert.match((await invoice.locator('.line2').textContent()) ?? '', /^worker-a/)
    assert.equal(await invoice.locator('.bar.past').count(), 1)
    assert.equal(await invoice.locator('.bar.hold').count(), 1)

    deadlock(web, mailer)
    await page.getByText(/^Deadlock: (web-1 and mailer|mailer and web-1) wait for one another$/).waitFor()
    assert.equal(await page.locator('.lane.deadlock').count(), 2)
    await examine(page, 'three')

    await page.getByRole('link', { name: 'Clients' }).click()
    await page
      .getByRole('row', { name: /web-1/ })
      .getByRole('link', { name: /account/ })
      .first()
      .waitFor()
    await examine(page, 'clients')
    assert.deepEqual(errors, [])
    await (await waits).release()
    await (await second).release()
  })

  onServer('a limiter shows how much of its window is used; the slots of a schedule have a page', async (broken) => {
    const [web, worker] = [await broken.open({ label: 'web-1' }), await broken.open({ label: '<b>worker</b>' })]
    const mails = web.rateLimiter('mails')
    await mails.trySetRate({ permits: 4, interval: 60_000 })
    await mails.acquire({ permits: 3 })
    worker
      .rateLimiter('mails')
      .acquire({ permits: 2 })
      .catch(() => undefined)
    const slots = worker.slots('nightly')
    const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000
    await slots.run(new Date(midnight), () => undefined)
    await slots.skip(new Date(midnight - 86_400_000))
    const schedules = [
      { name: 'nightly', cron: '0 0 * * *' },
      { name: 'wrong', cron: 'never' },
    ]
    const { page, errors } = await look(broken, await served(broken, { title: 'production', schedules }))
    await lane(page, 'mails').getByText('1 of 4 permits per 1m left').waitFor()
    await lane(page, 'mails').getByText('75 % used').waitFor()
    await examine(page, 'limiter')
    await page.getByRole('link', { name: 'Schedules' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'nightly 1 missed' }).waitFor()
    await page.getByText(/^ran in .* by <b>worker<\/b>$/).waitFor()
    await page.getByText('cannot compute slots').waitFor()
    await examine(page, 'schedules')
    await page.keyboard.press('Escape')
    await lane(page, 'mails').waitFor()
    assert.deepEqual(errors, [])
  })

  onServer('a page that opens while no reading ends: what it shows is as old as it is', async (broken) => {
    const client = await broken.open({ presence: false })
    const held = { ...heldLock('deploy', 600_000), holders: [{ ...heldBy(heldLock('deploy')), since: Date.now() }] }
    let end: () => void = () => undefined
    const ended = new Promise<void>((resolve) => (end = resolve))
    broken.after(() => end())
    let readings = 0
    const slow = overriding(client, {
      async *list() {
        if ((readings += 1) > 1) await ended
        yield held
      },
    })
    const base = await served(broken, { client: slow })
    await look(broken, base)
    await until(() => readings > 1 && Date.now() - (held.holders[0]?.since ?? 0) > 6000, 20_000)
    const { page } = await look(broken, base)
    const shown = await lane(page, 'deploy').locator('.line2').textContent()
    assert.ok(Number(/(\d+)s/.exec(shown ?? '')?.[1]) >= 6, `${shown}`)
  })

  onServer('hostile names and labels are only text', async (broken) => {
    const evil = '<img src=x onerror="alert(1)"><script>alert(2)</script>'
    const client = await broken.open({ label: evil })
    for (const name of [evil, '"onmouseover="alert(3)', 'javascript:alert(4)', 'a\u202eb\nc', '𝒳'.repeat(200)])
      await client.lock(name).acquire()
    const { page, errors } = await look(broken, await served(broken, { title: evil }))
    await becomes(page, `document.querySelectorAll('.lane').length === 5`)
    assert.equal(await page.locator('img, #app script').count(), 0)
    await lane(page, String.raw`a\u202eb\nc`).waitFor()
    await lane(page, `${'𝒳'.repeat(150)}…`).waitFor()
    await page.getByRole('link', { name: evil, exact: true }).click()
    await page.getByRole('heading', { name: evil, level: 1 }).waitFor()
    await page.getByRole('link', { name: 'Clients' }).click()
    await page.getByText(evil).last().waitFor()
    assert.deepEqual(errors, [])
  })

  onServer('the server is killed and comes back: the page says so, and heals within 3 s', async (broken) => {
    const holder = await broken.open({ label: 'web-1' })
    await holder.lock('deploy').acquire()
    const { page, errors } = await look(broken, await served(broken))
    await lane(page, 'deploy').waitFor()
    await broken.server.stop()
    await page.getByText('The Redis server cannot be read').waitFor({ timeout: 5000 })
    await picture(page, 'away')
    await broken.restart()
    const back = performance.now()
    await page.getByText('The Redis server cannot be read').waitFor({ state: 'detached' })
    const took = performance.now() - back
    assert.ok(took < 3000, `${took} ms`)
    assert.deepEqual(errors, [])
  })

  onServer('the dashboard itself ends and comes back: the page says so, and heals within 3 s', async (broken) => {
    const holder = await broken.open({ label: 'web-1' })
    await holder.lock('deploy').acquire()
    const client = await broken.open({ presence: false })
    const serve = toNode(dashboard({ client, authorize: () => 'read' }))
    const started = (port = 0): Promise<Server> =>
      new Promise((resolve) => {
        const server = createServer((request, response) => void serve(request, response))
        server.listen(port, '127.0.0.1', () => resolve(server))
      })
    const ended = (server: Server): Promise<void> =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
    const first = await started()
    const { port } = first.address() as AddressInfo
    const { page, errors } = await look(broken, `http://127.0.0.1:${port}/`)
    await lane(page, 'deploy').waitFor()
    await ended(first)
    await page.getByText('The dashboard does not answer').waitFor()
    await picture(page, 'lost')
    const second = await started(port)
    broken.after(() => ended(second))
    const back = performance.now()
    await page.getByText('The dashboard does not answer').waitFor({ state: 'detached' })
    const took = performance.now() - back
    assert.ok(took < 3000, `${took} ms`)
    await page.getByRole('status').getByText('live', { exact: true }).waitFor()
    assert.deepEqual(errors, [])
  })

  onServer(
    'a part that cannot be read, a refusal, a log-in page: the page says so, and keeps what it knew',
    async (broken) => {
      const client = await broken.open({ presence: false })
      let missing = false
      const locks = ['deploy', 'invoice'].map((name) => heldLock(name))
      const partly = listing(client, ({ onSkipped }) => {
        if (missing) onSkipped?.({ name: 'deploy', error: new Error('the master is silent') })
        return missing ? locks.slice(1) : locks
      })
      const serve = dashboard({ client: partly, authorize: () => 'read' })
      let instead: Response | undefined
      const node = toNode(async (request) => instead?.clone() ?? serve(request))
      const base = await listening(broken, (request, response) => void node(request, response))
      const { page, errors } = await look(broken, `${base}/`)
      await lane(page, 'deploy').waitFor()
      missing = true
      await page.getByText(/left out a lock that could not be read: the master is silent/).waitFor()
      await lane(page, 'deploy').getByText('web-1').first().waitFor()
      assert.equal(await page.locator('.lane.free').count(), 0)
      missing = false
      await page.getByText('Not all locks can be read').waitFor({ state: 'detached' })

      instead = new Response('You may not see this page.', { status: 403 })
      await page.evaluate(HIDE)
      await page.evaluate(SHOW)
      await page.getByText('You may not see this page.').waitFor()
      instead = new Response('<h1>Who are you?</h1>', { headers: { 'Content-Type': 'text/html' } })
      await page.getByText('Perhaps you must log in again.').waitFor()
      instead = Response.json({})
      await page.getByText('Another program answers.').waitFor()
      instead = undefined
      await page.getByRole('alert').waitFor({ state: 'detached' })
      await lane(page, 'deploy').waitFor()
      assert.deepEqual(errors, [])
    },
  )

  onServer('a stream that ends: the page opens the next one, and never says that it lost anything', async (broken) => {
    const client = await broken.open({ presence: false })
    const streams = new Streams(new Reader({ client, alias: (text) => text, where: '' }), 1, 500)
    const serve = dashboard({ client, authorize: () => 'read' })
    let opened = 0
    const node = toNode(async (request) => {
      const { pathname, searchParams } = new URL(request.url)
      if (!pathname.endsWith('/events')) return serve(request)
      opened += 1
      const stream = streams.open('read', searchParams.get('after'))
      return new Response(stream ?? null, { headers: { 'Content-Type': 'text/event-stream' } })
    })
    const { page, errors } = await look(
      broken,
      `${await listening(broken, (request, response) => void node(request, response))}/`,
    )
    await page.getByText('Nothing is locked').waitFor()
    await page.evaluate(WATCH_STATUS)
    const before = opened
    await until(() => opened > before + 3, 10_000)
    assert.deepEqual(await page.evaluate<string[]>('globalThis.said'), [])
    assert.deepEqual(errors, [])
  })

  onServer(
    'a stream opens while the page polls: what both bring counts once, and the page goes on from what it has',
    async (broken) => {
      const readings = await scripted()
      const [asked, streams] = [[] as (string | null)[], [] as ServerResponse[]]
      const serve = toNode(dashboard({ client: await broken.open({ presence: false }), authorize: () => 'read' }))
      // Polls get no answer before the test says so, however slow the machine is.
      const [polls, held] = [{ answered: false, asked: 0 }, [] as ServerResponse[]]
      const state = (response: ServerResponse): void => {
        response.setHeader('Content-Type', 'application/json')
        response.end(JSON.stringify(readings[2]?.snapshot))
      }
      const base = await listening(broken, (request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
        if (pathname === '/state') {
          polls.asked += 1
          if (polls.answered) state(response)
          else held.push(response)
        } else if (pathname === '/events') {
          asked.push(searchParams.get('after'))
          streams.push(response.writeHead(200, { 'Content-Type': 'text/event-stream' }))
          response.flushHeaders()
        } else void serve(request, response)
      })
      const send = (reading: number, event: 'snapshot' | 'difference' | 'unchanged') =>
        streams.at(-1)?.write(`event: ${event}\ndata: ${JSON.stringify(readings[reading]?.[event])}\n\n`)
      const { page, errors } = await look(broken, `${base}/`)
      await until(() => streams.length > 0)
      send(0, 'snapshot')
      const deploy = lane(page, 'deploy')
      await deploy.getByText('1. c waits').waitFor()
      await page.evaluate(HIDE)
      await page.evaluate(SHOW)
      await until(() => asked.at(-1) === 'r0')
      // Something holds the stream back.
      polls.answered = true
      for (const response of held) state(response)
      await deploy.getByText('2. e waits').waitFor()
      send(0, 'unchanged')
      send(1, 'difference')
      await until(() => asked.at(-1) === 'r2')
      // On a slow machine the page may ask for the same again.
      const steps = asked.filter((after, i) => i === 0 || after !== asked[i - 1])
      assert.deepEqual(steps, [null, 'r0', 'r2'])
      const waiters = (await deploy.locator('.sub .who').allTextContents()).map((text) => text.trim().slice(0, 4))
      assert.deepEqual(waiters, ['1. d', '2. e'])
      send(2, 'unchanged')
      send(3, 'difference')
      await deploy.getByText('1. e waits').waitFor()
      await page.getByRole('status').getByText('live', { exact: true }).waitFor()
      const before = [polls.asked, streams.length]
      for (let i = 0; i < 5; i += 1) {
        send(3, 'unchanged')
        await sleep(500)
      }
      assert.deepEqual([polls.asked, streams.length], before)
      assert.equal(await deploy.locator('.bar.past').count(), 1)
      assert.deepEqual(errors, [])
    },
  )

  onServer(
    'the page of a lock says how many holders it leaves out, and of a lock that is not listed only that',
    async (broken) => {
      const client = await broken.open({ presence: false })
      const held = heldLock('deploy', 600_000)
      const holders = Array.from({ length: 25 }, (_, i) => ({
        ...heldBy(held),
        owner: `${i}:1`,
        mode: 'read' as const,
      }))
      const lock: ListedLock = { ...held, kind: 'readWriteLock', holders, more: true }
      const base = await served(broken, { client: listing(client, () => [lock]) })
      const { page, errors } = await look(broken, `${base}#/lock/${lockIds()(lock)}`)
      await page.getByRole('heading', { name: '25 holders' }).waitFor()
      await page.locator('section').getByText('… and at least 5 more').waitFor()
      await page.goto(`${base}#/lock/another`)
      await page.getByRole('heading', { name: 'This lock is not listed' }).waitFor()
      assert.deepEqual(errors, [])
    },
  )

  onServer('a tab that is open for two months: its bars are where they belong', async (broken) => {
    const client = await broken.open({ presence: false })
    let ahead = 0
    const script = () => ({
      run: async () => {
        const ms = Date.now() + ahead
        return [`${Math.floor(ms / 1000)}`, `${(ms % 1000) * 1000}`]
      },
    })
    const locks = () => {
      const lock = heldLock(ahead === 0 ? 'today' : 'later', 600_000)
      return [{ ...lock, holders: [{ ...heldBy(lock), since: Date.now() + ahead - 30_000 }] }]
    }
    const { page } = await look(
      broken,
      await served(broken, { client: overriding(listing(client, locks), { script }) }),
    )
    const place = async (name: string): Promise<number> => {
      await lane(page, name).waitFor()
      await sleep(1500)
      const track = (await lane(page, name).locator('.own .track').boundingBox()) ?? assert.fail()
      const bar = (await lane(page, name).locator('.own .bar.hold').boundingBox()) ?? assert.fail()
      return (bar.x - track.x) / track.width
    }
    const today = await place('today')
    assert.ok(Math.abs(today - 0.5) < 0.06, `${today}`)
    ahead = 60 * 86_400_000
    const later = await place('later')
    assert.ok(Math.abs(later - 0.5) < 0.06, `${later}`)
  })

  onServer('two tabs share one reading a second; a hidden page asks for nothing', async (broken) => {
    const client = await connect({ url: broken.server.url, presence: false })
    broken.after(() => client.close())
    let readings = 0
    const counted = listing(client, () => [])
    const counting = new Proxy(counted, {
      get: (target, part) => {
        if (part === 'list') readings += 1
        return Reflect.get(target, part) as unknown
      },
    })
    const base = await served(broken, { client: counting })
    const tabs = await Promise.all([look(broken, base), look(broken, base)])
    for (const { page } of tabs) await page.getByText('Nothing is locked').waitFor()
    const [before, began] = [readings, performance.now()]
    await sleep(4000)
    const seconds = (performance.now() - began) / 1000
    assert.ok(readings - before <= seconds + 1, `${readings - before} readings in ${seconds} s`)
    assert.ok(readings - before >= 2)
    for (const { page } of tabs) await page.evaluate(HIDE)
    await broken.until(async () => {
      const now = readings
      await sleep(1500)
      return readings === now
    })
  })

  onServer('with the keyboard alone: search, choose, open, release by typing the name, go back', async (broken) => {
    const holder = await broken.open({ label: 'web-1' })
    for (const name of ['deploy', 'invoice', 'report']) await holder.lock(name).acquire()
    const { page, errors } = await look(broken, await served(broken, { authorize: () => 'act' }))
    await lane(page, 'report').waitFor()
    const { keyboard } = page
    await keyboard.press('ArrowDown')
    await becomes(page, `document.activeElement?.textContent === 'deploy'`)
    await keyboard.press('j')
    await becomes(page, `document.activeElement?.textContent === 'invoice'`)
    await keyboard.press('/')
    await keyboard.type('rep')
    await becomes(page, `document.querySelectorAll('.lane').length === 1`)
    await keyboard.press('Escape')
    await becomes(page, `document.querySelectorAll('.lane').length === 3`)
    await keyboard.press('ArrowDown')
    await becomes(page, `document.activeElement?.textContent === 'deploy'`)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'deploy', level: 1 }).waitFor()
    await page.getByRole('button', { name: 'Extend…' }).focus()
    await keyboard.press('Enter')
    await page.getByRole('combobox', { name: 'Time left' }).focus()
    await keyboard.press('ArrowDown')
    assert.equal(await page.getByRole('button', { name: 'Extend it' }).isDisabled(), true)
    assert.deepEqual(await axe(page), [])
    await picture(page, 'extend')
    await page.getByRole('textbox').focus()
    await keyboard.type('deploy')
    await keyboard.press('Enter')
    await page.getByText('The lease of web-1 is extended.').waitFor()
    assert.ok(((await holder.lock('deploy').remaining()) ?? 0) > 800_000)
    await page.getByRole('button', { name: 'Release…' }).focus()
    await keyboard.press('Enter')
    await picture(page, 'release')
    const button = page.getByRole('button', { name: 'Release it' })
    assert.equal(await button.isDisabled(), true)
    await page.getByRole('textbox').focus()
    await keyboard.type('deploy')
    assert.deepEqual(await axe(page), [])
    await keyboard.press('Enter')
    await page.getByText('Nobody holds it').waitFor()
    await page.getByRole('status').getByText('What web-1 held is released.').waitFor()
    assert.equal(await holder.lock('deploy').isLocked(), false)
    await keyboard.press('Escape')
    await lane(page, 'report').waitFor()
    assert.deepEqual(errors, [])
  })

  onServer('5,000 locks: only what can be seen is drawn, and the search finds each', async (broken) => {
    const client = await broken.open({ presence: false })
    const locks = many(5000)
    const { page, errors } = await look(broken, await served(broken, { client: listing(client, () => locks) }))
    await page.locator('.number', { hasText: 'locks held' }).getByText('5,000').waitFor()
    assert.ok((await page.locator('.lane').count()) < 60)
    await page.evaluate(`scrollTo({ top: document.body.scrollHeight })`)
    await lane(page, 'order:4995').waitFor()
    await page.evaluate(`scrollTo({ top: 0 })`)
    await page.getByRole('searchbox').fill('order:4321')
    await lane(page, 'order:4321').waitFor()
    assert.equal(await page.locator('.lane').count(), 1)
    await page.getByRole('searchbox').fill('')
    await lane(page, 'order:1').waitFor()
    await examine(page, 'many')
    assert.deepEqual(errors, [])
  })

  onServer('the switch of the theme stays after a reload', async (broken) => {
    const { page } = await look(broken, await served(broken))
    const dark = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    await page.emulateMedia({ colorScheme: 'light' })
    const light = await dark()
    for (const theme of ['light', 'dark']) {
      await page.getByRole('button', { name: /^Theme/ }).click()
      await page.getByRole('button', { name: `Theme: ${theme}` }).waitFor()
    }
    assert.notEqual(await dark(), light)
    await page.reload()
    await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
    assert.notEqual(await dark(), light)
  })
})
