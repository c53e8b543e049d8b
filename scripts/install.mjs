#!/usr/bin/env node
// @ts-check
/** Installs the packages of package-lock.json, when they are not there yet. Runs on any Node, before anything is there. */
import { spawnSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isMain } from './is-main.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const OLDEST_NODE = [20, 19]

/** @param {string} file */
const readPackages = (file) => {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages
  } catch {
    return undefined
  }
}

const checkNode = () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const [oldMajor = 0, oldMinor = 0] = OLDEST_NODE
  if (major > oldMajor || (major === oldMajor && minor >= oldMinor)) return
  console.error(`holdfast needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}.`)
  process.exit(1)
}

/** npm notes in its hidden lock file what it has installed. Packages for other platforms are not in there. */
const isInstalled = () => {
  const wanted = readPackages('package-lock.json')
  const installed = readPackages('node_modules/.package-lock.json')
  if (!wanted || !installed) return false
  return Object.keys(wanted).every((path) => {
    if (path === '') return true
    if (!installed[path]) return wanted[path].optional === true
    return installed[path].version === wanted[path].version && installed[path].integrity === wanted[path].integrity
  })
}

/** Runs the npm that runs us, else the one on the PATH. @param {string[]} args @param {import('node:child_process').SpawnSyncOptions} [options] */
export const npm = (args, options) => {
  const self = process.env['npm_execpath']
  return self && /npm(-cli)?\.c?js$/.test(self)
    ? spawnSync(process.execPath, [self, ...args], { cwd: root, ...options })
    : spawnSync('npm', args, { cwd: root, shell: process.platform === 'win32', ...options })
}

/** Installs what a folder of its own asks for, which is no part of the project's packages. @param {string} folder @returns {boolean} whether it is there now */
export const installBeside = (folder) => {
  const installed = readPackages(join(folder, 'node_modules/.package-lock.json')) ?? {}
  const wanted = Object.entries(readPackages(join(folder, 'package-lock.json')) ?? {}).filter(([path]) => path !== '')
  const isThere = wanted.every(
    ([path, { version, optional }]) => installed[path]?.version === version || (optional && !installed[path]),
  )
  if (isThere && Object.keys(installed).length > 0) return true
  console.log(`Installing the packages of ${folder} …`)
  // npm ci refuses a lock file that lacks what is for other platforms, and registries may lack that.
  const options = ['--no-save', '--ignore-scripts', '--no-audit', '--no-fund']
  return npm(['install', ...options], { cwd: join(root, folder), stdio: 'inherit' }).status === 0
}

/** Puts the package as it was built into a folder, instead of what lies there. @param {string} folder */
export const copyBuild = (folder) => {
  const copy = join(root, folder)
  rmSync(copy, { recursive: true, force: true })
  for (const part of ['package.json', 'dist']) cpSync(join(root, part), join(copy, part), { recursive: true })
}

/** @returns {boolean} whether the packages are there now */
export const install = () => {
  checkNode()
  if (isInstalled()) return true
  console.log('Installing packages (npm ci) …')
  const { status, error } = npm(['ci', '--include=dev', '--no-audit', '--no-fund'], { stdio: 'inherit' })
  if (error) console.error(`npm could not be run: ${error.message}`)
  return status === 0
}

if (isMain(import.meta.url) && !install()) process.exitCode = 1
