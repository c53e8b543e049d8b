// @ts-check
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { call, Skip } from './parts.mjs'

/** How each package manager installs a server. */
const MANAGERS = /** @type {const} */ ([
  ['apt-get', 'apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server'],
  ['apk', 'apk add --no-cache redis'],
  ['dnf', 'dnf install -y redis || dnf install -y valkey'],
  ['brew', 'brew install redis'],
])

/** @param {string} program */
const onPath = (program) =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })

const isRoot = () => process.getuid?.() === 0

const inContainer = () => {
  if (existsSync('/.dockerenv') || existsSync('/run/.containerenv') || process.env['container']) return true
  try {
    return /docker|kubepods|containerd|lxc/.test(readFileSync('/proc/1/cgroup', 'utf8'))
  } catch {
    return false
  }
}

/** @param {string} name */
const isSet = (name) => !['', '0', 'false'].includes(process.env[name] ?? '')

const mayInstall = () => (isRoot() && inContainer()) || isSet('CI') || isSet('HOLDFAST_INSTALL')

/** Makes sure that the tests find a Redis server, if this machine may be changed. */
export const ensureRedis = () => {
  if (onPath('redis-server')) return
  const manager = MANAGERS.find(([name]) => onPath(name))
  if (!manager) throw new Skip('no redis-server on the PATH; please install Redis or Valkey')
  const [name, command] = manager
  const line = name === 'brew' || isRoot() ? command : `sudo sh -c '${command}'`
  if (!mayInstall()) throw new Skip(`no redis-server on the PATH; this line installs it: ${line}`)
  console.log(line)
  try {
    const unattended = line.replace(/^sudo /, 'sudo -n ')
    call('sh', ['-c', unattended], { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' } })
  } catch (error) {
    throw new Skip(
      `no redis-server on the PATH, and it could not be installed: ${error instanceof Error ? error.message : error}`,
    )
  }
  if (!onPath('redis-server')) throw new Skip(`no redis-server on the PATH, even after: ${line}`)
}

/** Lets tests step the wall clock of a process. Where it cannot be had they say so, and do without. */
export const tryFaketime = () => {
  if (onPath('faketime') || !onPath('apt-get') || !mayInstall()) return
  const line = 'apt-get install -y -qq --no-install-recommends faketime'
  try {
    call('sh', ['-c', isRoot() ? line : `sudo -n ${line}`], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch (error) {
    console.log(`no faketime: ${error instanceof Error ? error.message : error}`)
  }
}
