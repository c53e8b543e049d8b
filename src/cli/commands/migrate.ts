import { stat } from 'node:fs/promises'
import { plainJson, plainMessage, plainText } from '../../plain-text.js'
import { textOf } from '../../thrown.js'
import type { Page } from '../command.js'
import { check, type Finding } from '../migrate/check.js'
import { parse, UsageError } from '../usage-error.js'

const OPTIONS = {
  json: { type: 'boolean', default: false, help: 'one JSON object a line for each use' },
} as const

export const page: Page = {
  usage: ['migrate check DIR [--json]'],
  about:
    'Finds where the program in DIR uses redlock, redis-semaphore, node-redisson or async-mutex, and says what each name is called in holdfast. Reads .js, .ts, .jsx, .tsx, .mjs, .cjs, .mts and .cts files and package.json; skips node_modules, .git, symbolic links, and files longer than 1 MiB. Changes nothing.',
  options: OPTIONS,
  words: ['check'],
  files: true,
  more: `Examples:
  holdfast migrate check src
  holdfast migrate check . --json | jq -r .file | sort | uniq -c

The exit code is 0 if there is no such use, 1 if there is one, and 64 if the
command is wrong.
`,
}

export const run = async (args: readonly string[]): Promise<number> => {
  const { values, positionals } = parse({ args: [...args], allowPositionals: true, options: OPTIONS })
  const [word, folder, ...more] = positionals
  if (word !== 'check' || folder === undefined || more.length > 0) throw new UsageError('migrate check needs one DIR')
  await mustBeFolder(folder)
  const pages = new Set<string>()
  let found = 0
  for await (const finding of check(folder)) {
    found++
    if (finding.page !== undefined) pages.add(finding.page)
    process.stdout.write(values.json ? `${plainJson(finding, 0)}\n` : lineOf(finding))
  }
  if (!values.json) process.stdout.write(summary(found, pages))
  return found > 0 ? 1 : 0
}

const mustBeFolder = async (folder: string): Promise<void> => {
  const is = await stat(folder).catch((error: unknown) => {
    throw new UsageError(`cannot read ${folder}: ${textOf(error)}`)
  })
  if (!is.isDirectory()) throw new UsageError(`${folder} is not a folder`)
}

const lineOf = ({ file, line, package: library, name, ours }: Finding): string =>
  `${plainMessage(file)}:${line}  ${plainText(library)}: ${name === library ? 'import' : name}  →  ${ours}\n`

const summary = (found: number, pages: ReadonlySet<string>): string => {
  if (found === 0) return 'found no use of another lock library\n'
  const read = pages.size === 0 ? '' : `; what is different: ${[...pages].join(', ')}`
  return `\n${found} ${found === 1 ? 'use' : 'uses'}${read}\n`
}
