import { type Program, type Same, sameStep, type Seen } from '../support/programs.js'

/** Ends as what is left at the time of the look, in steps that are wider than a machine is slow. */
const withEnds = (seen: Seen): Seen => ({
  ...seen,
  keys: seen.keys.map((entry) => {
    // Something else than a keyed lock is shown as it is.
    if (entry.type !== 'hash') return entry
    const value = (entry.value as [string, string][]).map(([field, text]) =>
      field.endsWith(':expire_time') ? [field, Math.round((Number(text) - seen.at) / 20_000)] : [field, text],
    )
    return { ...entry, value }
  }),
})

/** Redisson tells also when nothing is free; ours when something is. */
export const sameKeyed: Same = (expected, actual, before) => {
  const freed = (before?.keys.length ?? 0) > expected.keys.length
  const told = freed || actual.messages.length > 0
  const messages = told ? expected.messages.slice(0, 1) : []
  return sameStep(
    withEnds({ ...expected, messages }),
    withEnds({ ...actual, messages: actual.messages.slice(0, 1) }),
    before,
  )
}

export const KEYED_PROGRAMS: Readonly<Record<string, Program>> = {
  'taken and given back': 'X lock; X unlock; X lock; X unlock',
  'taken with a lease': 'X lock 10000; X unlock; X lock 50000; X unlock',
  'tried without waiting': 'X tryLock; Y tryLock; X unlock; Y tryLock; X tryLock; Y unlock',
  'tried with a wait and a lease': 'X tryLock 100 10000; Y tryLock 150 10000; X unlock; Y tryLock 100 50000; Y unlock',
  'taken again by its owner': 'X lock; X lock; X lock; X unlock; Y tryLock; X unlock; X unlock; X unlock',
  'taken again with a longer lease': 'X lock 10000; X lock 50000; X unlock; X unlock',
  'given back by who does not hold it': 'Y unlock; X lock; Y unlock; X unlock; X unlock; Y unlock',
  'run out': 'X lock 2000; sleep 2300; X unlock; X lock 2000; sleep 2300; Y lock; X unlock; Y unlock',
  'waited for': 'X lock; Y lock &; X unlock; Y wait; X lock &; Y unlock; X wait; X unlock',
  'asked about': 'X isLocked; X lock 50000; X isLocked; Y isLocked; X unlock; Y isLocked',
}

/** Of one key only: of several, Redisson's answer says that none was. */
export const FORCED = { 'taken away by another': 'X lock; Y forceUnlock; X unlock; Y lock; X unlock; Y unlock' }
