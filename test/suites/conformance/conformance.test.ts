import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { DIFFERENCES, idsOf, REASONS, SECTIONS } from './behaviours.js'
import { catalogue, PAGE, page, ROOT } from './catalogue.js'

const known = SECTIONS.flatMap(idsOf)

void test('each behaviour → a test or a reason, never both; no test names one that is unknown', () => {
  const tested = new Set(catalogue().keys())
  assert.deepEqual(
    known.filter((id) => tested.has(id) === id in REASONS),
    [],
  )
  assert.deepEqual(
    [...tested, ...Object.keys(REASONS)].filter((id) => !known.includes(id)),
    [],
  )
})

/** A user who finds one that is not listed trusts none of the list: it may grow, but nobody lets it do so unawares. */
const KNOWN = 19

void test('differences on purpose → as many as are known, each pinned by a test that is there', () => {
  assert.equal(DIFFERENCES.length, KNOWN)
  for (const { pinned } of DIFFERENCES) {
    const [file, name] = pinned
    assert.ok(readFileSync(join(ROOT, 'test', file), 'utf8').includes(name), `${file}: ${name}`)
  }
})

void test('docs/conformance.md → as `npm run conformance` writes it', () => {
  assert.ok(page() === readFileSync(PAGE, 'utf8'), 'not up to date: npm run conformance')
})
