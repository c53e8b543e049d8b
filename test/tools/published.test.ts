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

void test('the public types → those of test/tools/api-report.txt; node scripts/api-report.mjs --write renews it', async () => {
  const { apiReport, REPORT } = await load<{ apiReport(): Promise<string>; REPORT: string }>('api-report.mjs')
  assert.equal(await apiReport(), readFileSync(REPORT, 'utf8'))
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
  './dashboard': 137,
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
