#!/usr/bin/env node
// @ts-check
/**
 * src/ → dist/ and man/, with dist/browser.js, with packages that are missing installed before. With --tests also test/, bench/ and examples/ → .build/.
 * Each step runs whatever became of the one before, so that all mistakes are seen at once.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { buildBrowser } from './build-browser.mjs'
import { buildLua } from './build-lua.mjs'
import { buildMan } from './build-man.mjs'
import { install } from './install.mjs'
import { isMain } from './is-main.mjs'

const root = join(import.meta.dirname, '..')
const VM = 'engine/memory/lua/vm.gen.js'
const PAGE = 'dashboard/assets.gen.js'
const OUTPUT = /\.[cm]?js(\.map)?$|\.d\.[cm]?ts$/
const SOURCES = ['.ts', '.mts', '.js', '.mjs']

/** Removes what an earlier build left of files that are no more. @param {string} out @param {string} source */
const removeStale = (out, source) => {
  if (!existsSync(out)) return
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !OUTPUT.test(entry.name)) continue
    const file = join(entry.parentPath, entry.name)
    const base = file.replace(OUTPUT, '').replace(out, source)
    if (!SOURCES.some((extension) => existsSync(base + extension))) rmSync(file)
  }
}

/** @param {string} project */
const compile = (project) => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-p', project], { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error(`tsc -p ${project} failed`)
}

const buildMemoryVm = async () => {
  const { buildVm } = await import('./build-vm.mjs')
  await buildVm(join(root, 'src', VM))
}

const buildPage = async () => {
  const { buildDashboard } = await import('./build-dashboard.mjs')
  await buildDashboard(root)
}

/** What is built as JavaScript. The compiler leaves it alone. @param {string} file */
const copy = (file) => {
  const to = join(root, 'dist', file)
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(join(root, 'src', file), to)
}

/** @param {{ tests?: boolean }} [options] @returns {Promise<boolean>} whether all went well */
export const build = async ({ tests = false } = {}) => {
  if (!install()) return false
  const steps = [
    () => buildLua(root),
    buildMemoryVm,
    buildPage,
    () => removeStale(join(root, 'dist'), join(root, 'src')),
    () => compile('tsconfig.json'),
    () => compile('src/dashboard/page/tsconfig.json'),
    () => [VM, PAGE].forEach(copy),
    () => buildBrowser(join(root, 'dist/browser.js')),
    () => chmodSync(join(root, 'dist/cli/main.js'), 0o755),
    () => buildMan(root),
    ...(tests ? [() => removeStale(join(root, '.build'), root), () => compile('tsconfig.test.json')] : []),
  ]
  let ok = true
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      console.error(error instanceof Error ? error.message : error)
      ok = false
    }
  }
  return ok
}

if (isMain(import.meta.url)) {
  const ok = await build({ tests: process.argv.includes('--tests') })
  if (!ok) process.exitCode = 1
}
