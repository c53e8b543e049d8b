import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const load = async <M>(script: string): Promise<M> =>
  (await import(pathToFileURL(join(ROOT, 'scripts', script)).href)) as M

let folder: string
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-published-'))
  const { stage } = await load<{ stage(folder: string): Promise<void> }>('stage.mjs')
  await stage(join(folder, 'one'))
  await stage(join(folder, 'two'))
})
after(() => {
  rmSync(folder, { recursive: true, force: true })
})

const packed = (which: string): string => {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', join(folder, which)]
  const [made] = JSON.parse(execFileSync('npm', args, { cwd: join(folder, which), encoding: 'utf8' })) as [
    { filename: string },
  ]
  return createHash('sha256')
    .update(readFileSync(join(folder, which, made.filename)))
    .digest('hex')
}

void test('the package laid out and packed twice → the same bytes', () => {
  assert.equal(packed('one'), packed('two'))
})

interface Report {
  apiReport(): Promise<string>
  problemsHere(): Promise<string[]>
  reportProblems(kept: string, types: string, changelog: string): string[]
  reportOf(types: string, changelog: string, words: string, kept: string): string
}
const { problemsHere, reportOf, reportProblems } = await load<Report>('api-report.mjs')

void test('the public types → those of test/tools/api-report.txt, which names the line of CHANGELOG.md that tells of their last change', async () => {
  assert.deepEqual(await problemsHere(), [])
})

const CHANGELOG = `# Changelog

## [1.1.0] - Unreleased

### Added

- \`client.second\` does what
  [the guide](docs/guide.md) says.
- Two lines with the same words.
- More of the same words.

## [1.0.0] - 2026-01-31

### Added

- \`client.first\`: the beginning.
`
const written = (words: string, types = 'types', changelog = CHANGELOG): string =>
  reportOf(types, changelog, words, 'an older report')

void test('a report with a line of the changelog → kept, until the types or the line are others', () => {
  const report = written('client.second does what the guide says')
  assert.deepEqual(reportProblems(report, 'types', CHANGELOG), [])
  assert.match(reportProblems(report, 'types\nmore', CHANGELOG).join('\n'), /^\+ more$/m)
  assert.match(reportProblems(report, 'types', CHANGELOG.replace('second', 'other')).join('\n'), /has no line with/)
  assert.match(reportProblems(`${report}!`, 'types!', CHANGELOG).join('\n'), /changed by hand/)
  assert.match(reportProblems('types', 'types', CHANGELOG).join('\n'), /does not say which line/)
})

void test('after the release → the same types need no new line', () => {
  const released = CHANGELOG.replace('Unreleased', '2026-03-01')
  const next = released.replace('# Changelog\n', '# Changelog\n\n## [1.2.0] - Unreleased\n')
  const report = written('client.second')
  assert.deepEqual(reportProblems(report, 'types', next), [])
  assert.equal(reportOf('types', next, '', report), report)
})

void test('words of no line, of several, of an older version, or too few; or a version that is released → refused', () => {
  for (const words of ['client.third', 'the same words', 'client.first', '', 'a', ' '.repeat(9)])
    assert.throws(() => written(words), /stands in \d lines of CHANGELOG\.md under 1\.1\.0/, words)
  assert.throws(() => written('client.second', 'types', CHANGELOG.replace('Unreleased', '2026-03-01')), /is released/)
})

/** kB of JavaScript that an import reads at once, without what it loads when it is used. */
const BUDGETS: Readonly<Record<string, number>> = {
  '.': 29,
  './testing': 1174,
  './node': 25,
  './schedule': 40,
  './node-cron': 33,
  './express': 39,
  './fastify': 43,
  './hono': 39,
  './dashboard': 145,
  './idempotency': 58,
  './migrate': 13,
  './otel': 48,
  './prometheus': 41,
  './logger': 30,
  './stores': 40,
  './nest': 39,
}

const STATIC = /(?:\bfrom|\bimport)\s*["'](\.{1,2}\/[^"']+)["']/g
const filesOf = (file: string, seen = new Set<string>()): Set<string> => {
  if (seen.has(file) || !existsSync(file)) return seen
  seen.add(file)
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(STATIC)) filesOf(join(dirname(file), path), seen)
  return seen
}

void test('every entry point → within its budget, which is not far above it', () => {
  const staged = join(folder, 'one')
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    exports: Record<string, { default?: string }>
  }
  const sizes = Object.entries(exports).flatMap(([name, { default: file }]) => {
    if (file === undefined) return []
    const files = [...filesOf(join(staged, file))]
    assert.ok(
      files.every((one) => !relative(staged, one).startsWith('..')),
      name,
    )
    return [[name, Math.round(files.reduce((sum, one) => sum + readFileSync(one).length, 0) / 1000)] as const]
  })
  assert.deepEqual(Object.keys(BUDGETS).sort(), sizes.map(([name]) => name).sort())
  const wrong = sizes.filter(([name, size]) => size > (BUDGETS[name] ?? 0) || size < (BUDGETS[name] ?? 0) * 0.6 - 2)
  assert.deepEqual(wrong, [], 'kB, beside the budgets of this file')
})

interface Bom {
  readonly bomFormat: string
  readonly components: readonly {
    name: string
    licenses?: unknown
    hashes?: { content: string }[]
    'bom-ref': string
  }[]
  readonly dependencies: readonly { ref: string; dependsOn: readonly string[] }[]
}

void test('the bill of materials → what an installation brings, each with its licence, its hash and its dependencies', async () => {
  const { sbom } = await load<{ sbom(): Bom }>('sbom.mjs')
  const { bomFormat, components, dependencies } = sbom()
  assert.equal(bomFormat, 'CycloneDX')
  for (const { name, licenses, hashes } of components) {
    assert.ok(licenses !== undefined, name)
    assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{128}$/, name)
  }
  const refs = new Set(components.map((one) => one['bom-ref']))
  const leads = dependencies.flatMap(({ dependsOn }) => dependsOn)
  assert.deepEqual(
    leads.filter((ref) => !refs.has(ref)),
    [],
  )
  // None without a way to it.
  assert.deepEqual(new Set(leads), refs)
  for (const name of ['ioredis', 'yaml', 'fengari', 'preact']) assert.ok(components.some((one) => one.name === name))
})
