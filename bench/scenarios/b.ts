import type { Bench, Scenario } from '../measure/bench.js'
import { blockedHolder } from '../measure/blocked-holder.js'
import { takingPart } from '../participants.js'
import { holdfast, holdfastThread } from '../participants/holdfast.js'
import type { Participant } from '../participants/participant.js'
import { type Figures, type Row, findRow, format, medians, target } from '../base/result.js'

/** Who renews, in Node. */
const whoIn = ({ quick }: Bench): readonly Participant[] => [
  holdfastThread,
  ...takingPart(quick).filter((one) => one.renews && one.start === undefined && one.version() !== undefined),
]

const percent = (value: number): string => `${format(value, 2)} %`
const megabytes = (value: number): string => `${format(value, 1)} MB`

export const b: Scenario = {
  id: 'b',
  title: 'B: a holder whose event loop is blocked for three leases',
  headline: { what: 'blocked for three leases: holds kept', key: 'kept', digits: 0 },
  about: {
    measures:
      'A process holds a lock with a lease of 2 s and blocks its event loop for 6 s; another process waits for the lock. *Kept* is 1 if the holder still has it afterwards. ' +
      '*Overlap* is for how many ms both would have thought that they held it: the blocked code looks at its hold all the time. Then a process holds a lock of 30 s and does nothing: ' +
      'its CPU, in % of a core, and its memory (the proportional set size, Linux only).',
    differs:
      'A timer cannot fire while the event loop is blocked, so whoever renews by timers loses the lock. With `watchdog: { thread: true }`, a thread of holdfast renews it, on a connection of its own. ' +
      'Without the thread, holdfast loses the lock, but the blocked code can see it; the others tell their caller nothing before the event loop runs again.',
    misleads:
      'What the thread costs is the difference of two processes, each of which differs from one start to the next. Pages that all processes of Node share are divided among those that run.',
  },
  needsServer: true,
  async run(bench) {
    const who = whoIn(bench)
    const figures = new Map<Participant, Figures[]>(who.map((one) => [one, []]))
    for (let round = 0; round < bench.rounds; round++) {
      for (const one of who) {
        bench.log(`  ${one.name}`)
        figures.get(one)!.push(await blockedHolder(bench, one, bench.quick ? 2 : 20))
      }
    }
    const rows = who.map((one): Row => {
      const { name, family } = one
      const rounds = figures.get(one)!
      const row = { participant: name, family, version: one.version() ?? '', ...medians(rounds) }
      // A hold that was lost once is no median.
      const all = (key: string): number[] => rounds.map((round) => round[key]!)
      return { ...row, cells: { ...row.cells, kept: Math.min(...all('kept')), overlap: Math.max(...all('overlap')) } }
    })
    const [beside, alone] = [holdfastThread, holdfast].map(({ name }) => findRow(rows, name)?.cells ?? {})
    const more = (key: string): number => beside![key]! - alone![key]!
    return {
      columns: [
        { key: 'kept', title: 'kept', digits: 0 },
        { key: 'overlap', title: 'overlap ms', digits: 0 },
        { key: 'cpu', title: 'idle CPU %', digits: 2 },
        { key: 'memory', title: 'memory MB', digits: 1 },
      ],
      rows,
      targets: [
        target('with the thread, the hold is kept', beside!['kept'], (value) => value === 1),
        target('with the thread, ms of overlap', beside!['overlap'], (value) => value === 0),
        target('the idle thread ≤ 1 % of a core', more('cpu'), (value) => value <= 1, percent),
        target('the idle thread ≤ 15 MB', more('memory'), (value) => value <= 15, megabytes),
      ],
    }
  },
}
