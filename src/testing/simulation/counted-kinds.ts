import { flightChannel, latchChannel, limiterChannel, semaphoreChannel } from '../../keys.js'
import { KEY } from './computations.js'
import { FlightTally, flightUnmade } from './flight-tally.js'
import { LatchTally, latchMade } from './latch-tally.js'
import { LimiterTally, limiterMade } from './limiter-tally.js'
import { SemaphoreTally, semaphoreMade } from './semaphore-tally.js'
import type { SimKind } from './sim-kind.js'
import type { Family } from './family.js'

/** What many may have at once, or share, and nobody holds by a name: a row, and who keeps count. */
const counts = (
  name: Family['name'],
  row: Required<Pick<SimKind, 'name' | 'make' | 'channel'>>,
  rest: Pick<Family, 'scripts' | 'told'> & Required<Pick<Family, 'watch'>>,
): Family => {
  const open = (): never => {
    throw new Error(`${row.name} is no lock`)
  }
  return {
    name,
    kinds: [{ ...row, reentrant: false, fair: false, open, holders: () => [] }],
    strangers: false,
    ...rest,
  }
}

export const COUNTS: readonly Family[] = [
  counts(
    'counted',
    { name: 'semaphore', make: semaphoreMade, channel: semaphoreChannel },
    {
      scripts: ['acquire', 'ask', 'add', 'leave', 'undo', 'drain'].map((script) => `semaphore/${script}`),
      told: true,
      watch: (...seen) => new SemaphoreTally(...seen),
    },
  ),
  counts(
    'latches',
    { name: 'countDownLatch', make: latchMade, channel: latchChannel },
    {
      scripts: [...['count-down', 'try-set-count', 'delete'].map((script) => `latch/${script}`), 'get'],
      told: true,
      watch: (...seen) => new LatchTally(...seen),
    },
  ),
  counts(
    'limiters',
    { name: 'rateLimiter', make: limiterMade, channel: limiterChannel },
    {
      scripts: ['take', 'ask', 'leave', 'undo', 'available', 'set-rate', 'try-set-rate'].map(
        (script) => `rate-limiter/${script}`,
      ),
      told: true,
      watch: (...seen) => new LimiterTally(...seen),
    },
  ),
  counts(
    'flights',
    { name: 'flight', make: flightUnmade, channel: (name) => flightChannel(name, KEY) },
    {
      scripts: [
        ...['look', 'claim', 'finish', 'forget'].map((script) => `flight/${script}`),
        ...['acquire', 'release', 'renew', 'force-release'].map((script) => `lock/${script}`),
      ],
      told: true,
      watch: (...seen) => new FlightTally(...seen),
    },
  ),
]
