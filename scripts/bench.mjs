#!/usr/bin/env node
// @ts-check
/** npm run bench -- [SCENARIO…] [--quick] [--rounds N]: installs what is missing, builds, measures. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './build.mjs'
import { install, npm } from './install.mjs'

const root = join(import.meta.dirname, '..')
const peers = join(root, 'bench/peers')

/** @param {string} file */
const packagesOf = (file) => {
  try {
    return JSON.parse(readFileSync(join(peers, file), 'utf8')).packages
  } catch {
    return {}
  }
}

/** Without them the bench runs all the same, and says so. */
const installPeers = () => {
  const installed = packagesOf('node_modules/.package-lock.json')
  const wanted = Object.entries(packagesOf('package-lock.json')).filter(([path]) => path !== '')
  if (wanted.every(([path, { version }]) => installed[path]?.version === version)) return
  console.log('Installing the peers (bench/peers) …')
  const { status } = npm(['ci', '--no-audit', '--no-fund'], { cwd: peers, stdio: 'inherit' })
  if (status !== 0) console.error('The peers could not be installed: measuring without them.')
}

/** Redisson is built with Maven; without Java the bench says that it is not installed. */
const buildRedisson = async () => {
  const built = pathToFileURL(join(root, '.build/test/interop/support/build.js')).href
  const { NEWEST, buildDriver } = await import(built)
  try {
    await buildDriver(NEWEST)
  } catch (/** @type {any} */ error) {
    if (error.code !== 'NO_JAVA') throw error
    console.error(`${error.message}\nMeasuring without it.`)
  }
}

if (!install()) process.exit(1)
installPeers()
if (!(await build({ tests: true }))) process.exit(1)
await buildRedisson()
const { status } = spawnSync(process.execPath, [join(root, '.build/bench/main.js'), ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
