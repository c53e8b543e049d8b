/** `node .build/test/suites/frameworks/bundle-table.js [ROUNDS]`: writes the sizes and starts into docs/bundling.md. Wants a machine that does nothing else. */
import { readFileSync, writeFileSync } from 'node:fs'
import { startRedis } from '../../support/redis-server.js'
import {
  type Bundle,
  bundle,
  BUNDLERS,
  type Bundler,
  LIBRARIES,
  type Library,
  PAGE,
  start,
  withTable,
} from './bundlers.js'

const ROUNDS = Number(process.argv[2] ?? 21)
const libraries = Object.keys(LIBRARIES) as Library[]

const middle = (all: readonly number[]): number => [...all].sort((one, other) => one - other)[all.length >> 1] ?? 0

interface Cell extends Bundle {
  readonly starts: number[]
}

const cells = async (bundler: Bundler): Promise<Cell[]> => {
  const made: Cell[] = []
  for (const library of libraries) made.push({ ...(await bundle(bundler, library)), starts: [] })
  return made
}

const server = await startRedis()
const rows = new Map<Bundler, Cell[]>()
for (const bundler of Object.keys(BUNDLERS) as Bundler[]) rows.set(bundler, await cells(bundler))
const all = [...rows.values()].flat()
// In turns, so that whatever else the machine does slows all of them.
for (let round = 0; round < ROUNDS; round++)
  for (const { file, starts } of all) starts.push(await start(file, server.url))

const lines = [...rows].map(
  ([bundler, row]) =>
    `| ${bundler} | ${row.map(({ bytes, starts }) => `${Math.round(bytes / 1000)} kB, ${Math.round(middle(starts))} ms`).join(' | ')} |`,
)
const table = [`| | ${libraries.join(' | ')} |`, `|---|${'---:|'.repeat(libraries.length)}`, ...lines].join('\n')
writeFileSync(PAGE, withTable(readFileSync(PAGE, 'utf8'), table))
for (const one of all) one.remove()
await server.stop()
console.log(table)
