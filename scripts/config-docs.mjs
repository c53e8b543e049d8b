#!/usr/bin/env node
// @ts-check
/** docs/configuration.md: its table is made of the list in src/config/file/redisson-fields.ts. `--check` only looks whether it is. */
import { readFileSync, writeFileSync } from 'node:fs'
import { isMain } from './is-main.mjs'

const PAGE = new URL('../docs/configuration.md', import.meta.url)
const BEGIN = '<!-- fields: made by scripts/config-docs.mjs -->'
const END = '<!-- end of fields -->'

/** @type {Record<string, string>} */
const WHERE = {
  root: 'The root',
  any: 'The root, or a section',
  section: 'Every section',
  replicas: 'Every section but `singleServerConfig`',
}

/**
 * @param {{ FIELDS: readonly import('../src/config/file/redisson-fields.ts').Field[], SECTIONS: Readonly<Record<string, string>> }} fields
 * @returns {string}
 */
export const tableOf = ({ FIELDS, SECTIONS }) => {
  const places = [...new Set(FIELDS.map(({ where }) => where))]
  return places
    .map((where) => {
      const sections = Object.keys(SECTIONS).filter((name) => SECTIONS[name] === where)
      const title = WHERE[where] ?? sections.map((name) => `\`${name}\``).join(', ')
      const rows = FIELDS.filter((field) => field.where === where).map(rowOf)
      return [`### ${title}`, '', '| field | | what becomes of it |', '|---|---|---|', ...rows].join('\n')
    })
    .join('\n\n')
}

/** @param {import('../src/config/file/redisson-fields.ts').Field} field @returns {string} */
const rowOf = ({ name, fate, note, only }) =>
  `| \`${name}\` | ${only === undefined ? fate : `honoured where \`${only}\``} | ${note} |`

/** @param {string} page @param {string} table @returns {string} */
export const withTable = (page, table) => {
  const [before, rest] = page.split(BEGIN)
  const after = rest?.split(END)[1]
  if (before === undefined || after === undefined) throw new Error('docs/configuration.md has no place for the fields')
  return `${before}${BEGIN}\n\n${table}\n\n${END}${after}`
}

if (isMain(import.meta.url)) {
  const page = readFileSync(PAGE, 'utf8')
  const wanted = withTable(page, tableOf(await import('../dist/config/file/redisson-fields.js')))
  if (!process.argv.includes('--check')) writeFileSync(PAGE, wanted)
  else if (wanted !== page) throw new Error('docs/configuration.md is not up to date: node scripts/config-docs.mjs')
}
