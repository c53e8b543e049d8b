import { FAIR, NON_REENTRANT_FAIR } from './support/actors.js'
import { FAIR_PROGRAMS, LIMITED_PROGRAMS, randomFairProgram } from './support/fair-programs.js'
import { sameFairStep } from './support/fair-view.js'
import { PROGRAMS } from './support/plain-programs.js'
import { type Cast, stateSuite } from './support/state-suite.js'
import { NEWEST } from './support/redisson.js'

/** Draws of their own each time; the seed stands in the test's name. */
const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1_000_000)

/** Each alone, and in turn: whoever waits stands behind the other kind, and behind its own. */
const casts: readonly Cast[] = ['nnnn', 'jnjn', 'njnj', 'jnnj', 'njjn', 'nnjj'].map((sides) =>
  Array.from(sides, (side) => (side === 'j' ? 'java' : 'node')),
)

const TOGETHER = casts.filter((cast) => cast.includes('java'))

const exact = sameFairStep(300_000, false)
const later = sameFairStep(300_000, true)
stateSuite(NEWEST, FAIR, { programs: { ...PROGRAMS, ...LIMITED_PROGRAMS }, same: later })
stateSuite(NEWEST, FAIR, { programs: FAIR_PROGRAMS, casts, same: exact })
const drawn = { [`300 steps drawn by lot, seed ${seed}`]: randomFairProgram(seed, 300) }
stateSuite(NEWEST, FAIR, { programs: drawn, casts: TOGETHER, same: exact })

const WAITED = { 'waited for': PROGRAMS['waited for'] ?? '' }
stateSuite(NEWEST, FAIR, {
  programs: WAITED,
  names: ['N:1', 'a:{N}:b', '{N}', 'N é'],
  same: exact,
})

const AGAIN = 'X lock; X lock; X tryLock; X holdCount; Y tryLock; X unlock; Y lock; X tryLock; Y unlock'
const QUEUED = 'X lock; Y lock &; X lock; X tryLock; Z lock &; X unlock; Y wait; Y lock; Y unlock; Z wait; Z unlock'
stateSuite(NEWEST, NON_REENTRANT_FAIR, {
  programs: { 'taken again': AGAIN, 'taken again while others wait': QUEUED, ...WAITED },
  casts,
  same: exact,
})
