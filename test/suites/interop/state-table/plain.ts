import type { Program } from '../support/programs.js'

/** X and Y are each in turn a thread of Redisson and an owner of ours. Leases differ by more than a machine is slow. */
export const PROGRAMS: Readonly<Record<string, Program>> = {
  'taken and given back': 'X lock; X unlock; X lock; X unlock',
  'taken with a lease': 'X lock 10000; X unlock; X lock 60000; X unlock',
  'tried without waiting': 'X tryLock; Y tryLock; Y tryLock 0; X unlock; Y tryLock; X tryLock; Y unlock',
  'tried with a wait and a lease': 'X tryLock 100 10000; Y tryLock 150 10000; X unlock; Y tryLock 100 60000; Y unlock',
  'taken again by its owner': 'X lock; X lock; X lock; X unlock; Y tryLock; X unlock; X unlock; X unlock',
  'taken again with the same lease': 'X lock 60000; X tryLock 0 60000; X unlock; X unlock',
  'taken again with a longer lease': 'X lock 10000; X lock 60000; X unlock; X unlock',
  'given back by who does not hold it': 'Y unlock; X lock; Y unlock; X unlock; X unlock; Y unlock',
  'taken away by another': 'X lock; Y forceUnlock; X unlock; Y lock; X unlock; Y unlock',
  'taken away by its own owner': 'X lock; X lock; X forceUnlock; X unlock; X forceUnlock',
  'taken away where nobody holds it': 'X forceUnlock; Y forceUnlock',
  'run out': 'X lock 2000; sleep 2300; X unlock; X lock 2000; sleep 2300; Y lock; X unlock; Y unlock',
  'waited for': 'X lock; Y lock &; X unlock; Y wait; X lock &; Y unlock; X wait; X unlock',
  'waited for with limit and lease': 'X lock; Y tryLock 20000 60000 &; X unlock; Y wait; X tryLock; Y unlock',
  'waited for, run out': 'X lock 3000; Y lock 60000 &; Y wait; X unlock; Y unlock',
  'waited for, taken away': 'X lock; Y lock &; X forceUnlock; Y wait; X unlock; Y unlock',
  'waited for in vain': 'X lock; Y tryLock 300 10000; X unlock; Y tryLock; Y unlock',
  'asked about':
    'X isLocked; X isHeld; X holdCount; X remainTimeToLive; X lock 60000; X isLocked; Y isLocked; X isHeld; Y isHeld; ' +
    'X holdCount; Y holdCount; Y remainTimeToLive; X lock 60000; X holdCount; X isHeld; X unlock; X holdCount; ' +
    'X remainTimeToLive; X unlock; X holdCount; Y isLocked; Y remainTimeToLive',
}

/** Of plain locks: whoever holds it, none of these waits. All of one lease: another one is in the programs. */
export const TRIES = ['tryLock', 'tryLock', 'unlock', 'unlock', 'unlock', 'isLocked', 'isHeld', 'holdCount'] as const
