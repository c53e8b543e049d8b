#!/usr/bin/env node
// @ts-check
/**
 * npm run test:mutants -- [WORD…]   breaks the library on purpose, one patch of test/mutants at a time, and looks who notices
 *
 * Before its first `---`, a patch says in a line what it breaks; with `Suite:` which test files look where the simulation
 * does not; with `Family:` which histories can show it. Everything happens in a copy.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { buildLua } from './build-lua.mjs'
import { install } from './install.mjs'

const root = join(import.meta.dirname, '..')
const patches = join(root, 'test/mutants')
const SECONDS = 60

/** @typedef {{ name: string, what: string, suites: string[], family: string[], file: string, sources: string[] }} Mutant */

/** @param {string} file @returns {Mutant} */
const read = (file) => {
  const text = readFileSync(join(patches, file), 'utf8')
  const head = text.slice(0, text.indexOf('\n--- ')).split('\n')
  /** @param {string} word */
  const words = (word) =>
    head
      .find((line) => line.startsWith(word))
      ?.slice(word.length)
      .split(' ') ?? []
  const [suites, family] = [words('Suite: '), words('Family: ')]
  const sources = [...text.matchAll(/^\+\+\+ b\/(\S+)/gm)].map((match) => match[1] ?? '')
  return { name: file.replace(/\.patch$/, ''), what: head[0] ?? '', suites, family, file: join(patches, file), sources }
}

/** @param {string} home */
const copy = (home) => {
  for (const part of ['src', 'dist', '.build', 'scripts', 'test', 'package.json']) {
    cpSync(join(root, part), join(home, part), { recursive: true })
  }
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
}

/** Types are not asked: a mutant may be wrong there too. @param {string} home @param {readonly string[]} sources */
const compile = async (home, sources) => {
  const { transformSync } = await import('esbuild')
  if (sources.some((source) => source.endsWith('.lua'))) await buildLua(home)
  const generated = sources.some((source) => source.endsWith('.lua')) ? ['src/lua/scripts.gen.ts'] : []
  for (const source of [...sources, ...generated].filter((name) => name.endsWith('.ts'))) {
    const { code } = transformSync(readFileSync(join(home, source), 'utf8'), { loader: 'ts', target: 'es2022' })
    writeFileSync(join(home, source.replace(/^src/, 'dist').replace(/\.ts$/, '.js')), code)
  }
}

/** @param {string} home @param {Mutant} mutant @param {boolean} [back] */
const apply = (home, { file }, back = false) => {
  const { status, stderr } = spawnSync('git', ['apply', ...(back ? ['-R'] : []), file], { cwd: home, encoding: 'utf8' })
  return status === 0 ? undefined : stderr.trim()
}

/** @param {string} home @param {readonly string[]} family */
const simulate = (home, family) => {
  const began = Date.now()
  const args = [
    'dist/testing/simulation/main.js',
    '--first',
    '--seconds',
    String(SECONDS),
    '--cores',
    String(availableParallelism()),
  ]
  const { stdout } = spawnSync(process.execPath, [...args, ...family.flatMap((name) => ['--family', name])], {
    cwd: home,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    timeout: (SECONDS + 60) * 1000,
  })
  const [, histories = '?', violations = '0'] = /(\d+) histories, (\d+) violations\n$/.exec(stdout) ?? []
  if (violations === '0') return undefined
  const rule = /^([a-z ]+): /m.exec(stdout.slice(stdout.indexOf('VIOLATION')))?.[1] ?? 'something'
  return `simulation: ${rule}, after ${histories} histories (${((Date.now() - began) / 1000).toFixed(0)} s)`
}

/** @param {string} home @param {readonly string[]} suites */
const test = (home, suites) => {
  for (const suite of suites) {
    const args = ['--test', '--test-timeout=60000', `.build/test/${suite}.test.js`]
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: home, encoding: 'utf8', maxBuffer: 1 << 28 })
    if (status === 0) continue
    const failed = /^\s*not ok \d+ - (.*)$/m.exec(stdout)?.[1] ?? 'it does not run'
    return `suite ${suite}: ${failed.slice(0, 70)}`
  }
  return undefined
}

if (!install() || !(await build({ tests: true }))) process.exit(1)
const words = process.argv.slice(2)
const mutants = readdirSync(patches)
  .filter((file) => file.endsWith('.patch') && (words.length === 0 || words.some((word) => file.includes(word))))
  .sort()
  .map(read)
const home = mkdtempSync(join(tmpdir(), 'holdfast-mutants-'))
let failed = 0
try {
  copy(home)
  for (const mutant of mutants) {
    const refused = apply(home, mutant)
    if (refused !== undefined) {
      failed++
      console.log(`✘ ${mutant.name}: the patch does not apply any more: ${refused}`)
      continue
    }
    await compile(home, mutant.sources)
    const found = (mutant.suites.length > 0 ? test(home, mutant.suites) : undefined) ?? simulate(home, mutant.family)
    if (found === undefined) failed++
    console.log(
      `${found === undefined ? '✘' : '✔'} ${mutant.name.padEnd(34)} ${found ?? 'NOT FOUND'}\n    ${mutant.what}`,
    )
    apply(home, mutant, true)
    await compile(home, mutant.sources)
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
console.log(`${mutants.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 || mutants.length === 0 ? 1 : 0
