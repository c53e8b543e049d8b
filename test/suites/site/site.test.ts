import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'
import { createRequire } from 'node:module'
import { after, before, describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { leftOut } from '../../support/sample.js'

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url))
const DIST = join(ROOT, 'site/.vitepress/dist')
const { chromiumProgram } = (await import(pathToFileURL(join(ROOT, 'scripts/test/chromium.mjs')).href)) as {
  chromiumProgram(): string | undefined
}
const program = chromiumProgram()
const skip = program === undefined ? 'no chromium on the PATH' : false

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
}

/** The folder as any static server shows it. */
const serve = async (): Promise<Server> => {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const file = join(DIST, normalize(pathname.endsWith('/') ? `${pathname}index.html` : decodeURIComponent(pathname)))
    readFile(file).then(
      (body) => response.writeHead(200, { 'content-type': TYPES[extname(file)] ?? 'text/plain' }).end(body),
      () => response.writeHead(404, { 'content-type': 'text/html' }).end(readFileSync(join(DIST, '404.html'))),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

interface Findings {
  readonly violations: readonly { id: string; impact: string; nodes: { html: string }[] }[]
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const PAGES = [
  '/',
  '/start.html',
  '/choosing.html',
  '/guide.html',
  '/errors.html',
  '/errors/lock-lost.html',
  '/api/holdfast/interfaces/Lock.html',
]
const WIDTHS = [1280, 390]

void describe('the built site in a browser', { skip }, () => {
  let server: Server
  let browser: Browser
  let at = ''

  before(async () => {
    assert.ok(existsSync(join(DIST, 'index.html')), 'npm run docs builds the site')
    server = await serve()
    at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await chromium.launch({ executablePath: program ?? '', args: ['--no-sandbox'] })
  })
  after(async () => {
    await browser.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })

  /** A page, and what its console said. */
  const open = async (context: BrowserContext, path: string): Promise<{ page: Page; errors: string[] }> => {
    const page = await context.newPage()
    const errors: string[] = []
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()))
    page.on('pageerror', (error) => errors.push(error.message))
    page.on('request', (request) => {
      if (!request.url().startsWith(at) && !request.url().startsWith('data:')) errors.push(`asks ${request.url()}`)
    })
    await page.goto(at + path, { waitUntil: 'networkidle' })
    return { page, errors }
  }

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of WIDTHS)
      for (const path of PAGES.filter((path) => path === '/' || !leftOut(`${path} ${colorScheme} ${width}`)))
        test(`${path}, ${colorScheme}, ${width} px → no error, no host but its own, nothing wider than the window, no serious finding of axe`, async () => {
          const context = await browser.newContext({ viewport: { width, height: 850 }, colorScheme })
          try {
            const { page, errors } = await open(context, path)
            const wider = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
            assert.ok(wider <= 0, `${wider} px wider`)
            assert.equal(
              await page.evaluate(`document.documentElement.classList.contains('dark')`),
              colorScheme === 'dark',
            )
            await page.evaluate(AXE)
            const { violations } = await page.evaluate<Findings>('axe.run()')
            const grave = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact))
            assert.deepEqual(
              grave.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
              [],
            )
            assert.deepEqual(errors, [])
          } finally {
            await context.close()
          }
        })

  test('the search finds tryAcquire, without a server', async () => {
    const context = await browser.newContext()
    try {
      const { page, errors } = await open(context, '/')
      await page.click('.DocSearch-Button')
      await page.fill('.search-input', 'tryAcquire')
      await page.waitForSelector('.results .result')
      const found = await page.locator('.results .result').allTextContents()
      assert.ok(
        found.some((text) => text.includes('tryAcquire')),
        found.join('\n'),
      )
      await page.locator('.results .result').first().click()
      await page.waitForURL((url) => url.pathname !== '/')
      assert.deepEqual(errors, [])
    } finally {
      await context.close()
    }
  })

  test('a page that is not there → a page of the site says so', async () => {
    const context = await browser.newContext()
    try {
      const page = await context.newPage()
      await page.goto(`${at}/no-such-page.html`, { waitUntil: 'networkidle' })
      assert.match((await page.textContent('body')) ?? '', /PAGE NOT FOUND/)
      await page.click('text=Take me home')
      await page.waitForSelector('text=Two processes')
    } finally {
      await context.close()
    }
  })

  test('the start page shows its largest part soon', async (t) => {
    const context = await browser.newContext()
    try {
      const { page } = await open(context, '/')
      const shown = await page.evaluate(
        `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime)).observe({ type: 'largest-contentful-paint', buffered: true }))`,
      )
      t.diagnostic(`largest contentful paint after ${Math.round(Number(shown))} ms`)
      // Other work runs beside; a quiet machine needs a tenth of that.
      assert.ok(Number(shown) < 5000, `${String(shown)} ms`)
    } finally {
      await context.close()
    }
  })
})

void describe('what programs read of the built site', () => {
  test('llms.txt → each page that it names is there as Markdown', () => {
    const text = readFileSync(join(DIST, 'llms.txt'), 'utf8')
    const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)].map(([, link = '']) => link)
    assert.ok(links.length > 50)
    assert.deepEqual(
      links.filter((link) => !existsSync(join(DIST, link))),
      [],
    )
  })

  test('llms-full.txt → has the guide, the recipes and the keys, each once', () => {
    const text = readFileSync(join(DIST, 'llms-full.txt'), 'utf8')
    for (const title of [
      '# Guide',
      '# Start in five minutes',
      '# A payment exactly once',
      '# The protocol: keys, messages and states',
    ])
      assert.equal(text.split(`\n${title}\n`).length, 2, title)
  })
})
