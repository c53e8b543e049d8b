#!/usr/bin/env node
// @ts-check
/**
 * What is published, laid out in a folder: the same modules as in dist/, but in a few files instead of hundreds. A first
 * connection reads 140 of those, and that takes longer than to run them. Tests and mutants run the single ones.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMain } from './is-main.mjs'

const root = join(import.meta.dirname, '..')
export const STAGED = join(root, 'node_modules/.cache/holdfast/package')
/** Started by its name, as a process of its own. */
const PROGRAMS = ['dist/cli/demo/doomed.js']

/** @param {string} folder made anew */
export const stage = async (folder) => {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const { files, exports, bin } = manifest
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const isStaged = (/** @type {string} */ path) =>
    !/node_modules/.test(path.slice(root.length)) &&
    !(path.startsWith(join(root, 'dist')) && /\.(js|tsbuildinfo)$/.test(path))
  // What those who install it have no use for.
  for (const part of ['scripts', 'devDependencies']) delete manifest[part]
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`)
  for (const name of ['README.md', ...files]) {
    cpSync(join(root, name), join(folder, name), { recursive: true, filter: isStaged })
  }
  const entries = Object.values(exports).flatMap((/** @type {{ default?: string }} */ entry) => entry.default ?? [])
  // Whoever runs the scripts of a new clone reads this module before the packages are there.
  const { build } = await import('esbuild')
  await build({
    absWorkingDir: root,
    entryPoints: [...entries, ...Object.values(bin), ...PROGRAMS],
    outbase: 'dist',
    outdir: join(folder, 'dist'),
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  })
}

if (isMain(import.meta.url)) await stage(STAGED)
