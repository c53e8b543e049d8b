import { leaderChannel } from '../../../keys.js'
import type { Random } from '../../random.js'
import type { Family } from '../family.js'
import type { SimKind } from '../sim-kind.js'
import { type Program, programOf } from '../worker-program.js'
import { ElectionTally, electionUnmade } from './election-tally.js'
import { SlotTally, slotsUnmade } from './slot-tally.js'

const HOUR = 3_600_000

/** The clocks of the processes are up to an hour off. */
const farApart = (random: Random, kinds: readonly string[]): Program => {
  const { locks, processes } = programOf(random, kinds)
  const clocks = random.fork('clocks')
  const apart = processes.map((plan) =>
    clocks.chance(0.5) ? { ...plan, wallOffset: clocks.pick([-HOUR, clocks.between(-HOUR, HOUR), HOUR]) } : plan,
  )
  return { locks, processes: apart }
}

const once = (
  name: Family['name'],
  row: Required<Pick<SimKind, 'name' | 'make' | 'channel'>>,
  rest: Required<Pick<Family, 'scripts' | 'watch'>>,
): Family => {
  const open = (): never => {
    throw new Error(`${row.name} is no lock`)
  }
  return {
    ...{ name, strangers: false, told: true, every: 2, program: farApart },
    kinds: [{ ...row, reentrant: false, fair: false, open, holders: () => [] }],
    ...rest,
  }
}

const LINE = ['lock/ask', 'lock/release']

/** What must happen in one process at a time, or only once. */
export const ONCE: readonly Family[] = [
  once(
    'elections',
    { name: 'election', make: electionUnmade, channel: leaderChannel },
    {
      scripts: [
        ...['leader', 'proclaim', 'withdraw'].map((script) => `election/${script}`),
        ...['fenced-lock/acquire', 'fenced-lock/renew', ...LINE],
      ],
      watch: (...seen) => new ElectionTally(...seen),
    },
  ),
  once(
    'slots',
    { name: 'slots', make: slotsUnmade, channel: (name) => name },
    {
      scripts: [
        ...['look', 'claim', 'finish', 'skip'].map((script) => `slots/${script}`),
        ...['lock/acquire', 'lock/renew', ...LINE],
      ],
      watch: (...seen) => new SlotTally(...seen),
    },
  ),
]
