import { near, type Program, type Same, sameEntries, type Seen } from '../support/programs.js'
import { several } from '../support/several.js'
import { type Row, steps } from './suite.js'

/** Which members were told of. A message wakes who waits, who then asks. */
const told = ({ messages }: Seen): string[] => [...new Set(messages)].sort()

/** To one waiter of a fair lock. */
const CALL = /:\w 0$|^holdfast_grant:/

/**
 * What was tried and not had, and what was waited for, is given back as far as it had come: Redisson asks one after the other, ours
 * all that are left at once. So ours may tell of more members, which are free. `raced`: steps in which somebody
 * may be about that, and may or may not stand in the line of a fair member.
 */
const sameBut =
  (raced: RegExp): Same =>
  (expected, actual) => {
    const isRaced = raced.test(expected.step)
    const toldTo = (seen: Seen): string[] => told(seen).filter((message) => !isRaced || !CALL.test(message))
    const [theirs, ours] = [toldTo(expected), toldTo(actual)]
    const more = expected.result === false || isRaced
    const same = more ? theirs.every((message) => ours.includes(message)) : theirs.join() === ours.join()
    return near(expected.result, actual.result) && same && sameEntries(expected, actual)
  }

const sameSeveral = sameBut(/ wait$/)

/** Redisson's red-lock says nothing where nothing is held that it could give back. */
const sameRed: Same = (expected, actual, before) => {
  const nothing = expected.step.endsWith(' unlock') && expected.result === 'done' && expected.messages.length === 0
  const result = nothing && actual.result === 'not owner' ? 'done' : actual.result
  return sameSeveral(expected, { ...actual, result }, before)
}

/** The fewer of both among the others, and a majority of three. */
const isMajority = <T>(some: readonly T[], others: readonly T[], same: (one: T, other: T) => boolean): boolean => {
  const [few, many] = some.length < others.length ? [some, others] : [others, some]
  return (few.length === many.length || few.length > 1) && few.every((one) => many.some((other) => same(one, other)))
}

/** Who waited for a majority has it while the last member is still being given back: whether that one is had, too, is a race. */
const sameMajority: Same = (expected, actual) => {
  const alone = (seen: Seen, entry: Seen['keys'][number]): Seen => ({ ...seen, keys: [entry] })
  return (
    near(expected.result, actual.result) &&
    (expected.step.endsWith(' wait') || isMajority(told(expected), told(actual), (one, other) => one === other)) &&
    isMajority(expected.keys, actual.keys, (one, other) => sameEntries(alone(expected, one), alone(actual, other)))
  )
}

const AGAIN: Program =
  'X lock; X memberIsHeld 2; Y tryLock; X lock; X tryLock; X unlock; X unlock; Y tryLock; X unlock; Y lock; X tryLock; Y unlock; Y unlock'
const ONCE: Program = 'X lock; X memberIsHeld 0; Y tryLock; X unlock; Y tryLock; X tryLock; Y unlock'
const WAITED: Program = 'X lock; Y lock &; X unlock; Y wait; X lock &; Y unlock; X wait; Y tryLock; X unlock'

const TAKEN = {
  'taken, taken again, given back': AGAIN,
  'with a lease':
    'X lock 60000; X memberIsHeld 0; Y tryLock 0 10000; X unlock; Y tryLock 2000 40000; X tryLock; Y unlock',
}

const WAITING = {
  'waited for': WAITED,
  'waited for with a limit, and had': 'X lock 60000; Y tryLock 20000 40000 &; X unlock; Y wait; Y unlock',
}

const ALL: Readonly<Record<string, Program>> = {
  ...TAKEN,
  ...WAITING,
  'one member is another’s':
    'Y memberLock 1; X tryLock; X tryLock 300; Y memberUnlock 1; X tryLock; Y memberLock 0 &; X unlock; Y wait; X tryLock; ' +
    'Y memberUnlock 0',
  'by one who has a member':
    'X memberLock 1; X lock; Y tryLock; X unlock; Y tryLock; X memberUnlock 1; Y tryLock; Y unlock',
  'a member taken by force':
    'X lock; Y memberForceUnlock 1; X memberIsHeld 1; Y tryLock; X memberForceUnlock 0; X memberForceUnlock 2; Y tryLock; Y unlock',
}

const MOST: Readonly<Record<string, Program>> = {
  ...TAKEN,
  'a minority is another’s':
    'Y memberLock 1; X tryLock; X memberIsHeld 0; X memberIsHeld 1; X unlock; X lock; Y memberUnlock 1; X unlock',
  'a majority is another’s':
    'Y memberLock 0; Y memberLock 2; X tryLock; X tryLock 300; Y memberUnlock 0; X tryLock; X unlock; Y memberUnlock 2',
  'members taken by force':
    'X lock; Y memberForceUnlock 1; X memberIsHeld 1; Y tryLock; X memberForceUnlock 0; X memberForceUnlock 2; Y tryLock; Y unlock',
}

const drawn = steps(
  100,
  ['tryLock', 'tryLock', 'tryLock 0', 'unlock', 'unlock', 'memberIsHeld 1'],
  'X memberForceUnlock 0; X memberForceUnlock 1; X memberForceUnlock 2',
)

export const ofSeveral: readonly Row[] = [
  {
    both: several('multi', 'plain', 'plain', 'plain'),
    programs: ALL,
    names: { 'waited for': ['a:{N}:b'] },
    drawn,
    same: sameSeveral,
  },
  {
    both: several('multi', 'plain', 'fair', 'write'),
    // Taken once: what Redisson makes of a write's lease when it is taken again stands in the row of that lock.
    programs: { 'taken and given back': ONCE, 'waited for': WAITED },
    // Members are told of in different ways here: which of them were tried before all were free is seen.
    same: sameBut(/ wait$| unlock$/),
    partly: true,
  },
  { both: several('red', 'plain', 'plain', 'plain'), programs: MOST, drawn, same: sameRed },
  { both: several('red', 'plain', 'plain', 'plain'), programs: WAITING, same: sameMajority, partly: true },
]
