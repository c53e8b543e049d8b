import { NON_REENTRANT, PLAIN } from './support/actors.js'
import { PROGRAMS, randomProgram } from './support/plain-programs.js'
import { NEWEST } from './support/redisson.js'
import { stateSuite } from './support/state-suite.js'

stateSuite(NEWEST, PLAIN, {
  programs: {
    ...PROGRAMS,
    'drawn by lot, renewed by the watchdog': randomProgram(1, 150),
    'drawn by lot, with leases': randomProgram(2, 150, 60_000),
  },
})

const WAITED = { 'waited for': PROGRAMS['waited for'] ?? '' }
stateSuite(NEWEST, PLAIN, { programs: WAITED, names: ['N:1', 'a:{N}:b', '{N}', 'N é'] })

const AGAIN = 'X lock; X lock; X tryLock; X holdCount; Y tryLock; X unlock; X unlock; Y lock; X tryLock; Y unlock'
stateSuite(NEWEST, NON_REENTRANT, { programs: { 'taken again': AGAIN, ...WAITED } })
