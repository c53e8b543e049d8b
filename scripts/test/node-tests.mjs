// @ts-check
/** Node's own test runner, with a report of one line for each file and the whole story of each failure. */
import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { inspect } from 'node:util'
import { root } from './parts.mjs'

/** @typedef {import('./parts.mjs').Counts} Counts */

const BUILT = join(root, '.build')
const FILE_TIMEOUT = 300_000
const TOTALS = /^(tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /

/** CI looks again at so many tests, so often each, when they failed beside others on a busy machine. */
const MOST_AGAIN = 2
const AGAIN = 3
/** What no load excuses: two at a time, and what a history says. */
const GRAVE = /inside|overlap|exclusion|violation|in at once|beside another|update was lost/i

/** What the runner says of those that it was not asked for. */
const NOT_CHOSEN = 'test name does not match pattern'

/** Slow, and so run only when asked for. */
const APART = ['faults', 'interop', 'connections', 'frameworks', 'site'].map((name) => `test/suites/${name}/`)

/** @param {readonly string[]} patterns parts of the path; none means all that do not stand apart */
export const findTests = (patterns) => {
  const folder = join(BUILT, 'test')
  if (!existsSync(folder)) return []
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join(folder, file))
    .filter((file) => {
      const name = sourceName(file)
      return patterns.length === 0
        ? !APART.some((folder) => name.startsWith(folder))
        : patterns.some((pattern) => name.includes(pattern))
    })
    .sort()
}

/** @param {string} file */
const sourceName = (file) => relative(BUILT, file).replaceAll('\\', '/').replace(/js$/, 'ts')

/** @param {any} error what the runner wraps around the test's own error */
const ownError = (error) => error?.cause ?? error

/** What the runner tells of one test file. */
class FileReport {
  passed = 0
  /** @type {string[]} */
  failures = []
  /** The reasons. @type {string[]} */
  skipped = []
  /** The tests that failed, by name; of `failures`, those that are not the file's as a whole. @type {string[]} */
  failed = []
  /** Whether something was seen that must not happen even once. */
  grave = false
  #output = ''
  /** Names from the outermost suite to the test being told of. @type {string[]} */
  #path = []
  /** The test that began last: the one to blame when the file hangs. */
  #begun = ''

  /** @param {string} file as it was built */
  constructor(file) {
    this.built = file
    this.name = sourceName(file)
  }

  /** @param {{ type: string, data: any }} event */
  take({ type, data }) {
    if (type === 'test:stdout' || type === 'test:stderr') this.#output += data.message
    else if (type === 'test:diagnostic' && !TOTALS.test(data.message)) this.#output += `${data.message}\n`
    else if (type === 'test:dequeue' && data.name !== this.built) this.#begun = data.name
    else if (type === 'test:start') this.#path.splice(data.nesting, Infinity, data.name)
    else if (type === 'test:pass' && data.details.type !== 'suite' && data.name !== this.built) this.#pass(data.skip)
    else if (type === 'test:fail') this.#fail(data)
  }

  /** @param {string | true | undefined} skip */
  #pass(skip) {
    if (skip === NOT_CHOSEN) return
    if (skip === undefined) this.passed += 1
    else this.skipped.push(typeof skip === 'string' && skip !== '' ? skip : 'marked so in the test')
  }

  /** @param {any} data */
  #fail({ name, nesting, todo, details: { error } }) {
    if (error?.failureType === 'subtestsFailed') return
    if (todo !== undefined) {
      this.skipped.push('marked as to do in the test')
      return
    }
    const late = error?.failureType === 'testAborted' ? ' took too long' : ''
    const whole = `the file as a whole${late}${this.#begun && ` (begun last: ${this.#begun})`}`
    const names = name === this.built ? [whole] : this.#path.slice(0, nesting + 1)
    const title = `${this.name}: ${names.join(' › ')}`
    const story = inspect(ownError(error), { depth: 4 })
    this.failures.push(title)
    if (name !== this.built) this.failed.push(name)
    if (GRAVE.test(story)) this.grave = true
    console.log(`  ✘ ${title}\n${story.replace(/^/gm, '      ')}`)
  }

  /** @param {number} ms */
  print(ms) {
    const failed = this.failures.length > 0
    if (failed && this.#output) console.log(this.#output.trimEnd().replace(/^/gm, '    | '))
    const counts = [`${this.passed} passed`]
    if (failed) counts.push(`${this.failures.length} failed`)
    if (this.skipped.length > 0) counts.push(`${this.skipped.length} skipped`)
    console.log(`${failed ? '✘' : '✔'} ${this.name}: ${counts.join(', ')}, ${(ms / 1000).toFixed(1)} s`)
  }
}

/** @param {string} file @param {number} timeout @param {readonly string[]} [names] of the tests; all, if there are none */
const runFile = async (file, timeout, names = []) => {
  const report = new FileReport(file)
  const began = performance.now()
  const testNamePatterns = names.map((name) => new RegExp(`^${name.replace(/[^\w\s]/g, '\\$&')}$`))
  const signal = AbortSignal.timeout(timeout)
  for await (const event of run({ files: [file], concurrency: 1, signal, testNamePatterns })) report.take(event)
  report.print(performance.now() - began)
  return report
}

/**
 * Whether what failed passes when nothing else runs, every time; at last with the rest of its file, on which it may depend.
 *
 * @param {FileReport} report @param {number} timeout
 */
const passesAlone = async ({ built, name, failures, failed, skipped }, timeout) => {
  const names = failed.length < failures.length ? [] : failed
  // Drawn again, it would be another test, of another name.
  const seed = /\bseed (\d+)/.exec(failed.join())?.[1]
  if (seed !== undefined) process.env['HOLDFAST_SEED'] = seed
  for (let time = 1; time <= AGAIN; time++) {
    const chosen = time < AGAIN ? names : []
    console.log(`  again, alone: ${chosen.join('; ') || name}`)
    const now = await runFile(built, timeout, chosen)
    if (now.failures.length > 0 || now.skipped.length > skipped.length || now.passed < failures.length) return false
  }
  return true
}

/** A failure that stays one is told as one. @param {FileReport[]} reports @param {number} timeout */
const lookAgain = async (reports, timeout) => {
  const failed = reports.filter(({ failures }) => failures.length > 0)
  if (failed.flatMap(({ failures }) => failures).length > MOST_AGAIN) return
  for (const report of failed) {
    if (report.grave || !(await passesAlone(report, timeout))) continue
    for (const title of report.failures) console.log(`⚠ UNSTEADY, a bug to be found: ${title}`)
    report.passed += report.failures.splice(0).length
  }
}

/** @param {string[]} files @returns {Promise<Counts>} */
export const runTests = async (files) => {
  const flags = '--enable-source-maps --unhandled-rejections=strict'
  process.env['NODE_OPTIONS'] = `${process.env['NODE_OPTIONS'] ?? ''} ${flags}`.trim()
  const concurrency = Number(process.env['HOLDFAST_TEST_CONCURRENCY'] ?? 3)
  const timeout = Number(process.env['HOLDFAST_TEST_TIMEOUT'] ?? FILE_TIMEOUT)
  /** @type {FileReport[]} */
  const reports = []
  const waiting = [...files]
  const work = async () => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift())
      reports.push(await runFile(file, timeout))
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  if (process.env['HOLDFAST_TEST_AGAIN']) await lookAgain(reports, timeout)
  return count(reports)
}

/** @param {FileReport[]} reports @returns {Counts} */
const count = (reports) => {
  const failures = reports.flatMap((report) => report.failures)
  for (const title of failures) console.log(`✘ ${title}`)
  /** @type {Counts['skipped']} */
  const skipped = new Map()
  for (const reason of reports.flatMap((report) => report.skipped)) skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
  return { passed: reports.reduce((sum, { passed }) => sum + passed, 0), failed: failures.length, skipped }
}
