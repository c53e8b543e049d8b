// @ts-check
/** A page for each code of an error, from the tables of docs/errors.md and the comments of src/errors.ts. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The cells of the rows of a table. @param {string} text */
const rowsOf = (text) =>
  [...text.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) => row.split(/(?<!\\) \| ?/).map((cell) => cell.trim()))

/** @param {string} cell */
const codesIn = (cell) => [...cell.matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, code = '']) => code)

/** @param {string} code */
export const addressOfCode = (code) => `errors/${code.toLowerCase().replaceAll('_', '-')}.md`

/** What the comment of a class says. @param {string} source @param {string} name */
const commentOf = (source, name) => {
  const [, comment = ''] = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\nexport class ${name} `).exec(source) ?? []
  return comment.replace(/^ *\* ?/gm, '').trim()
}

/** @param {string} page @param {string} name of a class */
const exampleOf = (page, name) => new RegExp(`^### ${name}\\n\\n(\`\`\`js\\n[^]*?^\`\`\`$)`, 'm').exec(page)?.[1] ?? ''

/** @typedef {{ name: string, code: string, when: string[], todo: string[] }} Row */

/** @param {string} page @returns {Map<string, Row>} by code */
const readRows = (page) => {
  const [tables = ''] = page.split('\n## Examples\n')
  const [classes = '', codes = ''] = tables.split('\n## Codes of an `EngineError`\n')
  /** @type {Map<string, Row>} */
  const rows = new Map()
  for (const [name = '', code = '', when = '', todo = ''] of rowsOf(classes)) {
    const [only] = codesIn(code)
    if (only === undefined) continue
    const row = rows.get(only) ?? { name: name.replaceAll('`', ''), code: only, when: [], todo: [] }
    row.when.push(when)
    if (todo !== '') row.todo.push(todo)
    rows.set(only, row)
  }
  for (const [cell = '', meaning = '', todo = ''] of rowsOf(codes))
    for (const code of codesIn(cell)) rows.set(code, { name: 'EngineError', code, when: [meaning], todo: [todo] })
  return rows
}

/** @param {string} text */
const sentence = (text) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.`]$/.test(text) ? '' : '.'}`

/** @param {Row} row @param {string} says @param {string} example */
const pageOf = ({ name, code, when, todo }, says, example) => {
  const parts = [
    `# ${code}`,
    name === 'HoldfastError' ? `A \`HoldfastError\` with the code \`${code}\`.` : `\`${name}\`: ${says}`,
    ['## When it happens', ...when.map(sentence)].join('\n\n'),
    todo.length > 0 ? ['## What to do', ...todo.map(sentence)].join('\n\n') : '',
    example === '' ? '' : `## Example\n\n${example}`,
    'See also [all errors](errors.md).',
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

/** @param {import('./pages.mjs').Pages} pages */
export const writeErrors = (pages) => {
  const path = 'docs/errors.md'
  const page = readFileSync(join(root, path), 'utf8')
  const source = readFileSync(join(root, 'src/errors.ts'), 'utf8')
  const rows = readRows(page)
  for (const row of rows.values())
    pages.pages.set(
      addressOfCode(row.code),
      pages.rewrite(pageOf(row, commentOf(source, row.name), exampleOf(page, row.name)), path),
    )
  const linked = page.replace(/^\| (?:`\w+` \| )?`[A-Z][A-Z_]+`[^|]*\|/gm, (cells) =>
    cells.replace(/`([A-Z][A-Z_]+)`/g, (whole, code) =>
      rows.has(code) ? `[${whole}](/${addressOfCode(code)})` : whole,
    ),
  )
  pages.pages.set('errors.md', pages.rewrite(linked, path))
  return [...rows.keys()]
}
