#!/usr/bin/env node
// @ts-check
/**
 * What is published, laid out in a folder: the same modules as in dist/, but in a few files instead of hundreds. A first
 * connection reads 140 of those, and that takes longer than to run them. Tests and mutants run the single ones.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { isMain } from './is-main.mjs'

const root = join(import.meta.dirname, '..')
export const STAGED = join(root, 'node_modules/.cache/holdfast/package')
/** Started by its name, as a process of its own. */
const PROGRAMS = ['dist/cli/demo/doomed.js']

/** What one declaration imports of others. */
const IMPORTED = /(?<=(?:from|import)\s*\(?\s*['"])\.{1,2}\/[^'"]+\.js(?=['"])/g

/** The declarations that an import of one of these can lead to. @param {string[]} entries @returns {Map<string, string>} */
const declarationsOf = (entries) => {
  const found = new Map()
  const rest = entries.map((entry) => entry.replace(/\.js$/, '.d.ts'))
  for (const path of rest) {
    const name = posix.normalize(path)
    if (found.has(name) || !existsSync(join(root, name))) continue
    const text = readFileSync(join(root, name), 'utf8')
    found.set(name, text)
    for (const [specifier] of text.matchAll(IMPORTED))
      rest.push(posix.join(posix.dirname(name), specifier.replace(/\.js$/, '.d.ts')))
  }
  return found
}

/**
 * Node's own `require` takes the modules that `import` takes (`module-sync`), so that there is one copy in a process. What
 * cannot load those, as Jest, has a copy in CommonJS; and TypeScript the declarations of one.
 * @param {{ types: string, default: string }} entry
 */
const bothWays = ({ types, default: module }) => ({
  import: { types, default: module },
  'module-sync': module,
  require: { types: types.replace(/ts$/, 'cts'), default: module.replace(/js$/, 'cjs') },
  default: module,
})

/** @satisfies {import('esbuild').BuildOptions} */
const COMMON = { bundle: true, packages: 'external', platform: 'node', target: 'node20', logLevel: 'warning' }

/** @param {string} folder made anew */
export const stage = async (folder) => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { files, exports, bin } = manifest
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const isStaged = (/** @type {string} */ path) =>
    !/node_modules/.test(path.slice(root.length)) &&
    !(path.startsWith(join(root, 'dist')) && /\.(js|cjs|d\.ts|tsbuildinfo)$/.test(path))
  // What those who install it have no use for.
  for (const part of ['scripts', 'devDependencies']) delete manifest[part]
  const modules = Object.entries(exports).filter(([, entry]) => typeof entry === 'object')
  for (const [name, entry] of modules) manifest.exports[name] = bothWays(entry)
  manifest.main = './dist/index.cjs'
  // For compilers that do not read `exports` (`node10`).
  manifest.typesVersions = {
    '*': Object.fromEntries(modules.slice(1).map(([name, { types }]) => [name.slice(2), [types]])),
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  for (const name of ['README.md', ...files]) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: isStaged })
  }
  const entries = Object.values(exports).flatMap((/** @type {{ default?: string }} */ entry) => entry.default ?? [])
  for (const [path, text] of declarationsOf(entries)) {
    const at = join(folder, path)
    mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, text)
    writeFileSync(
      at.replace(/ts$/, 'cts'),
      text.replace(IMPORTED, (specifier) => specifier.replace(/js$/, 'cjs')),
    )
  }
  // Whoever runs the scripts of a new clone reads this module before the packages are there.
  const { build } = await import('esbuild')
  await build({
    absWorkingDir: root,
    ...COMMON,
    entryPoints: [...entries, ...Object.values(bin), ...PROGRAMS],
    outbase: 'dist',
    outdir: join(folder, 'dist'),
    chunkNames: 'shared/[name]-[hash]',
    splitting: true,
    format: 'esm',
  })
  // All entries of CommonJS are one file, so that they share what there is once in a process.
  await build({
    absWorkingDir: root,
    ...COMMON,
    stdin: {
      contents: entries.map((entry, i) => `export * as entry${i} from ${JSON.stringify(entry)}`).join('\n'),
      resolveDir: root,
    },
    outfile: join(folder, 'dist/shared/all.cjs'),
    format: 'cjs',
  })
  for (const [i, entry] of entries.entries()) {
    const path = join(folder, entry.replace(/js$/, 'cjs'))
    const all = posix.relative(posix.dirname(posix.normalize(entry)), 'dist/shared/all.cjs')
    const names = Object.keys(await import(join(root, entry)))
    // Named one by one, for `import { connect }` of a CommonJS module to find them.
    const exported = names.map((name) => `exports.${name} = all.${name}`).join('\n')
    const start = all.startsWith('.') ? all : `./${all}`
    writeFileSync(path, `'use strict'\nconst all = require('${start}').entry${i}\n${exported}\n`)
  }
}

if (isMain(import.meta.url)) await stage(STAGED)
