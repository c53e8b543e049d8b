import type { Scenario } from '../measure/bench.js'
import { columnsFor, compared } from '../measure/columns.js'
import { findRow, format, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'

export const m: Scenario = {
  id: 'm',
  title: 'M: the embedded engine, lock and unlock',
  headline: { what: 'embedded engine, lock + unlock: pairs/s', key: 'rate', digits: 0 },
  about: {
    measures:
      "One caller takes and frees one lock of 'memory:' in a loop; the same scripts run in the embedded interpreter.",
    differs: 'No peer has such an engine.',
    misleads: 'It is no substitute for a server: it excludes within one thread only.',
  },
  needsServer: false,
  async run(bench) {
    const load = { kind: 'lock', engine: 'memory', processes: 1, callers: 1, names: 'each', holdMs: 0 } as const
    const rows = compared(await runRounds(bench, { load, seconds: 2 }), () => undefined)
    const rate = findRow(rows, 'holdfast')?.cells['rate']
    const whole = (value: number): string => format(value, 0)
    return {
      columns: columnsFor('pair').filter(({ key }) => !['serverCpu', 'requests', 'commands'].includes(key)),
      rows: rows.filter(({ note }) => note?.startsWith('cannot') !== true),
      targets: [target('≥ 20,000 pairs/s', rate, (value) => value >= 20_000, whole)],
    }
  },
}
