import type { Scenario } from '../measure/bench.js'
import { bestPeer, columnsFor, comparedWithRaw, timesAsFast } from '../measure/columns.js'
import { findRow, target } from '../base/result.js'
import { runRounds } from '../measure/rounds.js'
import { takingPart } from '../participants.js'

const SENT = "holdfast, release: 'sent'"
const ALONE = [SENT, 'raw', 'raw, auto-pipelining']

export const u1s: Scenario = {
  id: 'u1s',
  title: "U1s: one caller, lock and unlock, with release: 'sent'",
  headline: { what: "one caller, release: 'sent': pairs/s", key: 'rate', digits: 0 },
  about: {
    measures:
      "The load of U1: one caller in one process takes and frees one lock in a loop. With release: 'sent', a release resolves when it is " +
      'written, and the next acquire leaves together with it: one round trip makes a pair.',
    differs:
      'All others, "holdfast" and "raw" included, wait for the answer to the release, so they learn at once if the hold was lost. ' +
      "With release: 'sent' an event tells that.",
    misleads:
      'The gain is one round trip of two. A caller that does something between release and acquire, or has many callers beside it, ' +
      'gains less. The server does as much as in U1.',
  },
  needsServer: true,
  async run(bench) {
    const load = { kind: 'lock', engine: 'redis', processes: 1, callers: 1, names: 'each', holdMs: 0 } as const
    const who = [SENT, ...takingPart(bench.quick).map(({ name }) => name)]
    const rows = comparedWithRaw(await runRounds(bench, { load, seconds: 2, who }))
    const turns = bench.quick ? 5 : 30
    const alone = await runRounds({ ...bench, rounds: turns }, { load, seconds: 0.5, who: ALONE })
    const ratio = findRow(comparedWithRaw(alone), SENT)?.cells['ratio']
    const peer = bestPeer(rows)
    const beside = peer === undefined ? undefined : timesAsFast(rows, SENT, peer.participant)
    return {
      columns: columnsFor('pair', 'raw'),
      rows,
      targets: [
        target(`≥ 1.6 × the faster raw, in ${turns} turns of each`, ratio, (value) => value >= 1.6),
        target('faster than the fastest peer, in any language', beside, (value) => value > 1),
      ],
    }
  },
}
