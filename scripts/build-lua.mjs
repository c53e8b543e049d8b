#!/usr/bin/env node
// @ts-check
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'
import { checkFragment, checkLength, checkNames } from './lua/check.mjs'
import { readConstants, unusedConstants, valueOf } from './lua/constants.mjs'
import { kindOf, withFunctions } from './lua/functions.mjs'
import { parseHeader } from './lua/header.mjs'
import { parseReply } from './lua/reply-type.mjs'
import { minify } from './lua/tokens.mjs'

/**
 * @typedef {import('./lua/header.mjs').Slot} Slot
 * @typedef {import('./lua/constants.mjs').Constants} Constants
 */

/**
 * A file of scripts, and the folders that they come from, each with what its names begin with.
 * @typedef {{ outfile: string, folders: Readonly<Record<string, string>>, fragments: string, constants?: string, values: string, script: string,
 *   shape: string }} Output
 */

/** @type {Output} */
export const LIBRARY = {
  outfile: 'src/lua/scripts.gen.ts',
  folders: { 'src/sync': '', 'src/core': 'core/' },
  fragments: 'src/lua/fragments',
  constants: 'src/script-times-and-limits.ts',
  values: './values.js',
  script: './script.js',
  shape: './reply-shape.js',
}
/** Those of the simulator's Redisson: no program that uses the library loads them. @type {Output} */
export const REDISSON = {
  outfile: 'src/testing/simulation/redisson/scripts.gen.ts',
  folders: { 'src/testing/simulation/redisson': 'redisson/' },
  fragments: 'src/testing/simulation/redisson/fragments',
  values: '../../../lua/values.js',
  script: '../../../lua/script.js',
  shape: '../../../lua/reply-shape.js',
}
/** Of `src/lua/reply-shape.ts`. */
const SHAPES = ['digits', 'either', 'integer', 'just', 'list', 'many', 'nil', 'oneFor', 'pairs', 'text', 'tuple']

/** @param {string} folder */
const luaFiles = (folder) =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.lua'))
        .map((file) => file.replaceAll('\\', '/'))
        .sort()
    : []

/** @param {string} words such as `lock/force-release` */
const camelCase = (words) => words.replace(/[-/](\w)/g, (_, letter) => letter.toUpperCase())

/** @param {string} text */
const quoted = (text) => {
  const quote = text.split("'").length > text.split('"').length ? '"' : "'"
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')
  return quote + escaped.replaceAll(quote, `\\${quote}`) + quote
}

/** @param {Slot[]} slots */
const tupleType = (slots) => {
  const items = slots.map(({ name, rest, type }) => (rest ? `...${name}: ${type}[]` : `${name}: ${type}`))
  return `readonly [${items.join(', ')}]`
}

/**
 * @typedef {{ name: string, header: import('./lua/header.mjs').Header, minified: string, names: readonly string[] }} Compiled a script, and the
 *   fragments that its functions are from
 * @typedef {ReadonlyMap<string, { constant: string, minified: string }>} Shared fragments that several scripts have, by their names
 */

/**
 * @param {string} name such as `lock/acquire`
 * @param {string} text
 * @param {ReadonlyMap<string, string>} fragments
 * @param {Constants} constants
 * @returns {Compiled}
 */
const compile = (name, text, fragments, constants) => {
  const header = parseHeader(text)
  checkNames(text, header)
  const { text: expanded, names } = withFunctions(kindOf(name), header.body, fragments)
  checkLength(header.body, expanded)
  return { name, header, minified: minify(expanded, valueOf(constants)), names }
}

/** The text of a script, with the constants of its shared functions. @param {Compiled} script @param {Shared} shared */
const textOf = ({ minified, names }, shared) => {
  const parts = names
    .flatMap((name) => shared.get(name) ?? [])
    .map((part) => ({ ...part, at: minified.indexOf(part.minified) }))
    .filter(({ at }) => at >= 0)
    .sort((one, other) => one.at - other.at)
  let end = 0
  const pieces = parts.flatMap(({ constant, minified: part, at }) => {
    const between = minified.slice(end, at)
    end = at + part.length
    return between === '' ? [constant] : [quoted(between), constant]
  })
  return [...pieces, quoted(minified.slice(end))].join(' +\n    ')
}

/** The lines that declare a script. @param {Compiled} script @param {Shared} shared */
const declare = (script, shared) => {
  const { name, header, minified } = script
  const sha = createHash('sha1').update(minified).digest('hex')
  const keys = header.KEYS.filter((slot) => !slot.rest).length
  const reply = parseReply(header.returns, header.ARGV)
  return `/**
${[...header.purpose, `Returns ${header.returns}`].map((line) => ` * ${line}`.trimEnd()).join('\n')}
 */
export const ${camelCase(name)}: Script<
  ${tupleType(header.KEYS)},
  ${tupleType(header.ARGV)},
  ${reply.type}
> = script(
  '${name}',
  '${sha}',
  ${textOf(script, shared)},
  ${keys},
  ${reply.shape},
)
`
}

/**
 * One script as the lines that declare it.
 * @param {string} name such as `lock/acquire`
 * @param {string} text
 * @param {ReadonlyMap<string, string>} fragments
 * @param {Constants} constants
 */
export const declareScript = (name, text, fragments, constants = {}) =>
  declare(compile(name, text, fragments, constants), new Map())

/** The fragments that several scripts have. @param {readonly Compiled[]} scripts @param {ReadonlyMap<string, string>} fragments @param {Constants} constants @returns {Shared} */
const sharedBy = (scripts, fragments, constants) =>
  new Map(
    [...fragments]
      .filter(([name]) => scripts.filter(({ names }) => names.includes(name)).length > 1)
      .map(([name, text]) => [
        name,
        { constant: `${camelCase(name)}Text`, minified: minify(text, valueOf(constants)) },
      ]),
  )

/** @template T @param {string[]} problems @param {string} file @param {() => T} work @returns {T | undefined} */
const attempt = (problems, file, work) => {
  try {
    return work()
  } catch (error) {
    problems.push(`${file}: ${error instanceof Error ? error.message : error}`)
    return undefined
  }
}

/** @param {string} root @param {string} folder @param {string[]} problems */
const readFragments = (root, folder, problems) => {
  /** @type {Map<string, string>} */
  const fragments = new Map()
  for (const file of luaFiles(join(root, folder))) {
    const text = readFileSync(join(root, folder, file), 'utf8')
    attempt(problems, `${folder}/${file}`, () => checkFragment(text, file.slice(0, -4)))
    fragments.set(file.slice(0, -4), text)
  }
  return fragments
}

/** @param {string} root @param {Output['folders']} folders */
const readScripts = (root, folders) =>
  Object.entries(folders).flatMap(([folder, prefix]) =>
    luaFiles(join(root, folder))
      .filter((file) => !file.startsWith('fragments/'))
      .map((file) => ({
        file: `${folder}/${file}`,
        name: `${prefix}${file.slice(0, -4)}`,
        text: readFileSync(join(root, folder, file), 'utf8'),
      })),
  )

/** The text of the constants. @param {string} root @param {Output} output */
const constantsOf = (root, { constants: file }) => (file === undefined ? '' : readFileSync(join(root, file), 'utf8'))

/**
 * What a file of scripts must hold. Throws all mistakes of all files at once.
 * @param {string} root
 * @param {Output} output
 */
export const generate = (root, output = LIBRARY, constants = constantsOf(root, output)) => {
  const { folders, fragments: parts, values, script, shape } = output
  /** @type {string[]} */
  const problems = []
  const fragments = readFragments(root, parts, problems)
  const scripts = readScripts(root, folders)
  const known = readConstants(constants)
  const compiled = scripts.flatMap(
    ({ file, name, text }) => attempt(problems, file, () => compile(name, text, fragments, known)) ?? [],
  )
  const names = scripts.map(({ name }) => camelCase(name))
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) problems.push(`two files would both be '${twice}'`)
  const unused = unusedConstants(constants, [...fragments.values(), ...scripts.map(({ text }) => text)])
  for (const name of unused) problems.push(`no .lua file uses the constant ${name}`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const shared = sharedBy(compiled, fragments, known)
  const declared = compiled.map((each) => declare(each, shared))
  const functions = [...shared.values()].map(({ constant, minified }) => `const ${constant} = ${quoted(minified)}\n`)
  const body = [...functions, ...declared].join('\n')
  const types = ['Arg', 'Reply'].filter((type) => new RegExp(`\\b${type}\\b(?=\\[)`).test(body))
  const imports = types.length > 0 ? `import type { ${types.join(', ')} } from '${values}'\n` : ''
  const shapes = SHAPES.filter((part) => new RegExp(`^ {2}(?:.*\\W)?${part}\\b.*,\\n\\)$`, 'm').test(body))
  return `// Generated by scripts/build-lua.mjs from the .lua files: do not edit.
${imports}import { ${declared.length > 0 ? 'type Script, script' : 'script'} } from '${script}'
${shapes.length > 0 ? `import { ${shapes.join(', ')} } from '${shape}'\n` : ''}
${body}`
}

/** Writes the files of scripts that change. @param {string} root */
export const buildLua = (root) => {
  for (const output of [LIBRARY, REDISSON]) {
    const outfile = join(root, output.outfile)
    const text = generate(root, output)
    if (existsSync(outfile) && readFileSync(outfile, 'utf8') === text) continue
    const draft = `${outfile}.${process.pid}`
    writeFileSync(draft, text)
    renameSync(draft, outfile)
  }
}

if (isMain(import.meta.url)) {
  try {
    buildLua(join(import.meta.dirname, '..'))
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
