import type { Scenario } from '../measure/bench.js'
import { columnsFor, comparedWithRaw } from '../measure/columns.js'
import { findRow, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'

/** One caller feels whatever else the machine does: what is compared with a target has many short turns, next to each other. */
const ALONE = ['holdfast', 'raw', 'raw, auto-pipelining']

export const u1: Scenario = {
  id: 'u1',
  title: 'U1: one caller, lock and unlock, nobody else',
  headline: { what: 'one caller, lock + unlock: pairs/s', key: 'rate', digits: 0 },
  about: {
    measures:
      'One caller in one process takes and frees one lock in a loop. Two round trips make a pair. One caller feels whatever else ' +
      'the machine does: the ratio of the target is measured once more, with holdfast and the bare scripts alone, in many short turns.',
    differs:
      'redis-semaphore and redsync take by a plain SET NX, not by a script, are not re-entrant and wake nobody: their requests are ' +
      'cheaper for the server, four commands a pair instead of seven; rueidislock takes by a script, and is not re-entrant. ' +
      'redsync and rueidislock are Go, where a goroutine waits for the socket and no ' +
      'event loop comes in between; a lock in Node has "raw" above it. "raw" neither renews nor notices a loss.',
    misleads:
      'The server is on the same machine, so a trip is short and the share of the client is large: over a network all ' +
      'rows come close to each other. Client and server share the cores, so the figures per second hold only within this table.',
  },
  needsServer: true,
  async run(bench) {
    const load = { kind: 'lock', engine: 'redis', processes: 1, callers: 1, names: 'each', holdMs: 0 } as const
    const rows = comparedWithRaw(await runRounds(bench, { load, seconds: 2 }))
    const turns = bench.quick ? 5 : 30
    const alone = await runRounds({ ...bench, rounds: turns }, { load, seconds: 0.5, who: ALONE })
    const ratio = findRow(comparedWithRaw(alone), 'holdfast')?.cells['ratio']
    return {
      columns: columnsFor('pair', 'raw'),
      rows,
      targets: [target(`≥ 0.90 × the faster raw, in ${turns} turns of each`, ratio, (value) => value >= 0.9)],
    }
  },
}
