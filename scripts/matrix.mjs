#!/usr/bin/env node
// @ts-check
/**
 * npm run test:matrix                    every test of test/suites/contract on every row of test/support/rows.ts
 * npm run test:matrix -- Cluster Valkey  on the rows whose names hold one of the words
 *
 * The table in docs/connections.md is from the last run of each row.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './build.mjs'
import { install, installBeside } from './install.mjs'
import { findTests, runTests } from './test/node-tests.mjs'
import { root, runParts, summarize } from './test/parts.mjs'
import { ensureRedis } from './test/redis.mjs'
import { ensureNewer } from './test/servers.mjs'

const PAGE = join(root, 'docs/connections.md')
const [BEGIN, END] = ['<!-- the last runs of npm run test:matrix -->', '<!-- end of the runs -->']
const words = process.argv.slice(2).map((word) => word.toLowerCase())

/** @param {boolean} ok @param {string} problem */
const orThrow = (ok, problem) => {
  if (!ok) throw new Error(problem)
}

/** @typedef {{ passed: number, failed: number, skipped: number }} Outcome */

/** What the page says of rows that did not run now. @param {string} table @returns {Map<string, string>} */
const linesOf = (table) =>
  new Map([...table.matchAll(/^\| ([^|]+?) \|.*$/gm)].slice(2).map(([line, name]) => [String(name), line]))

/** @param {readonly { name: string }[]} rows @param {ReadonlyMap<string, Outcome>} outcomes */
const writePage = (rows, outcomes) => {
  const page = readFileSync(PAGE, 'utf8')
  const [from, to] = [page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)]
  const lines = linesOf(page.slice(from, to))
  for (const [name, { passed, failed, skipped }] of outcomes)
    lines.set(name, `| ${name} | ${passed} | ${failed} | ${skipped} |`)
  const table = [
    '| | passed | failed | skipped |',
    '|---|---:|---:|---:|',
    ...rows.flatMap(({ name }) => lines.get(name) ?? []),
  ]
  writeFileSync(PAGE, `${page.slice(0, from)}\n\n${table.join('\n')}\n\n${page.slice(to)}`)
}

const runRows = async () => {
  process.env['HOLDFAST_TEST_TIMEOUT'] ??= '900000'
  const { ROWS } = await import(pathToFileURL(join(root, '.build/test/support/rows.js')).href)
  const chosen = ROWS.filter(
    (/** @type {{ name: string }} */ { name }) =>
      words.length === 0 || words.some((word) => name.toLowerCase().includes(word)),
  )
  orThrow(chosen.length > 0, `no row has one of the words ${words.join(' ')}`)
  const files = findTests(['test/suites/contract/'])
  /** @type {import('./test/parts.mjs').Counts} */
  const total = { passed: 0, failed: 0, skipped: new Map() }
  /** @type {Map<string, Outcome>} */
  const outcomes = new Map()
  for (const { name } of chosen) {
    console.log(`\n   ${name}`)
    process.env['HOLDFAST_ROW'] = name
    const { passed, failed, skipped } = await runTests(files)
    for (const [reason, count] of skipped) total.skipped.set(reason, (total.skipped.get(reason) ?? 0) + count)
    total.passed += passed
    total.failed += failed
    outcomes.set(name, { passed, failed, skipped: [...skipped.values()].reduce((sum, count) => sum + count, 0) })
  }
  writePage(ROWS, outcomes)
  for (const [name, { passed, failed }] of outcomes) console.log(`${name}: ${passed} passed, ${failed} failed`)
  return total
}

const total = await runParts([
  { name: 'packages', run: () => orThrow(install(), 'npm ci failed'), essential: true },
  { name: 'redis', run: ensureRedis },
  { name: 'newer servers', run: ensureNewer },
  { name: 'clients', run: () => orThrow(installBeside('test/suites/connections/packages'), 'npm ci failed') },
  {
    name: 'build and types',
    run: async () => orThrow(await build({ tests: true }), 'the build failed'),
    essential: true,
  },
  { name: 'the contract on each row', run: runRows },
])
// A server, timer or child that a test left behind must not keep this process.
process.exit(summarize(total) ? 0 : 1)
