#!/usr/bin/env node
// @ts-check
/**
 * npm run release -- --dry-run      everything before publishing, for the version that is being worked on
 * npm run release -- --tag v1.2.3   the same for a version that is ready: dated, of this tag, with the owner's addresses, all of it committed
 *
 * Writes .build/release: the tarball, its bill of materials, the notes, and SHA256SUMS. Publishes nothing: .github/workflows/release.yml does.
 * --built: with dist/ as it is. Without, the tarball must be the same from here and from a fresh clone.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { problemsHere } from './api-report.mjs'
import { build } from './build.mjs'
import { install, npm } from './install.mjs'
import { addressProblems, versionProblems } from './release/agreement.mjs'
import { newestOf } from './release/changelog.mjs'
import { bundledPackages, licenceProblems } from './release/licences.mjs'
import { sbomProblems } from './release/sbom-schema.mjs'
import { BUNDLED, sbom } from './sbom.mjs'
import { stage } from './stage.mjs'
import { call, root, runParts, summarize } from './test/parts.mjs'

const OUTPUT = join(root, '.build/release')

const { values } = parseArgs({
  options: { 'dry-run': { type: 'boolean' }, tag: { type: 'string' }, built: { type: 'boolean' } },
})
const { tag, built = false } = values
if ((tag === undefined) === (values['dry-run'] !== true)) {
  console.error('npm run release -- --dry-run, or --tag v1.2.3')
  process.exit(64)
}

const folder = mkdtempSync(join(tmpdir(), 'holdfast-release-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))

/** @param {string} path */
const read = (path) => readFileSync(join(root, path), 'utf8')
/** @param {string} path */
const readJson = (path) => JSON.parse(read(path))
/** @param {string} file */
const sha256 = (file) => createHash('sha256').update(readFileSync(file)).digest('hex')
/** @param {readonly string[]} problems */
const orThrow = (problems) => {
  if (problems.length > 0) throw new Error(problems.join('\n'))
}
const texts = () => ({
  manifest: readJson('package.json'),
  lock: readJson('package-lock.json'),
  changelog: read('CHANGELOG.md'),
})

/** @param {string[]} args @param {string} cwd @returns {any} what npm says, as JSON */
const npmJson = (args, cwd) => {
  const { status, stdout, stderr } = npm([...args, '--json', '--ignore-scripts'], { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args.join(' ')}: ${stderr}\n${stdout}`)
  return JSON.parse(String(stdout))
}

/** @param {string} staged @returns {string} the tarball */
const pack = (staged) => {
  const [{ filename }] = npmJson(['pack', '--pack-destination', staged], staged)
  return join(staged, filename)
}

const checkCommitted = () => {
  const { stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' })
  if (stdout.trim() !== '') throw new Error(`not committed:\n${stdout}`)
}

/** Built elsewhere from what is committed: neither this folder nor what lies about in it is in the tarball. @returns {string} where it is laid out */
const stageClone = () => {
  const [clone, staged] = [join(folder, 'clone'), join(folder, 'again')]
  call('git', ['clone', '--quiet', '--no-hardlinks', root, clone])
  symlinkSync(join(root, 'node_modules'), join(clone, 'node_modules'))
  call(process.execPath, ['scripts/build.mjs'], { cwd: clone })
  const program = `await (await import('./scripts/stage.mjs')).stage(${JSON.stringify(staged)})`
  call(process.execPath, ['--input-type=module', '-e', program], { cwd: clone })
  return staged
}

/** @returns {Promise<string>} where it is laid out */
const stageAgain = async () => {
  if (!built) return stageClone()
  const staged = join(folder, 'again')
  await stage(staged)
  return staged
}

let tarball = ''
const packTwice = async () => {
  const staged = join(folder, 'staged')
  await stage(staged)
  tarball = pack(staged)
  const again = pack(await stageAgain())
  if (sha256(tarball) !== sha256(again)) throw new Error('the same sources make another tarball')
  console.log(`   SHA-256 ${sha256(tarball)}`)
}

const checkLicences = async () => {
  const names = await bundledPackages()
  if (names.join() !== BUNDLED.join()) throw new Error(`bundled: ${names}; the bill of materials says ${BUNDLED}`)
  orThrow(licenceProblems(names, read('NOTICE')))
}

/** With the flags of .github/workflows/release.yml. */
const publishDry = () => {
  const [args] = /publish \.\/holdfast-\*\.tgz (.*)$/m.exec(read('.github/workflows/release.yml'))?.slice(1) ?? []
  if (args === undefined) throw new Error('release.yml does not publish')
  const said = npmJson(['publish', tarball, '--dry-run', ...args.split(' ')], folder)
  const { name, version, entryCount } = said.holdfast ?? said
  console.log(`   ${name}@${version}, ${entryCount} files`)
}

const writeOutput = () => {
  rmSync(OUTPUT, { recursive: true, force: true })
  mkdirSync(OUTPUT, { recursive: true })
  const name = `holdfast-${readJson('package.json').version}.tgz`
  cpSync(tarball, join(OUTPUT, name))
  writeFileSync(join(OUTPUT, 'sbom.cdx.json'), `${JSON.stringify(sbom(), undefined, 2)}\n`)
  writeFileSync(join(OUTPUT, 'notes.md'), `${newestOf(read('CHANGELOG.md')).text}\n`)
  const sums = [name, 'sbom.cdx.json'].map((file) => `${sha256(join(OUTPUT, file))}  ${file}\n`)
  writeFileSync(join(OUTPUT, 'SHA256SUMS'), sums.join(''))
}

const total = await runParts([
  {
    name: 'packages',
    run: () => orThrow(install() ? [] : ['npm ci failed']),
    essential: true,
  },
  { name: 'version and changelog', run: () => orThrow(versionProblems(texts(), tag)) },
  { name: 'addresses', run: () => orThrow(addressProblems(readJson('package.json'), tag)) },
  ...(tag === undefined ? [] : [{ name: 'everything committed', run: checkCommitted }]),
  ...(built
    ? []
    : [{ name: 'build', run: async () => orThrow((await build()) ? [] : ['the build failed']), essential: true }]),
  { name: 'public types and changelog', run: async () => orThrow(await problemsHere()) },
  { name: 'the same tarball twice', run: packTwice, essential: true },
  { name: 'bill of materials, by the schema of CycloneDX 1.5', run: async () => orThrow(await sbomProblems(sbom())) },
  { name: 'licences of bundled code', run: checkLicences },
  { name: 'npm publish --dry-run', run: publishDry },
  { name: 'files', run: writeOutput },
])
process.exit(summarize(total) ? 0 : 1)
