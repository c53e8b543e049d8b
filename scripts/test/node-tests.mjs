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

/** @param {readonly string[]} patterns parts of the path; none means all */
export const findTests = (patterns) => {
  const folder = join(BUILT, 'test')
  if (!existsSync(folder)) return []
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => file.endsWith('.test.js'))
    .map((file) => join(folder, file))
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => sourceName(file).includes(pattern)))
    .sort()
}

/** @param {string} file */
const sourceName = (file) => relative(BUILT, file).replaceAll('\\', '/').replace(/js$/, 'ts')

/** What is told of one test file at a time: the runner reports them one after the other. */
class FileReport {
  passed = 0
  failed = 0
  skipped = 0
  output = ''
  /** Names from the outermost suite to the test being told of. @type {string[]} */
  path = []
  /** The test that began last: the one to blame when the file hangs. */
  begun = ''

  /** @param {string} file @param {number | undefined} ms */
  print(file, ms) {
    if (this.failed > 0 && this.output) console.log(this.output.trimEnd().replace(/^/gm, '    | '))
    const counts = [`${this.passed} passed`]
    if (this.failed > 0) counts.push(`${this.failed} failed`)
    if (this.skipped > 0) counts.push(`${this.skipped} skipped`)
    const seconds = ms === undefined ? '' : `, ${(ms / 1000).toFixed(1)} s`
    console.log(`${this.failed > 0 ? '✘' : '✔'} ${sourceName(file)}: ${counts.join(', ')}${seconds}`)
  }
}

/** @param {any} error what the runner wraps around the test's own error */
const ownError = (error) => error?.cause ?? error

class Report {
  /** @type {Counts} */
  counts = { passed: 0, failed: 0, skipped: new Map() }
  /** @type {string[]} */
  failures = []
  /** @type {Map<string, FileReport>} */
  #files = new Map()
  /** @type {Map<string, number>} */
  #took = new Map()
  #current = ''

  /** @param {string} file */
  #of(file) {
    const report = this.#files.get(file) ?? new FileReport()
    this.#files.set(file, report)
    return report
  }

  /** @param {{ type: string, data: any }} event */
  take({ type, data }) {
    const { file } = data
    if (type === 'test:diagnostic' && !TOTALS.test(data.message)) console.log(`  ! ${data.message}`)
    if (!file) return
    const report = this.#of(file)
    if (type === 'test:stdout' || type === 'test:stderr') report.output += data.message
    if (type === 'test:complete' && data.name === file) this.#took.set(file, data.details.duration_ms)
    if (type === 'test:dequeue' && data.name !== file) report.begun = data.name
    if (type === 'test:start') report.path.splice(data.nesting, Infinity, data.name)
    if (type !== 'test:pass' && type !== 'test:fail') return
    if (file !== this.#current) this.flush()
    this.#current = file
    if (type === 'test:pass') this.#pass(report, data)
    else this.#fail(report, data)
  }

  /** @param {FileReport} report @param {any} data */
  #pass(report, data) {
    if (data.details.type === 'suite' || data.name === data.file) return
    const reason = data.skip === true || data.skip === '' ? 'marked so in the test' : data.skip
    if (reason === undefined) {
      report.passed += 1
      this.counts.passed += 1
    } else this.#skip(report, reason)
  }

  /** @param {FileReport} report @param {string} reason */
  #skip(report, reason) {
    report.skipped += 1
    this.counts.skipped.set(reason, (this.counts.skipped.get(reason) ?? 0) + 1)
  }

  /** @param {FileReport} report @param {any} data */
  #fail(report, data) {
    const { error } = data.details
    if (error?.failureType === 'subtestsFailed') return
    if (data.todo !== undefined) return this.#skip(report, 'marked as to do in the test')
    report.failed += 1
    this.counts.failed += 1
    const whole = report.begun ? `the file as a whole (begun last: ${report.begun})` : 'the file as a whole'
    const names = data.name === data.file ? [whole] : report.path.slice(0, data.nesting + 1)
    const title = `${sourceName(data.file)}: ${names.join(' › ')}`
    this.failures.push(title)
    console.log(`  ✘ ${title}\n${inspect(ownError(error), { depth: 4 }).replace(/^/gm, '      ')}`)
  }

  flush() {
    if (this.#current) this.#of(this.#current).print(this.#current, this.#took.get(this.#current))
    this.#current = ''
  }
}

/** @param {string[]} files @returns {Promise<Counts>} */
export const runTests = async (files) => {
  process.env['NODE_OPTIONS'] =
    `${process.env['NODE_OPTIONS'] ?? ''} --enable-source-maps --unhandled-rejections=strict`.trim()
  const concurrency = Number(process.env['HOLDFAST_TEST_CONCURRENCY'] ?? 2)
  const timeout = Number(process.env['HOLDFAST_TEST_TIMEOUT'] ?? FILE_TIMEOUT)
  const report = new Report()
  for await (const event of run({ files, concurrency, timeout })) report.take(event)
  report.flush()
  for (const title of report.failures) console.log(`✘ ${title}`)
  return report.counts
}
