import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readJson, root, STAGED } from '../base/paths.js'

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>> }>>
}

export interface Footprint {
  readonly packages: number
  readonly bytes: number
}

const BLOCK = 4096
const onDisk = (bytes: number): number => Math.ceil(bytes / BLOCK) * BLOCK

/** What the files of an installed package take on disk; packages inside it are their own. */
const sizeOf = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + BLOCK + sizeOf(path)
    return sum + onDisk(statSync(path).size)
  }, 0)

/** Of the package at `path` ('' is the project) and all that it depends on, as the lock file has it installed. */
const closure = ({ packages }: LockFile, path: string, found = new Set<string>()): Set<string> => {
  for (const name of Object.keys(packages[path]?.dependencies ?? {})) {
    const places = [join(path, 'node_modules', name), join('node_modules', name)]
    const place = places.find((one) => packages[one] !== undefined)
    if (place === undefined || found.has(place)) continue
    found.add(place)
    closure({ packages }, place, found)
  }
  return found
}

const footprint = (project: string, roots: readonly string[]): Footprint => {
  const lock = readJson(join(project, 'package-lock.json')) as LockFile
  const all = new Set(roots.filter((path) => path !== ''))
  for (const path of roots) closure(lock, path, all)
  const bytes = [...all].reduce((sum, path) => sum + sizeOf(join(root, project, path)), 0)
  return { packages: all.size, bytes }
}

const sum = (...parts: readonly Footprint[]): Footprint => ({
  packages: parts.reduce((total, part) => total + part.packages, 0),
  bytes: parts.reduce((total, part) => total + part.bytes, 0),
})

/** What `npm install` of each puts into an empty project. */
export const ioredisAlone = (): Footprint => footprint('.', ['node_modules/ioredis'])

/** Its peer dependency is the same ioredis; packages that both need are counted once more, which npm would not do. */
export const redisSemaphore = (): Footprint =>
  sum(footprint('bench/peers', ['node_modules/redis-semaphore']), ioredisAlone())

export const holdfast = (): Footprint => {
  const { stdout } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: join(root, STAGED),
    encoding: 'utf8',
    shell: process.platform === 'win32',
  })
  const [pack] = JSON.parse(stdout) as { files: { size: number }[] }[]
  const own = pack!.files.reduce((total, { size }) => total + onDisk(size), 0)
  return sum({ packages: 1, bytes: own }, footprint('.', ['']))
}
