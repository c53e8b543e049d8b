import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { parse } from 'yaml'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const OUTPUT = join(ROOT, '.build/release')
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const load = async <M>(script: string): Promise<M> =>
  (await import(pathToFileURL(join(ROOT, 'scripts', script)).href)) as M

interface Agreement {
  versionProblems(texts: object, tag?: string): string[]
  addressProblems(manifest: object, tag?: string): string[]
}
interface Bom {
  readonly components: readonly Record<string, unknown>[]
}
const { versionProblems, addressProblems } = await load<Agreement>('release/agreement.mjs')
const { sbomProblems } = await load<{ sbomProblems(bom: unknown): Promise<string[]> }>('release/sbom-schema.mjs')
const { sbom, BUNDLED } = await load<{ sbom(): Bom; BUNDLED: readonly string[] }>('sbom.mjs')
const { bundledPackages, licenceProblems } = await load<{
  bundledPackages(): Promise<string[]>
  licenceProblems(names: readonly string[], notice: string): string[]
}>('release/licences.mjs')

const refusal = async (...args: string[]): Promise<{ code: unknown; stdout: string; stderr: string }> =>
  promisify(execFile)(process.execPath, ['scripts/release.mjs', ...args], { cwd: ROOT }).then(
    () => assert.fail('it ended well'),
    (error: unknown) => error as { code: unknown; stdout: string; stderr: string },
  )

void describe('npm run release', () => {
  void test('a dry run → everything but publishing, and the files of a release, whose sums are right', async () => {
    const args = ['scripts/release.mjs', '--dry-run', '--built']
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT })
    assert.match(stdout, /^9 passed, 0 failed$/m, stdout)
    const sums = readFileSync(join(OUTPUT, 'SHA256SUMS'), 'utf8').trim().split('\n')
    for (const line of sums) {
      const [sum, file = ''] = line.split('  ')
      const content = readFileSync(join(OUTPUT, file))
      assert.equal(createHash('sha256').update(content).digest('hex'), sum, file)
    }
    // The notes are the text of the release, and no file of it.
    assert.deepEqual(
      sums.map((line) => line.slice(66)).sort(),
      readdirSync(OUTPUT)
        .filter((file) => !['SHA256SUMS', 'notes.md'].includes(file))
        .sort(),
    )
    assert.match(stdout, new RegExp(`SHA-256 ${sums.find((line) => line.endsWith('.tgz'))?.slice(0, 64)}`))
    assert.deepEqual(JSON.parse(readFileSync(join(OUTPUT, 'sbom.cdx.json'), 'utf8')), sbom())
  })

  void test('neither a dry run nor a tag, or both → 64, and nothing is done', async () => {
    for (const args of [[], ['--dry-run', '--tag', 'v1.0.0']]) {
      const { code, stdout, stderr } = await refusal(...args)
      assert.deepEqual([code, stdout, stderr], [64, '', 'npm run release -- --dry-run, or --tag v1.2.3\n'])
    }
  })
})

/** All that agrees. */
const texts = (changed: { version?: string; lock?: string; root?: string; changelog?: string } = {}): object => ({
  manifest: { version: changed.version ?? '1.2.3' },
  lock: { version: changed.lock ?? '1.2.3', packages: { '': { version: changed.root ?? '1.2.3' } } },
  changelog:
    changed.changelog ??
    '# Changelog\n\n## [1.2.3] - 2026-01-31\n\n### Added\n\n- One.\n\n## [1.2.2] - 2026-01-01\n\n- Old.\n',
})

void describe('what must agree before a release', () => {
  const unreleased = { changelog: '# C\n\n## [1.2.3] - Unreleased\n\n- One.\n' }
  const rows: readonly (readonly [
    name: string,
    changed: object,
    tag: string | undefined,
    problem: RegExp | undefined,
  ])[] = [
    ['all agrees', {}, 'v1.2.3', undefined],
    ['a dry run of what is unreleased', unreleased, undefined, undefined],
    ['a tag of what is unreleased', unreleased, 'v1.2.3', /is unreleased/],
    ['another tag', {}, 'v1.2.4', /the tag is v1\.2\.4/],
    ['a tag without its v', {}, '1.2.3', /the tag is 1\.2\.3/],
    ['an old lock file', { lock: '1.2.2' }, undefined, /package-lock\.json says 1\.2\.2/],
    ['an old root in the lock file', { root: '1.2.2' }, undefined, /says 1\.2\.2 of its root/],
    ['an old changelog', { version: '1.3.0', lock: '1.3.0', root: '1.3.0' }, undefined, /begins with 1\.2\.3/],
    ['an empty changelog', { changelog: '## [1.2.3] - 2026-01-31\n' }, undefined, /says nothing about 1\.2\.3/],
  ]
  for (const [name, changed, tag, problem] of rows)
    void test(`${name} → ${problem ? 'a problem' : 'none'}`, () => {
      const problems = versionProblems(texts(changed), tag)
      assert.equal(problems.length, problem ? 1 : 0, problems.join('\n'))
      if (problem) assert.match(problems[0] ?? '', problem)
    })

  void test('a heading of the changelog in another form → it throws', () => {
    for (const heading of ['## 1.2.3', '## [1.2.3] - soon', '## [1.2.3]'])
      assert.throws(() => versionProblems(texts({ changelog: `${heading}\n\n- One.\n` })), /is not '## \[/)
  })

  const manifest = JSON.parse(read('package.json')) as { repository: object }
  const address = 'https://github.com/somebody/holdfast'
  const filledIn = {
    ...manifest,
    homepage: `${address}#readme`,
    repository: { type: 'git', url: `git+${address}.git` },
    bugs: `${address}/issues`,
  }
  void test('the placeholder for the owner → good for a dry run, not for a tag', () => {
    assert.deepEqual(addressProblems(manifest), [])
    assert.match(addressProblems(manifest, 'v1.2.3').join('\n'), /in place of OWNER/)
  })
  void test('the owner’s addresses → good; three of two owners → a problem', () => {
    assert.deepEqual(addressProblems(filledIn, 'v1.2.3'), [])
    for (const field of ['homepage', 'bugs', 'repository'] as const) {
      const mixed = { ...filledIn, [field]: (manifest as unknown as Record<string, unknown>)[field] }
      assert.notDeepEqual(addressProblems(mixed, 'v1.2.3'), [], field)
    }
  })
})

void describe('the bill of materials', () => {
  void test('as it is → what the official schema allows', async () => assert.deepEqual(await sbomProblems(sbom()), []))

  const [first] = sbom().components
  const broken: readonly (readonly [string, object])[] = [
    ['another version of the format', { specVersion: '1.9' }],
    ['another format', { bomFormat: 'SPDX' }],
    ['an unknown field', { made: 'here' }],
    ['a component without a name', { components: [{ ...first, name: undefined }] }],
    ['a hash that is none', { components: [{ ...first, hashes: [{ alg: 'SHA-512', content: 'abc' }] }] }],
    ['the same component twice', { components: [first, first] }],
    ['a dependency without its reference', { dependencies: [{ dependsOn: [] }] }],
  ]
  for (const [name, change] of broken)
    void test(`${name} → refused`, async () => assert.notDeepEqual(await sbomProblems({ ...sbom(), ...change }), []))
})

void describe('code of others in dist/', () => {
  void test('its packages → those of the bill of materials, with their licences in NOTICE', async () => {
    assert.deepEqual(await bundledPackages(), BUNDLED)
    assert.deepEqual(licenceProblems(BUNDLED, read('NOTICE')), [])
  })
  void test('a NOTICE without a name, or without a licence → a problem', () => {
    const notice = read('NOTICE')
    assert.match(licenceProblems(['preact'], notice.replaceAll('preact', 'react')).join(), /does not name preact/)
    assert.match(licenceProblems(['preact'], notice.replaceAll('Jason Miller', '')).join(), /the licence of preact/)
  })
})

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Record<string, unknown>
}
interface Job {
  readonly permissions: Record<string, string>
  readonly steps: readonly Step[]
  readonly needs?: string
}
interface Workflow {
  readonly on: { readonly push: { readonly tags: readonly string[] } }
  readonly permissions: object
  readonly jobs: Record<string, Job>
}

void describe('.github/workflows/release.yml', () => {
  const text = read('.github/workflows/release.yml')
  const { on, permissions, jobs } = parse(text) as Workflow
  const runs = (job: string): string[] => (jobs[job]?.steps ?? []).flatMap(({ run }) => run ?? [])

  void test('every action → pinned to a commit, with its version behind it', () => {
    const lines = text.split('\n').filter((line) => /\buses:/.test(line))
    assert.equal(lines.length, Object.values(jobs).flatMap(({ steps }) => steps.filter(({ uses }) => uses)).length)
    for (const line of lines) assert.match(line, /uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  void test('it runs for tags of versions, and each job may do no more than it needs', () => {
    assert.deepEqual(on.push, { tags: ['v*'] })
    assert.deepEqual(permissions, {})
    const allowed = Object.entries(jobs).map(([name, job]) => [name, job.permissions])
    assert.deepEqual(Object.fromEntries(allowed), {
      prepare: { contents: 'read' },
      publish: { 'id-token': 'write' },
      announce: { contents: 'write' },
    })
  })

  void test('the job that may publish → runs after all checks, on finished files, and nothing of the repository', () => {
    const { needs, steps = [] } = jobs['publish'] ?? {}
    assert.equal(needs, 'prepare')
    assert.equal(jobs['announce']?.needs, 'publish')
    for (const { uses = '' } of [...steps, ...(jobs['announce']?.steps ?? [])])
      assert.ok(!uses.startsWith('actions/checkout'))
    assert.ok(runs('publish').every((run) => /^(sha256sum|npm publish) /.test(run)))
    assert.ok(runs('announce').every((run) => /^(sha256sum|gh release) /.test(run)))
    assert.deepEqual(runs('prepare'), [
      'bash .ci/run',
      'node scripts/release.mjs --tag "$GITHUB_REF_NAME"',
      'node scripts/release.mjs --dry-run',
    ])
  })

  void test('what it publishes → the checked tarball with provenance; the release has the bill of materials', () => {
    const [check = '', publish = ''] = runs('publish')
    const [again = '', release = ''] = runs('announce')
    for (const one of [check, again]) assert.match(one, /^sha256sum --check --strict SHA256SUMS$/)
    assert.match(publish, /^npm publish \.\/holdfast-\*\.tgz .*--provenance/)
    for (const file of ['holdfast-*.tgz', 'sbom.cdx.json', 'SHA256SUMS', '--notes-file notes.md'])
      assert.ok(release.includes(file), file)
  })

  void test('it names no host but npm’s registry', () => {
    assert.deepEqual(text.match(/https?:\/\/[^\s'"]+/g), ['https://registry.npmjs.org'])
  })
})
