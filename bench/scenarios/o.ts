import type { Scenario } from '../measure/bench.js'
import { columnsFor, compared } from '../measure/columns.js'
import { findRow, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'
import { holdfast } from '../participants/holdfast.js'
import { otelProducer, watched } from '../participants/watched.js'

export const o: Scenario = {
  id: 'o',
  title: 'O: 64 callers, 64 locks, with telemetry',
  about: {
    measures:
      'The load of U64, without telemetry and with each kind of it, in turns: what it costs to measure each call and each hold. ' +
      'Metrics are read twice a second, which is more often than usual, and then thrown away.',
    differs:
      'No peer has telemetry. *Two records by hand* is the floor: no telemetry of holdfast, but two calls of the SDK for each pair, with the same ' +
      'attributes.',
    misleads:
      'No load has more calls for each second of CPU than this one. Where a call waits, or has work to do, telemetry costs as much for each ' +
      'call, and so much less of the whole.',
  },
  needsServer: true,
  async run(bench) {
    const load = { kind: 'lock', engine: 'redis', processes: 1, callers: 64, names: 'each', holdMs: 0 } as const
    const who = [holdfast, ...watched].map(({ name }) => name)
    const measured = await runRounds(bench, { load, seconds: 2, who })
    const off = findRow(measured, holdfast.name)?.rounds['rate']
    const rows = compared(measured, (_row, round) => off?.[round])
    return {
      columns: columnsFor('pair', 'without'),
      rows,
      targets: [
        target(
          'with the metric producer ≥ 0.90 × without',
          findRow(rows, otelProducer.name)?.cells['ratio'],
          (value) => value >= 0.9,
        ),
      ],
    }
  },
}
