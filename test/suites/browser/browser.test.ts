import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { Browser, Page } from 'playwright-core'
import { serveFolder, startChromium, type StaticServer } from '../../support/chromium.js'
import { browserCases, cases } from './cases.js'

/** What a page loads for the whole library. */
const MOST_GZIPPED = 225_000
const LIBRARY = 'dist/browser.js'

void describe('the cases in Node', { concurrency: 8 }, () => {
  for (const [name, body] of Object.entries(cases)) void it(name, body)
})

void test(`the library for browsers has at most ${MOST_GZIPPED / 1000} kB, gzipped`, () => {
  const bytes = gzipSync(readFileSync(LIBRARY), { level: 9 }).length
  assert.ok(bytes <= MOST_GZIPPED, `${bytes} bytes`)
})

void test('the library for browsers imports nothing, and has the licence of what it contains', () => {
  const text = readFileSync(LIBRARY, 'utf8')
  assert.doesNotMatch(text, /\bimport\s*[("'{*]|\bfrom\s*["']/)
  assert.match(text, /fengari[\s\S]*Permission is hereby granted/)
})

const open = await startChromium()

void describe('the cases in a browser', { concurrency: 8, skip: typeof open === 'string' ? open : false }, () => {
  const browser = open as Browser
  let [folder, server, page]: [string?, StaticServer?, Page?] = []

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'holdfast-browser-'))
    await build({
      stdin: { contents: `export * from './cases.js'`, resolveDir: import.meta.dirname },
      outfile: join(folder, 'cases.js'),
      bundle: true,
      format: 'esm',
      platform: 'browser',
    })
    await writeFile(join(folder, 'index.html'), '<!doctype html><title>cases</title>')
    server = await serveFolder(folder)
    page = await browser.newPage()
    await page.goto(server.url)
  })

  after(async () => {
    await browser.close()
    await server?.stop()
    if (folder !== undefined) await rm(folder, { recursive: true })
  })

  const run = async (name: string): Promise<void> => {
    const problem = await (page as Page).evaluate(runCase, name)
    assert.equal(problem, '')
  }
  for (const name of Object.keys({ ...cases, ...browserCases })) void it(name, () => run(name))
})

/** In the page: what is wrong. */
const runCase = async (name: string): Promise<string> => {
  const module = '/cases.js'
  const found = (await import(module)) as { cases: typeof cases; browserCases: typeof cases }
  try {
    await { ...found.cases, ...found.browserCases }[name]?.()
    return ''
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error)
  }
}
