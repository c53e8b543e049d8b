import type { Deadlocks } from '../../../api/deadlock.js'
import type { Family } from '../family.js'
import type { SimKind } from '../sim-kind.js'
import { deadlockProgram } from './plan.js'
import { UnitWatch } from './unit-watch.js'

/** Clients that do this about deadlocks; their locks are of many kinds. */
const clients = (deadlocks: Deadlocks): SimKind => ({
  name: deadlocks,
  reentrant: true,
  open: () => {
    throw new Error('its locks are of many kinds')
  },
  holders: () => [],
  fair: false,
  options: { deadlocks },
})

/** Calls of several processes that wait for one another. */
export const DEADLOCKS: Family = {
  name: 'deadlocks',
  kinds: (['break', 'report', 'off'] as const).map(clients),
  scripts: ['core/listing/publish', 'listing/entries'],
  strangers: false,
  told: true,
  calmFrom: 3000,
  every: 8,
  program: deadlockProgram,
  watch: (...seen) => new UnitWatch(...seen),
}
