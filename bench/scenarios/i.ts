import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Bench, Measured, Scenario } from '../measure/bench.js'
import { type Footprint, holdfast, ioredisAlone, redisSemaphore } from '../measure/installed-size.js'
import { versionOf } from '../base/paths.js'
import { type Row, findRow, format, target } from '../base/result.js'
import { median } from '../base/stats.js'

const COLD = fileURLToPath(new URL('../processes/cold.js', import.meta.url))
/** What importing it took on the machine for which the target of the first connection was set, ms: others are slower or faster. */
const IOREDIS = 64

interface Candidate {
  readonly name: string
  readonly folder: string
  readonly footprint: () => Footprint
}

const CANDIDATES: readonly Candidate[] = [
  { name: 'holdfast', folder: '.', footprint: holdfast },
  { name: 'ioredis', folder: 'node_modules/ioredis', footprint: ioredisAlone },
  { name: 'redis-semaphore', folder: 'bench/peers/node_modules/redis-semaphore', footprint: redisSemaphore },
]

interface Times {
  readonly load: number
  readonly connect: number
}

const start = (...args: string[]): Times => {
  const { stdout, stderr } = spawnSync(process.execPath, [COLD, ...args], { encoding: 'utf8', timeout: 30_000 })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Times
}

const measure = (bench: Bench): Row[] => {
  const there = CANDIDATES.filter(({ folder }) => versionOf(folder) !== undefined)
  const times = new Map<Candidate, Times[]>(there.map((candidate) => [candidate, []]))
  const url = bench.server?.redis.url
  for (let time = 0; time < bench.rounds; time++) {
    for (const [candidate, seen] of times) seen.push(start(candidate.name, ...(url === undefined ? [] : [url])))
  }
  return [...times].map(([{ name, folder, footprint }, seen]) => {
    const { packages, bytes } = footprint()
    const rounds = { import: seen.map(({ load }) => load), ...(url && { connect: seen.map(({ connect }) => connect) }) }
    const medians = Object.fromEntries(Object.entries(rounds).map(([key, values]) => [key, median(values)]))
    const range = { slowest: Math.max(...rounds.import), size: bytes / 1e6, packages }
    return {
      participant: name,
      family: name,
      version: versionOf(folder) ?? '',
      cells: { ...medians, ...range },
      rounds,
    }
  })
}

const ms = (value: number): string => `${format(value, 1)} ms`

export const i: Scenario = {
  id: 'i',
  title: 'I: import, first connection, size',
  headline: { what: 'import: ms', key: 'import', digits: 1, less: true },
  about: {
    measures:
      'In a fresh process, the import, and from then on the first connection until the server has answered. ' +
      'Size and number of the packages that installing for production brings, in blocks of 4 KB. holdfast is as it is published.',
    differs:
      'holdfast loads its Redis client when it first connects, the others when they are imported: the two columns must be ' +
      'added to compare. Its connect also reads what the server is and writes a small key. ioredis alone is no lock.',
    misleads: 'All files are in the cache of the system. A bundler changes all of it.',
  },
  needsServer: false,
  rounds: 7,
  run(bench): Promise<Measured> {
    const rows = measure(bench)
    const cells = findRow(rows, 'holdfast')?.cells ?? {}
    const bare = Number(findRow(rows, 'ioredis')?.cells['import'])
    return Promise.resolve({
      columns: [
        { key: 'import', title: 'import ms', digits: 1 },
        { key: 'slowest', title: 'slowest', digits: 1 },
        { key: 'connect', title: 'connect ms', digits: 1 },
        { key: 'size', title: 'installed MB', digits: 2 },
        { key: 'packages', title: 'packages', digits: 0 },
      ],
      rows,
      targets: [
        target('import ≤ 25 ms', cells['import'], (value) => value <= 25, ms),
        target(
          `first connect ≤ 120 ms where ioredis takes ${IOREDIS} ms to import (here ${ms(bare)})`,
          cells['connect'],
          (value) => value <= 120 * Math.max(1, bare / IOREDIS),
          ms,
        ),
        target(
          'installed ≤ 7 MB',
          cells['size'],
          (value) => value <= 7,
          (value) => `${format(value, 2)} MB`,
        ),
        target(
          '≤ 20 packages',
          cells['packages'],
          (value) => value <= 20,
          (value) => format(value, 0),
        ),
      ],
    })
  },
}
