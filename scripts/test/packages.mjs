// @ts-check
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { call, Skip } from './parts.mjs'

/** @param {string} program */
export const onPath = (program) =>
  (process.env['PATH'] ?? '').split(delimiter).some((folder) => isProgram(join(folder, program)))

/** @param {string} file */
export const isProgram = (file) => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

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

export const mayInstall = () => (isRoot() && inContainer()) || isSet('CI') || isSet('HOLDFAST_INSTALL')

/** @param {string} command @param {boolean} [asUser] */
const line = (command, asUser = false) => (asUser || isRoot() ? command : `sudo sh -c '${command}'`)

/** @param {string} command as `line` gives it */
export const install = (command) => {
  const unattended = command.replace(/^sudo /, 'sudo -n ')
  call('sh', ['-c', unattended], { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive', RUNLEVEL: '1' } })
}

/**
 * A server that tests need and the system's package manager has.
 *
 * @typedef {object} Wanted
 * @property {string} missing what is said when it is not there; begins with `no` and its name, see `Skip`
 * @property {string} please what a person would install
 * @property {() => boolean} isThere
 * @property {readonly (readonly [manager: string, command: string])[]} managers
 */

/** Makes sure that it is there, if this machine may be changed. @param {Wanted} wanted */
export const ensure = ({ missing, please, isThere, managers }) => {
  if (isThere()) return
  const manager = managers.find(([name]) => onPath(name))
  if (!manager) throw new Skip(`${missing}; please install ${please}`)
  const command = line(manager[1], manager[0] === 'brew')
  if (!mayInstall()) throw new Skip(`${missing}; this line installs it: ${command}`)
  console.log(command)
  try {
    install(command)
  } catch (error) {
    throw new Skip(`${missing}, and it could not be installed: ${error instanceof Error ? error.message : error}`)
  }
  if (!isThere()) throw new Skip(`${missing}, even after: ${command}`)
}

/** Where it cannot be had the tests say so, and do without. @param {string} program @param {string} command */
export const tryInstall = (program, command) => {
  if (onPath(program) || !onPath('apt-get') || !mayInstall()) return
  try {
    install(line(command))
  } catch (error) {
    console.log(`no ${program}: ${error instanceof Error ? error.message : error}`)
  }
}
