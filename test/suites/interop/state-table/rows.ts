import { FAIR, FENCED, keyed, NON_REENTRANT, NON_REENTRANT_FAIR, PLAIN, SPIN } from '../support/actors.js'
import { LATCH, PERMITS, SEMAPHORE } from '../support/counts.js'
import { LIMITER } from '../support/limiter.js'
import { READ_WRITE } from '../support/read-write.js'
import {
  LATCHES,
  OF_THE_NEWEST,
  PERMIT_SEMAPHORES,
  sameCounts,
  sameLatches,
  samePermits,
  SEMAPHORES,
} from './counts.js'
import { FAIR_PROGRAMS, LIMITED_PROGRAMS, randomFairProgram } from './fair.js'
import { sameFairStep } from './fair-view.js'
import { FORCED, KEYED_PROGRAMS, sameKeyed } from './keyed.js'
import { LIMITER_PROGRAMS, RELEASE, sameGivenBack, sameLimiter } from './limiter.js'
import { PROGRAMS, TRIES } from './plain.js'
import { READ_WRITE_PROGRAMS, readWriteDrawn, sameReadWrite } from './read-write.js'
import { cast, type Row, steps } from './suite.js'

const FREE = 'X forceUnlock'
const SOME_NAMES = ['N:1', 'a:{N}:b', '{N}', 'N é']
const WAITED = { 'waited for': PROGRAMS['waited for'] ?? '' }

const plain: Row = {
  both: PLAIN,
  programs: PROGRAMS,
  names: { 'waited for': SOME_NAMES },
  drawn: steps(200, [...TRIES, 'forceUnlock'], FREE),
}

const AGAIN = 'X lock; X lock; X tryLock; X holdCount; Y tryLock; X unlock; X unlock; Y lock; X tryLock; Y unlock'
const ASKED = 'X isLocked; X lock 60000; X isHeld; Y isHeld; Y holdCount; Y remainTimeToLive; Y forceUnlock; X isLocked'

/** Kinds that differ from the plain one by little. */
export const locks: readonly Row[] = [
  plain,
  {
    both: NON_REENTRANT,
    programs: { 'taken again': AGAIN, 'asked about': ASKED, ...WAITED },
    drawn: steps(100, TRIES, FREE),
  },
  {
    both: SPIN,
    programs: { ...WAITED, 'taken again': PROGRAMS['taken again by its owner'] ?? '', 'asked about': ASKED },
    drawn: steps(100, [...TRIES, 'forceUnlock'], FREE),
  },
  {
    both: FENCED,
    programs: {
      ...WAITED,
      'tokens grow': 'X lock; X getToken; X lock; X getToken; X unlock; X unlock; Y tryLock; Y getToken; Y unlock',
      'asked about': ASKED,
    },
    drawn: steps(100, [...TRIES, 'forceUnlock'], FREE),
  },
  {
    both: keyed('a', 'b'),
    programs: KEYED_PROGRAMS,
    names: { 'waited for': ['a:{N}:b'] },
    drawn: steps(100, ['tryLock', 'tryLock', 'unlock', 'unlock', 'isLocked'], 'X unlock; Y unlock; '.repeat(40)),
    same: sameKeyed,
    // Redisson has no word for two of them; of several keys, its answer to the third says that none was.
    without: ['forceUnlock', 'isHeld', 'holdCount', 'remainTimeToLive'],
  },
  {
    both: keyed('a'),
    programs: FORCED,
    same: sameKeyed,
    partly: true,
  },
]

// ---- fair locks --------------------------------------------------------------------------------------------------

/** Each alone, and in turn: whoever waits stands behind the other kind, and behind its own. */
const CASTS = ['nnnn', 'jnjn', 'njnj', 'jnnj', 'njjn', 'nnjj'].map(cast)
const FEWER = CASTS.slice(0, 4)

const exact = sameFairStep(300_000, 'the same')
const later = sameFairStep(300_000, 'never earlier')

/** Of those that limits and leases of their own make different, ours are never earlier. */
const limited: Row = {
  both: FAIR,
  programs: { ...PROGRAMS, ...LIMITED_PROGRAMS },
  same: later,
}

const served: Row = {
  both: FAIR,
  programs: { ...FAIR_PROGRAMS, ...WAITED },
  names: { 'waited for': SOME_NAMES },
  drawn: (seed) => randomFairProgram(seed, 300),
  casts: CASTS,
  same: exact,
}

const QUEUED = 'X lock; Y lock &; X lock; X tryLock; Z lock &; X unlock; Y wait; Y lock; Y unlock; Z wait; Z unlock'

export const fair: readonly Row[] = [
  limited,
  served,
  {
    both: NON_REENTRANT_FAIR,
    programs: { 'taken again': AGAIN, 'taken again while others wait': QUEUED, 'asked about': ASKED, ...WAITED },
    casts: CASTS,
    same: exact,
  },
]

// ---- what many have at once --------------------------------------------------------------------------------------

const SIDES = ['readTryLock', 'readTryLock', 'readUnlock', 'readUnlock', 'writeTryLock', 'writeUnlock'] as const
const ASIDE = ['readHoldCount', 'writeHoldCount', 'readIsLocked', 'writeIsLocked', 'readIsHeld', 'writeIsHeld'] as const

export const shared: readonly Row[] = [
  {
    both: READ_WRITE,
    programs: READ_WRITE_PROGRAMS,
    names: { 'waited for by a reader': ['a:{N}:b'] },
    drawn: readWriteDrawn(steps(150, [...SIDES, ...SIDES, ...ASIDE], 'X readIsLocked')),
    same: sameReadWrite,
  },
  {
    both: SEMAPHORE,
    programs: SEMAPHORES,
    names: { 'waited for': ['a:{N}:b'] },
    drawn: steps(
      150,
      [
        ...[
          'trySetPermits 4',
          'tryAcquire 1',
          'tryAcquire 1',
          'tryAcquire 2',
          'release 1',
          'release 2',
          'addPermits 3',
        ],
        ...['addPermits -2', 'drainPermits', 'availablePermits', 'delete'],
      ],
      'X delete',
    ),
    same: sameCounts,
  },
  {
    both: PERMITS,
    programs: { ...PERMIT_SEMAPHORES, ...OF_THE_NEWEST },
    names: { 'waited for': ['a:{N}:b'] },
    drawn: steps(
      150,
      [
        ...['trySetPermits 4', 'tryAcquire', 'tryAcquire 60000', 'tryAcquire 60000', 'tryRelease 0', 'tryRelease 1'],
        ...['tryRelease 2', 'tryReleaseMany 3 4', 'extend 5 30000', 'setPermits 5', 'addPermits 1', 'addPermits -1'],
        ...['availablePermits', 'acquiredPermits', 'getPermits'],
      ],
      'X delete',
    ),
    same: samePermits,
  },
  {
    both: LATCH,
    programs: LATCHES,
    drawn: steps(
      100,
      [
        'trySetCount 3',
        'trySetCount 2',
        'countDown',
        'countDown',
        'countDown',
        'getCount',
        'getCount',
        'await 300',
        'delete',
      ],
      'X delete',
    ),
    same: sameLatches,
    // Redisson's has no expiry.
    without: ['expire', 'clearExpire'],
  },
  {
    both: LIMITER,
    programs: LIMITER_PROGRAMS,
    names: { 'set, taken, set by force': ['{tagged}N'] },
    drawn: steps(
      100,
      [
        ...['trySetRate 10 60000', 'setRate 7 60000', 'tryAcquire 1', 'tryAcquire 1', 'tryAcquire 2', 'tryAcquire 3'],
        ...['tryAcquire 12', 'availablePermits', 'delete'],
      ],
      'X delete',
    ),
    same: sameLimiter,
    without: ['release'],
  },
  { both: LIMITER, programs: { 'given back': RELEASE }, same: sameGivenBack, partly: true },
]

// ---- older versions ----------------------------------------------------------------------------------------------

const WITHOUT_MANY = [
  ...['expire', 'clearExpire', 'setPermits', 'addPermits', 'acquiredPermits', 'getPermits', 'acquireMany'],
  ...['tryReleaseMany', 'leaseTime'],
]

/**
 * Before 3.44 giving back a free one succeeds, before 3.24 a read under one's own write is not seen, and in all of them a lease that ran out
 * is the next hold's, too: the others show it.
 */
const SINCE = ['given back by who does not hold it', 'taken away', 'run out', 'asked about']
const OLDER_READ_WRITE = Object.fromEntries(
  Object.entries(READ_WRITE_PROGRAMS).filter(([title]) => !SINCE.includes(title)),
)

/** Rows of 3.17 and later. */
const since317: readonly Row[] = [
  { both: READ_WRITE, programs: OLDER_READ_WRITE, same: sameReadWrite, partly: true },
  { both: SEMAPHORE, programs: SEMAPHORES, same: sameCounts },
  { both: LATCH, programs: LATCHES, same: sameLatches, without: ['expire', 'clearExpire'] },
  {
    ...{ both: LIMITER, programs: LIMITER_PROGRAMS, same: sameLimiter, without: ['release'] },
    ours: { redisson: '3.17' },
  },
]

/** By the rules of Redisson before version 4, all or none of whose permits have ids of other bytes. */
export const olderOf = (redisson: '3.16' | '3.17'): readonly Row[] => [
  { ...plain, drawn: steps(100, [...TRIES, 'forceUnlock'], FREE) },
  { ...limited, programs: LIMITED_PROGRAMS, casts: FEWER, ours: { redisson }, partly: true },
  { ...served, drawn: (seed) => randomFairProgram(seed, 200), casts: FEWER, ours: { redisson } },
  { both: PERMITS, programs: PERMIT_SEMAPHORES, same: samePermits, ours: { redisson }, without: WITHOUT_MANY },
  ...(redisson === '3.17' ? since317 : []),
]

/** The fair lock as it was before places were counted on: five seconds for each, and who asks again has another deadline. */
const renewed = { casts: FEWER, ours: { redisson: '3.8' }, same: sameFairStep(5000, 'renewed') } as const

export const oldest: readonly Row[] = [
  { ...limited, ...renewed, programs: LIMITED_PROGRAMS, partly: true },
  { ...served, ...renewed, drawn: (seed) => randomFairProgram(seed, 200) },
]
