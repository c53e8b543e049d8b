import type { Scenario } from '../measure/bench.js'
import { bestPeer, bestRaw, columnsFor, comparedWithRaw } from '../measure/columns.js'
import { type Row, findRow, format, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'

const over = (one: Row | undefined, other: Row | undefined, key: string): number | undefined =>
  one?.cells[key] === undefined || other?.cells[key] === undefined ? undefined : one.cells[key] / other.cells[key]

export const u64: Scenario = {
  id: 'u64',
  title: 'U64: 64 callers, 64 locks, one connection',
  headline: { what: '64 callers, 64 locks: pairs/s', key: 'rate', digits: 0 },
  about: {
    measures:
      '64 callers in one process, each with a lock of its own, on one connection: how much the client can keep going.',
    differs:
      'As in U1. With auto-pipelining ioredis writes the commands of one turn of the event loop at once; whether a ' +
      'participant gains by it is its own affair, so raw and peers are measured with and without, and the faster counts.',
    misleads:
      'It measures the CPU of the client more than anything: one Node process cannot saturate the server. On a machine ' +
      'with few cores the server competes with it; the CPU per pair beside it does not depend on that.',
  },
  needsServer: true,
  async run(bench) {
    const load = { kind: 'lock', engine: 'redis', processes: 1, callers: 64, names: 'each', holdMs: 0 } as const
    const rows = comparedWithRaw(await runRounds(bench, { load, seconds: 2 }))
    const [ours, raw, peer] = [findRow(rows, 'holdfast'), bestRaw(rows), bestPeer(rows)]
    const client = over(ours, raw, 'clientCpu')
    const cpu = target(
      'CPU of client and server per pair ≤ 1.20 × the faster raw',
      over(ours, raw, 'cpu'),
      (x) => x <= 1.2,
    )
    return {
      columns: columnsFor('pair', 'raw'),
      rows,
      targets: [
        target('≥ 0.85 × the faster raw', ours?.cells['ratio'], (value) => value >= 0.85),
        target('≥ 1 × the best peer', over(ours, peer, 'rate'), (value) => value >= 1),
        { ...cpu, measured: `${cpu.measured} (the client alone ${client === undefined ? '?' : format(client, 2)})` },
      ],
    }
  },
}
