#!/usr/bin/env node
// @ts-check
/** The public types, without comments, as one text: `--write` keeps it in test/tools/api-report.txt, so that a change of them is seen. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'
import { declarationsOf } from './stage.mjs'

const root = join(import.meta.dirname, '..')
export const REPORT = join(root, 'test/tools/api-report.txt')

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

if (isMain(import.meta.url)) {
  if (process.argv.includes('--write')) writeFileSync(REPORT, await apiReport())
  else process.stdout.write(await apiReport())
}
