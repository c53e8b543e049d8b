#!/usr/bin/env node
// @ts-check
/**
 * The public types, without comments, as one text. A test compares them with test/tools/api-report.txt, whose first lines say which line of CHANGELOG.md tells of
 * the last change:
 *
 *   node scripts/api-report.mjs                           prints them
 *   node scripts/api-report.mjs --write 'client.functions'   keeps them; the words stand in a line of the changelog's newest version
 */
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'
import { newestOf, sectionsOf } from './release/changelog.mjs'
import { declarationsOf } from './stage.mjs'

const root = join(import.meta.dirname, '..')
const REPORT = join(root, 'test/tools/api-report.txt')
const HEAD = /^changelog (?<version>\S+): (?<words>.+)\nsha256 (?<hash>[0-9a-f]{64})\n\n/
const ADVICE = `add a line to CHANGELOG.md, then: node scripts/api-report.mjs --write 'words of that line'`
/** Fewer could stand anywhere. */
const FEWEST = 6

/** @param {string} text */
const hashOf = (text) => createHash('sha256').update(text).digest('hex')

/** Without line breaks, marks of code and links. @param {string} text */
const plain = (text) =>
  text
    .replace(/\]\([^)]*\)/g, '')
    .replace(/[`*[\]]/g, '')
    .replace(/\s+/g, ' ')

/** @param {string} text of one version @returns {string[]} */
const entriesOf = (text) =>
  text
    .split(/^(?=- |#)/m)
    .filter((entry) => entry.startsWith('- '))
    .map(plain)

/** @returns {Promise<string>} */
export const apiReport = async () => {
  const { default: ts } = await import('typescript')
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.entries(exports).filter(([, entry]) => typeof entry === 'object')
  const printer = ts.createPrinter({ removeComments: true })
  const files = [...declarationsOf(entries.map(([, entry]) => entry.default))].sort(([a], [b]) => (a < b ? -1 : 1))
  const parts = files.map(([path, text]) => {
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022)
    return `==== ${path}\n\n${printer.printFile(source)}`
  })
  return [...entries.map(([name, { types }]) => `${name} → ${types}`), '', ...parts].join('\n')
}

/** Which lines are new or gone, at most so many. @param {string} before @param {string} after */
const difference = (before, after, most = 20) => {
  const [old, now] = [before, after].map((text) => new Set(text.split('\n')))
  const lines = [
    ...[...(old ?? [])].filter((line) => !now?.has(line)).map((line) => `- ${line}`),
    ...[...(now ?? [])].filter((line) => !old?.has(line)).map((line) => `+ ${line}`),
  ]
  return [...lines.slice(0, most), ...(lines.length > most ? [`… and ${lines.length - most} more`] : [])]
}

/**
 * What is wrong with a kept report, given the types as they are and the changelog.
 *
 * @param {string} kept @param {string} types @param {string} changelog @returns {string[]}
 */
export const reportProblems = (kept, types, changelog) => {
  const { version = '', words = '', hash = '' } = HEAD.exec(kept)?.groups ?? {}
  const body = kept.replace(HEAD, '')
  if (hash === '') return [`the report does not say which line of CHANGELOG.md tells of its last change: ${ADVICE}`]
  if (body !== types) return ['the public types are others than in the report:', ...difference(body, types), ADVICE]
  if (hashOf(body) !== hash) return [`the report was changed by hand, or by a merge: ${ADVICE}`]
  const section = sectionsOf(changelog).find((one) => one.version === version)
  const isThere = entriesOf(section?.text ?? '').some((entry) => entry.includes(plain(words)))
  return isThere ? [] : [`CHANGELOG.md has no line with '${words}' under ${version}, which the report names: ${ADVICE}`]
}

/**
 * The report to keep.
 *
 * @param {string} types @param {string} changelog @param {string} words @param {string} kept
 */
export const reportOf = (types, changelog, words, kept) => {
  if (reportProblems(kept, types, changelog).length === 0) return kept
  const { version, date, text } = newestOf(changelog)
  const entries = entriesOf(text).filter((entry) => entry.includes(plain(words)))
  if (plain(words).trim().length < FEWEST || entries.length !== 1)
    throw new Error(
      `'${words}' stands in ${entries.length} lines of CHANGELOG.md under ${version}: quote more of one line`,
    )
  if (date !== 'Unreleased') throw new Error(`CHANGELOG.md: ${version} is released; begin the next version`)
  return `changelog ${version}: ${words}\nsha256 ${hashOf(types)}\n\n${types}`
}

/** As they are here. */
export const problemsHere = async () =>
  reportProblems(readFileSync(REPORT, 'utf8'), await apiReport(), readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))

const main = async () => {
  const [flag, words = ''] = process.argv.slice(2)
  const types = await apiReport()
  if (flag !== '--write') {
    process.stdout.write(types)
    return
  }
  const changelog = readFileSync(join(root, 'CHANGELOG.md'), 'utf8')
  writeFileSync(REPORT, reportOf(types, changelog, words, readFileSync(REPORT, 'utf8')))
}

if (isMain(import.meta.url))
  await main().catch((error) => {
    console.error(error.message)
    process.exitCode = 1
  })
