// @ts-check
/** Servers newer than the system's: a later Debian's packages, unpacked beside it with the libraries that they are built for. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { mayInstall, onPath } from './packages.mjs'
import { root, Skip } from './parts.mjs'

const FOLDER = join(root, 'node_modules/.cache/holdfast/servers')
const RELEASE = 'trixie'
const PROGRAMS = { 'valkey-server': 'valkey-check-rdb', 'redis-server': 'redis-check-rdb' }
const PACKAGES = [
  ...['valkey-tools', 'redis-tools', 'libc6', 'libatomic1', 'libjemalloc2', 'liblzf1', 'libssl3t64', 'libstdc++6'],
  ...['libsystemd0', 'libgcc-s1', 'libcap2', 'liblzma5', 'libzstd1', 'zlib1g'],
]

/** @param {string} program @param {string[]} args @param {string} [cwd] */
const output = (program, args, cwd) => {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: 'utf8' })
  if (status !== 0) throw new Error(`${program} ${args[0]}: ${error?.message ?? stderr.trim()}`)
  return stdout
}

/** Where this system's own packages come from. */
const mirror = () => {
  const uris = output('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Origin: Debian']).split('\n')
  const uri = uris.find((one) => /\/debian\/?$/.test(one))
  if (uri === undefined) throw new Error('this is no Debian, or apt-get update has not been run')
  return uri
}

/** With lists and a cache of its own, so that the system's stay as they are. @param {string} folder @param {string[]} args */
const apt = (folder, ...args) =>
  output(
    'apt-get',
    [
      ...[
        `Dir::Etc::sourcelist=${folder}/sources.list`,
        'Dir::Etc::sourceparts=/dev/null',
        `Dir::State::lists=${folder}/lists`,
      ],
      ...[`Dir::Cache=${folder}/cache`, 'APT::Sandbox::User=root', 'Acquire::Languages=none'],
      'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    ]
      .flatMap((option) => ['-o', option])
      .concat(args),
    folder,
  )

/** @param {string} folder */
const unpack = (folder) => {
  mkdirSync(join(folder, 'lists/partial'), { recursive: true })
  mkdirSync(join(folder, 'cache/archives/partial'), { recursive: true })
  writeFileSync(join(folder, 'sources.list'), `deb ${mirror()} ${RELEASE} main\n`)
  apt(folder, 'update')
  apt(folder, 'download', ...PACKAGES)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.deb')))
    output('dpkg-deb', ['-x', file, 'root'], folder)
  for (const scrap of ['lists', 'cache']) rmSync(join(folder, scrap), { recursive: true })
}

/** One for each server: run by its own loader, with its own libraries. @param {string} folder */
const writePrograms = (folder) => {
  const libraries = readdirSync(join(folder, 'root/usr/lib')).find((name) => name.endsWith('-linux-gnu')) ?? ''
  const loader = readdirSync(join(folder, 'root/usr/lib', libraries)).find((name) => name.startsWith('ld-linux')) ?? ''
  for (const [name, program] of Object.entries(PROGRAMS)) {
    // What it does goes by the name that it is called by.
    symlinkSync(program, join(folder, 'root/usr/bin', name))
    const own = '"$(dirname "$0")/root/usr'
    const line = `exec ${own}/lib/${libraries}/${loader}" --library-path ${own}/lib/${libraries}" ${own}/bin/${name}" "$@"`
    writeFileSync(join(folder, name), `#!/bin/sh\n${line}\n`)
    chmodSync(join(folder, name), 0o755)
  }
}

/** Makes sure that they are there, if this machine may be changed. */
export const ensureNewer = () => {
  if (existsSync(FOLDER)) return
  if (!onPath('apt-get') || !onPath('dpkg-deb'))
    throw new Skip('no newer servers: no apt-get and dpkg-deb to unpack them')
  if (!mayInstall()) throw new Skip('no newer servers; HOLDFAST_INSTALL=1 unpacks Debian’s into node_modules/.cache')
  const folder = `${FOLDER}-${process.pid}`
  try {
    unpack(folder)
    writePrograms(folder)
    renameSync(folder, FOLDER)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    throw new Skip(`no newer servers: ${error instanceof Error ? error.message : error}`)
  }
}
