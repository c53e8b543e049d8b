import { availableParallelism } from 'node:os'
import { newerServer } from '../../test/support/packages.js'
import { startRedis } from '../../test/support/redis-server.js'
import { type Row, findRow, format, inEveryRow } from '../base/result.js'
import type { Load } from '../base/load.js'
import type { Bench, MeasuredServer, Scenario } from '../measure/bench.js'
import { comparedWithIdeal, comparedWithRaw } from '../measure/columns.js'
import { runRounds } from '../measure/rounds.js'
import { ServerMeter } from '../measure/server-meter.js'
import { holdfast, holdfastResp3 } from '../participants/holdfast.js'
import { raw, rawPipelined, rawResp3 } from '../participants/raw.js'

const one = { kind: 'lock', engine: 'redis', processes: 1, callers: 1, names: 'each', holdMs: 0 } as const
const U1: Load = one
const U64: Load = { ...one, callers: 64 }
const C: Load = { ...one, processes: 4, callers: 8, names: 'one', holdMs: 2 }

const PROTOCOLS = [
  { name: 'RESP2', ours: holdfast.name, floors: [raw.name, rawPipelined.name] },
  { name: 'RESP3', ours: holdfastResp3.name, floors: rawResp3.map(({ name }) => name) },
]

/** The server's own thread is one of them. */
const THREADS = Math.max(2, Math.min(4, availableParallelism() - 1))
const SETTINGS: Readonly<Record<string, readonly string[]>> = {
  '': [],
  [`, io-threads ${THREADS}`]: ['--io-threads', String(THREADS)],
}

/** Undefined: the server of this machine, which is the one that the others are compared with. */
const PROGRAMS = [undefined, 'redis-server', 'valkey-server'] as const
type Program = (typeof PROGRAMS)[number]

/** What a server is called, and what makes one. */
interface Place {
  readonly name: string
  readonly server: MeasuredServer
}

const open = async (program: Program, threads: string): Promise<Place> => {
  const redis = await startRedis(SETTINGS[threads], program && newerServer(program))
  const meter = new ServerMeter(redis.url)
  return { name: `${await meter.version()}${threads}`, server: { redis, meter } }
}

/** The ratios of each load, by protocol. */
const measure = async (bench: Bench): Promise<Row[]> => {
  const all = PROTOCOLS.flatMap(({ ours, floors }) => [ours, ...floors])
  const pairs = async (load: Load): Promise<Row[]> => {
    const rows = await runRounds(bench, { load, seconds: 1, who: all })
    return PROTOCOLS.flatMap(({ ours, floors }) => {
      const mine = rows.filter(({ participant }) => participant === ours || floors.includes(participant))
      return comparedWithRaw(mine)
    })
  }
  const [u1, u64] = [await pairs(U1), await pairs(U64)]
  const ours = PROTOCOLS.map((protocol) => protocol.ours)
  const c = comparedWithIdeal(await runRounds(bench, { load: C, seconds: 3, quick: 1, who: ours }))
  return PROTOCOLS.map(({ name, ours }) => {
    const [alone, many, contended] = [u1, u64, c].map((rows) => findRow(rows, ours)!)
    const cells = {
      u1: alone!.cells['ratio'] ?? NaN,
      u64: many!.cells['ratio'] ?? NaN,
      c: contended!.cells['ratio'] ?? NaN,
      u64Server: many!.cells['serverCpu'] ?? NaN,
      cServer: contended!.cells['serverCpu'] ?? NaN,
      requests: contended!.cells['requests'] ?? NaN,
    }
    const note = alone!.note ?? many!.note ?? contended!.note
    return { ...many!, participant: name, cells, rounds: {}, ...(note !== undefined && { note }) }
  })
}

const RATIOS = ['u1', 'u64', 'c'] as const

/** How far the ratio that is farthest off is from that of the first server, over the same protocol, in %. */
const comparedWithFirst = (rows: readonly Row[]): Row[] =>
  rows.map((row, i) => {
    const first = rows[i % PROTOCOLS.length]!
    const off = RATIOS.map((key) => 100 * Math.abs(row.cells[key]! / first.cells[key]! - 1))
    return { ...row, cells: { ...row.cells, off: Math.max(...off) } }
  })

const absent = (error: unknown): string | undefined =>
  (error as { code?: string }).code === 'ABSENT' ? (error as Error).message : undefined

const measureOn = async (bench: Bench, program: Program, threads: string): Promise<Row[]> => {
  try {
    const { name, server } = await open(program, threads)
    bench.log(`  ${name}`)
    try {
      const rows = await measure({ ...bench, log: () => undefined, server })
      return rows.map((row) => ({ ...row, participant: `${name}, ${row.participant}` }))
    } finally {
      server.meter.end()
      await server.redis.stop()
    }
  } catch (error) {
    const why = absent(error)
    if (why === undefined) throw error
    const row = { participant: `newer ${program}${threads}`, family: 'holdfast', version: '', cells: {}, rounds: {} }
    return PROTOCOLS.map(({ name }) => ({ ...row, participant: `${row.participant}, ${name}`, note: `cannot: ${why}` }))
  }
}

export const y: Scenario = {
  id: 'y',
  title: 'Y: newer servers, io-threads and RESP3',
  about: {
    measures:
      'On each server the ratios of U1 and U64 to the bare scripts, and that of C to what one lock can do at most, without and with io-threads; each over RESP2, which ' +
      "holdfast's own connections speak, and RESP3, with a connection of the caller's own. The bare scripts of a row speak the same protocol. *Off* is how far the worst of the three ratios is from that of the first server, " +
      'over the same protocol.',
    differs: 'holdfast alone, beside the bare scripts on the same server.',
    misleads:
      'With io-threads, threads of the server read and write while its main thread runs scripts. On a machine with few cores they take the cores of the clients, so this measures what they cost, ' +
      'and not what they gain. The newer servers run with the C library and the allocator of a newer system.',
  },
  needsServer: true,
  async run(bench) {
    const rows: Row[] = []
    for (const program of PROGRAMS) {
      for (const threads of Object.keys(SETTINGS)) rows.push(...(await measureOn(bench, program, threads)))
    }
    const compared = comparedWithFirst(rows)
    return {
      columns: [
        { key: 'u1', title: 'U1 × raw', digits: 2 },
        { key: 'u64', title: 'U64 × raw', digits: 2 },
        { key: 'c', title: 'C × ideal', digits: 2 },
        { key: 'off', title: 'off %', digits: 1 },
        { key: 'u64Server', title: 'U64 server µs', digits: 1 },
        { key: 'cServer', title: 'C server µs', digits: 1 },
        { key: 'requests', title: 'C requests each', digits: 2 },
      ],
      rows: compared,
      targets: [
        inEveryRow('ratios as on the first server ± 10 %', compared.slice(PROTOCOLS.length), {
          off: ({ cells }) => cells['off'] ?? NaN,
          limit: 10,
          shown: ({ cells }) => `${format(cells['off']!, 1)} %`,
        }),
      ],
    }
  },
}
