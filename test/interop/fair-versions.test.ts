import type { ClientOptions } from 'holdfast'
import { FAIR } from './support/actors.js'
import { FAIR_PROGRAMS, LIMITED_PROGRAMS, randomFairProgram } from './support/fair-programs.js'
import { sameFairStep } from './support/fair-view.js'
import { type Cast, stateSuite } from './support/state-suite.js'
import { wakeSuite } from './support/wake-suite.js'

/** Draws of their own each time; the seed stands in the test's name. */
const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

/** Each alone, and in turn: whoever waits stands behind the other kind, and behind its own. */
const casts: readonly Cast[] = ['nnnn', 'jnjn', 'njnj', 'jnnj'].map((sides) =>
  Array.from(sides, (side) => (side === 'j' ? 'java' : 'node')),
)

/** `steady`: whoever asks again has a later deadline, and ours ask more often than Redisson does. */
const VERSIONS: readonly (readonly [version: string, redisson: ClientOptions['redisson'], steady: boolean])[] = [
  ['3.17.7', '3.17', true],
  ['3.16.8', '3.16', true],
  ['3.8.1', '3.8', false],
]

for (const [version, redisson, steady] of VERSIONS) {
  const ours = { redisson }
  const drawn = { [`200 steps drawn by lot, seed ${seed}`]: randomFairProgram(seed, 200) }
  const later = sameFairStep(300_000, true)
  stateSuite(version, FAIR, { programs: LIMITED_PROGRAMS, casts, ours, same: later })
  const programs = { ...FAIR_PROGRAMS, ...drawn }
  stateSuite(version, FAIR, { programs, casts, ours, same: steady ? sameFairStep(300_000, false) : later })
  wakeSuite(version, FAIR, ours)
}
