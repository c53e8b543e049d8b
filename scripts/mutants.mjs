#!/usr/bin/env node
// @ts-check
/**
 * npm run test:mutants -- [WORD…]   breaks the library on purpose, one mutant at a time, and reports which test notices
 * npm run test:mutants -- --lines    only those of test/mutants/lines.mjs, each of which breaks one line
 *
 * The others are patches in test/mutants. Before its first `---`, a patch says in a line what it breaks; with `Suite:` which test files look where the simulation
 * does not; with `Guard:` which checks of the bench see that it is slower; with `Family:` which histories can show it. Everything happens in a copy.
 * A suite must pass there as long as nothing is broken: who does not run, or fails anyway, notices nothing.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { buildLua } from './build-lua.mjs'
import { lines } from '../test/mutants/lines.mjs'

const root = join(import.meta.dirname, '..')
const patches = join(root, 'test/mutants')
const SECONDS = 60

/**
 * `change` breaks the copy, or says why it cannot.
 * @typedef {{ name: string, what: string, suites: string[], guard: string[], family: string[], sources: string[],
 *   only: boolean, change: (home: string, back: boolean) => string | undefined }} Mutant
 */

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
  const [suites, guard, family] = [words('Suite: '), words('Guard: '), words('Family: ')]
  const sources = [...text.matchAll(/^\+\+\+ b\/(\S+)/gm)].map((match) => match[1] ?? '')
  return {
    name: file.replace(/\.patch$/, ''),
    what: head[0] ?? '',
    suites,
    guard,
    family,
    sources,
    only: false,
    change: (home, back) => {
      const args = ['apply', ...(back ? ['-R'] : []), join(patches, file)]
      const { status, stderr } = spawnSync('git', args, { cwd: home, encoding: 'utf8' })
      return status === 0 ? undefined : stderr.trim()
    },
  }
}

/** @param {import('../test/mutants/lines.mjs').Line} line @returns {Mutant} */
const readLine = ({ name, breaks, file, from, to, suites }) => ({
  name,
  what: `Breaks: ${breaks}.`,
  suites,
  guard: [],
  family: [],
  sources: [file],
  only: true,
  change: (home, back) => {
    const parts = readFileSync(join(root, file), 'utf8').split(from)
    if (parts.length !== 2) return `the line stands ${parts.length - 1} times in ${file}`
    writeFileSync(join(home, file), parts.join(back ? from : to))
    return undefined
  },
})

/** @param {string} home */
const copy = (home) => {
  for (const part of ['src', 'dist', '.build', 'scripts', 'test', 'docs', 'package.json', 'SECURITY.md']) {
    cpSync(join(root, part), join(home, part), { recursive: true })
  }
  for (const file of ['bench/guard.json', 'interop/java/pom.xml']) cpSync(join(root, file), join(home, file))
  symlinkSync(join(root, 'node_modules'), join(home, 'node_modules'))
}

/** Types are not asked: a mutant may be wrong there too. @param {string} home @param {readonly string[]} sources */
const compile = async (home, sources) => {
  const { transformSync } = await import('esbuild')
  const inScripts = sources.some((source) => source.endsWith('.lua') || source === 'src/script-times-and-limits.ts')
  if (inScripts) await buildLua(home)
  const generated = inScripts ? ['src/lua/scripts.gen.ts'] : []
  for (const source of [...sources, ...generated].filter((name) => name.endsWith('.ts'))) {
    const { code } = transformSync(readFileSync(join(home, source), 'utf8'), { loader: 'ts', target: 'es2022' })
    writeFileSync(join(home, source.replace(/^src/, 'dist').replace(/\.ts$/, '.js')), code)
  }
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
  const rule = /^✘ seed \d+: ([a-z ]+): /m.exec(stdout)?.[1] ?? 'something'
  return `simulation: ${rule}, after ${histories} histories (${((Date.now() - began) / 1000).toFixed(0)} s)`
}

/**
 * What became of a suite, `file` or `file#word of its titles`: the name of the first test that failed, undefined where none did, and whether any ran. It ends with
 * the first that fails. Where the file itself ends badly it is named as a test of its own.
 * @param {string} home @param {string} suite @returns {Promise<{ ran: boolean, failed: string | undefined }>}
 */
const runSuite = (home, suite) =>
  new Promise((resolve) => {
    const [file = '', title] = suite.split('#')
    const titles = title === undefined ? [] : [`--test-name-pattern=${title}`]
    const args = ['--test', '--test-reporter=tap', '--test-timeout=240000', ...titles, `.build/test/${file}.test.js`]
    const child = spawn(process.execPath, args, { cwd: home, stdio: ['ignore', 'pipe', 'ignore'], detached: true })
    let ran = false
    /** @type {string | undefined} */
    let failed
    createInterface({ input: child.stdout }).on('line', (text) => {
      // Not what is said of a `describe`: it passes though all of its tests are left out.
      if (/^# pass [1-9]/.test(text)) ran = true
      const [, not, name = ''] = /^\s*(not )?ok \d+ - (.*)$/.exec(text) ?? []
      if (not === undefined || failed !== undefined || name.endsWith(`${file}.test.js`) || / # SKIP\b/.test(name))
        return
      ran = true
      failed = name
      // Whatever its tests started goes with it.
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
    })
    child.on('close', (code) => {
      resolve({ ran, failed: failed ?? (code === 0 ? undefined : 'it ends before its time') })
    })
  })

/** @type {Map<string, string | undefined>} */
const unfit = new Map()

/** Why a suite cannot tell anything: nothing is broken yet. @param {string} home @param {string} suite */
const whyUnfit = async (home, suite) => {
  if (!unfit.has(suite)) {
    const { ran, failed } = await runSuite(home, suite)
    unfit.set(suite, ran ? failed && `fails when nothing is broken: ${failed.slice(0, 70)}` : 'does not run')
  }
  return unfit.get(suite)
}

/** @param {string} home @param {readonly string[]} suites */
const test = async (home, suites) => {
  for (const suite of suites) {
    const { ran, failed } = await runSuite(home, suite)
    if (ran && failed !== undefined) return `suite ${suite}: ${failed.slice(0, 70)}`
  }
  return undefined
}

/** @param {string} home @param {readonly string[]} checks */
const guard = (home, checks) => {
  const args = ['.build/bench/main.js', 'guard', ...checks]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: home,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  })
  const low = /^(.*?)\s+TOO LOW$/m.exec(stdout)?.[1]?.replace(/\s+/g, ' ')
  if (status !== 0 && low === undefined) console.error(stderr.slice(-2000))
  return low && `guard: ${low}`
}

/** @param {string} home @param {Mutant} mutant */
const find = async (home, { suites, guard: checks, family, only }) => {
  if (checks.length > 0) return guard(home, checks)
  return (await test(home, suites)) ?? (only ? undefined : simulate(home, family))
}

if (!(await build({ tests: true }))) process.exit(1)
const given = process.argv.slice(2)
const linesOnly = given.includes('--lines')
const words = given.filter((word) => word !== '--lines')
const fromPatches = linesOnly
  ? []
  : readdirSync(patches)
      .filter((file) => file.endsWith('.patch'))
      .map(read)
const mutants = [...fromPatches, ...lines.map(readLine)]
  .filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)))
  .sort((one, other) => (one.name < other.name ? -1 : 1))
const home = mkdtempSync(join(tmpdir(), 'holdfast-mutants-'))
let failed = 0

/** Why it cannot be tried; else it is in place. @param {Mutant} mutant */
const whyNot = async (mutant) => {
  for (const suite of mutant.suites) {
    const why = await whyUnfit(home, suite)
    if (why !== undefined) return `${suite} ${why}`
  }
  const refused = mutant.change(home, false)
  return refused && `it does not apply any more: ${refused}`
}

try {
  copy(home)
  for (const mutant of mutants) {
    const why = await whyNot(mutant)
    if (why !== undefined) {
      failed++
      console.log(`✘ ${mutant.name}: ${why}`)
      continue
    }
    const began = Date.now()
    const broken = await compile(home, mutant.sources).catch((/** @type {Error} */ error) => error.message)
    const found = broken === undefined ? await find(home, mutant) : undefined
    if (found === undefined) failed++
    const took = `(${((Date.now() - began) / 1000).toFixed(0)} s)`
    console.log(
      `${found === undefined ? '✘' : '✔'} ${mutant.name.padEnd(34)} ${found ?? broken ?? 'NOT FOUND'} ${took}\n    ${mutant.what}`,
    )
    mutant.change(home, true)
    await compile(home, mutant.sources)
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
console.log(`${mutants.length - failed} passed, ${failed} failed`)
process.exitCode = failed > 0 || mutants.length === 0 ? 1 : 0
