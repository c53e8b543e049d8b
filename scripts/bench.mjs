#!/usr/bin/env node
// @ts-check
/** npm run bench -- [SCENARIO…] [--quick] [--rounds N], or guard: installs what is missing, builds, measures. */
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from './build.mjs'
import { installBeside } from './install.mjs'
import { STAGED, stage } from './stage.mjs'
import { ensureNewer } from './test/servers.mjs'

const root = join(import.meta.dirname, '..')
const peers = join(root, 'bench/peers')

/** Redisson is built with Maven; without Java the bench says that it is not installed. */
const buildRedisson = async () => {
  const built = pathToFileURL(join(root, '.build/test/suites/interop/support/build.js')).href
  const { NEWEST, buildDriver } = await import(built)
  try {
    await buildDriver(NEWEST)
  } catch (/** @type {any} */ error) {
    if (error.code !== 'NO_JAVA') throw error
    console.error(`${error.message}\nMeasuring without it.`)
  }
}

/** For Y. */
const unpackServers = () => {
  try {
    ensureNewer()
  } catch (/** @type {any} */ error) {
    console.error(`${error.message}\nMeasuring without them.`)
  }
}

/** Each a module of its own: where one cannot be fetched, the other one still can. */
const GO_LIBRARIES = ['redsync', 'rueidislock']

/** go build fetches what it needs, and does nothing where nothing has changed. */
const buildGo = () => {
  for (const library of GO_LIBRARIES) {
    const cwd = join(peers, 'go', library)
    const { status, error } = spawnSync('go', ['build', '-o', `../target/${library}`, '.'], { cwd, stdio: 'inherit' })
    if (status === 0) continue
    console.error(error ? 'There is no Go: measuring without its libraries.' : `Measuring without ${library}.`)
    if (error) return
  }
}

/** The guard compares with nobody who would have to be installed. */
const guards = process.argv[2] === 'guard'
// Without them the bench runs all the same, and says so.
for (const folder of guards ? [] : ['bench/peers', 'test/suites/connections/packages'])
  if (!installBeside(folder)) console.error(`What ${folder} asks for could not be installed: measuring without it.`)
if (!(await build({ tests: true }))) process.exit(1)
await stage(STAGED)
if (!guards) {
  unpackServers()
  await buildRedisson()
  buildGo()
}
const { status } = spawnSync(process.execPath, [join(root, '.build/bench/main.js'), ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exit(status ?? 1)
