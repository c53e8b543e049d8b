#!/usr/bin/env node
// @ts-check
/**
 * What is published, laid out in a folder: the same modules as in dist/, but in a few files instead of hundreds. A first
 * connection reads 140 of those, and that takes longer than to run them. Tests and mutants run the single ones.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { buildBrowser } from './build-browser.mjs'
import { isMain } from './is-main.mjs'

const root = join(import.meta.dirname, '..')
export const STAGED = join(root, 'node_modules/.cache/holdfast/package')
/** Started by its name, as a process of its own. */
const PROGRAMS = ['dist/cli/demo/doomed.js', 'dist/cli/run/guardian.js', 'dist/thread/renewal-thread.js']

/** Entries that import a framework: in CommonJS, each is a file of its own, since what all share must load without one. */
const WITH_FRAMEWORK = ['./dist/nest/index.js']

/** @param {string[]} entries */
const shared = (entries) => entries.filter((entry) => !WITH_FRAMEWORK.includes(entry))

/** Pages for people who have the repository at hand: what they prove can be run there only. */
const REPOSITORY_ONLY = [
  'benchmarks',
  'benchmarks.md',
  'conformance.md',
  'contributing',
  'how-it-works',
  'performance.md',
  'playground.md',
  'support.md',
].map((path) => join(root, 'docs', path))

/** What one declaration imports of others. */
const IMPORTED = /(?<=(?:from|import)\s*\(?\s*['"])\.{1,2}\/[^'"]+\.js(?=['"])/g

/** The declarations that an import of one of these can lead to. @param {string[]} entries @returns {Map<string, string>} */
export const declarationsOf = (entries) => {
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
 * @param {{ types: string, default: string, browser?: string }} entry
 */
const bothWays = ({ types, default: module, browser }) => ({
  // Only for `import`: Jest takes this condition in CommonJS, too.
  ...(browser === undefined ? {} : { browser: { import: { types, default: browser } } }),
  import: { types, default: module },
  'module-sync': module,
  require: { types: types.replace(/ts$/, 'cts'), default: module.replace(/js$/, 'cjs') },
  default: module,
})

/** `import()` of a package, as esbuild writes it with `require`. */
const OPTIONAL = /Promise\.resolve\(\)\.then\(\(\)\s*=>\s*(__toESM\(require\("[a-z]+"\),\s*1\))\)/g
/** A package that only one entry needs. The entries share one file, so it is loaded when it is used. */
const PEER = /require\(("@opentelemetry\/api"|"prom-client")\)/g
/** @satisfies {import('esbuild').BuildOptions} Without blanks. Names and lines stay, for stack traces. */
const COMMON = {
  bundle: true,
  packages: 'external',
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  minifyWhitespace: true,
  minifySyntax: true,
  lineLimit: 120,
}

/** @param {string} folder @param {string} path @param {string} text */
const put = (folder, path, text) => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/** package.json as it is published. What the modules import is in the bundles already, but not the programs, which are found by name. @param {any} manifest */
const published = ({ scripts: _, devDependencies: __, imports: ___, ...manifest }) => {
  const modules = Object.entries(manifest.exports).filter(([, entry]) => typeof entry === 'object')
  return {
    ...manifest,
    imports: Object.fromEntries(PROGRAMS.map((file) => [file.replace('dist/', '#src/'), `./${file}`])),
    exports: { ...manifest.exports, ...Object.fromEntries(modules.map(([name, entry]) => [name, bothWays(entry)])) },
    main: './dist/index.cjs',
    // For compilers that do not read `exports` (`node10`).
    typesVersions: { '*': Object.fromEntries(modules.slice(1).map(([name, { types }]) => [name.slice(2), [types]])) },
  }
}

/** What is published as it stands. @param {string} folder @param {readonly string[]} names */
const copyFiles = (folder, names) => {
  const isStaged = (/** @type {string} */ path) =>
    !/node_modules/.test(path.slice(root.length)) &&
    !REPOSITORY_ONLY.includes(path) &&
    !(path.startsWith(join(root, 'dist')) && /\.(js|cjs|d\.ts|tsbuildinfo)$/.test(path))
  for (const name of names) cpSync(join(root, name), join(folder, name), { recursive: true, filter: isStaged })
}

/** @param {string} folder @param {string[]} entries */
const writeDeclarations = (folder, entries) => {
  for (const [path, text] of declarationsOf(entries)) {
    const forRequire = text.replace(IMPORTED, (specifier) => specifier.replace(/js$/, 'cjs'))
    put(folder, path, text)
    put(folder, path.replace(/ts$/, 'cts'), forRequire)
  }
}

/** `connect` is that of the package itself, so that there is one. @type {import('esbuild').Plugin} */
const OWN_CONNECT = {
  name: 'own-connect',
  setup: ({ onResolve }) => {
    onResolve({ filter: /\/connect\.js$/ }, () => ({ path: '../index.cjs', external: true }))
  },
}

/** @param {string} folder @param {string} entry */
const bundleAlone = async (folder, entry) => {
  const { build } = await import('esbuild')
  const outfile = join(folder, entry.replace(/js$/, 'cjs'))
  const own = { entryPoints: [entry], outfile, plugins: [OWN_CONNECT], supported: { 'dynamic-import': false } }
  await build({ absWorkingDir: root, ...COMMON, format: 'cjs', ...own })
}

/** @param {string} folder @param {string[]} entries @param {string[]} programs */
const bundleModules = async (folder, entries, programs) => {
  // Whoever runs the scripts of a new clone reads this module before the packages are there.
  const { build } = await import('esbuild')
  await build({
    absWorkingDir: root,
    ...COMMON,
    entryPoints: [...entries, ...programs],
    outbase: 'dist',
    outdir: join(folder, 'dist'),
    chunkNames: 'shared/[name]-[hash]',
    splitting: true,
    format: 'esm',
  })
  // All entries of CommonJS are one file, so that they share what there is once in a process.
  const all = join(folder, 'dist/shared/all.cjs')
  await build({
    absWorkingDir: root,
    ...COMMON,
    stdin: {
      contents: shared(entries)
        .map((entry, i) => `export * as entry${i} from ${JSON.stringify(entry)}`)
        .join('\n'),
      resolveDir: root,
    },
    outfile: all,
    format: 'cjs',
    // The renewal thread is a file of its own, found from here.
    define: { 'import.meta.url': 'moduleUrl' },
    banner: { js: "const moduleUrl = require('node:url').pathToFileURL(__filename).href" },
    // Jest refuses `import()` in CommonJS: `require` in its place.
    supported: { 'dynamic-import': false },
  })
  // Bundlers forgive a missing optional package only where \`try\` surrounds its \`require\`.
  const text = readFileSync(all, 'utf8')
    .replace(OPTIONAL, '(async () => { try { return $1 } catch (error) { throw error } })()')
    .replace(PEER, 'new Proxy({}, { get(_, key) { try { return require($1)[key] } catch (error) { throw error } } })')
  writeFileSync(all, text)
}

/** What `require` loads: each entry is a part of the one file. @param {string} folder @param {string[]} entries */
const writeEntries = async (folder, entries) => {
  for (const [i, entry] of shared(entries).entries()) {
    const all = posix.relative(posix.dirname(posix.normalize(entry)), 'dist/shared/all.cjs')
    const names = Object.keys(await import(join(root, entry)))
    // Named one by one, for `import { connect }` of a CommonJS module to find them.
    const exported = names.map((name) => `exports.${name} = all.${name}`).join('\n')
    const start = all.startsWith('.') ? all : `./${all}`
    const marked = names.includes('default') ? "Object.defineProperty(exports, '__esModule', { value: true })\n" : ''
    put(
      folder,
      entry.replace(/js$/, 'cjs'),
      `'use strict'\n${marked}const all = require('${start}').entry${i}\n${exported}\n`,
    )
  }
}

/** @param {string} folder made anew */
export const stage = async (folder) => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { files, exports, bin } = manifest
  const entries = Object.values(exports).flatMap((/** @type {{ default?: string }} */ entry) => entry.default ?? [])
  rmSync(folder, { recursive: true, force: true })
  put(folder, 'package.json', `${JSON.stringify(published(manifest), undefined, 2)}\n`)
  copyFiles(folder, ['README.md', ...files])
  writeDeclarations(folder, entries)
  for (const { browser } of Object.values(exports)) if (browser !== undefined) await buildBrowser(join(folder, browser))
  await bundleModules(folder, entries, [...Object.values(bin), ...PROGRAMS])
  await writeEntries(folder, entries)
  for (const entry of entries.filter((one) => WITH_FRAMEWORK.includes(one))) await bundleAlone(folder, entry)
}

if (isMain(import.meta.url)) await stage(STAGED)
