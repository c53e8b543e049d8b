import type { ListedHolder, ListedLock } from '../../api/listing.js'
import { plainMessage } from '../../plain-text.js'
import { commandFor, permitsText, whoIs } from '../locks/describe.js'
import { spanOf } from '../text/time-span.js'
import { WIDTH, wrapped } from '../text/wrap.js'
import type { Crossing } from './crossings.js'
import type { BlockedLock, Cycle, Forest, Waiting } from './wait-forest.js'

/** How many holders of one lock are named. */
const NAMED = 3

const ageOf = (since: number | undefined, now: number): string =>
  since === undefined ? '' : `, for ${spanOf(now - since)}`

const holdersOf = (lock: ListedLock, now: number): string => {
  const { holders } = lock
  if (holders.length === 0) return permitsText(lock) ?? 'free'
  const named = holders.slice(0, NAMED).map((holder) => `${whoIs(holder)}${ageOf(holder.since, now)}`)
  const more = holders.length > NAMED ? `; and ${holders.length - NAMED} others` : ''
  return `held by ${named.join('; ')}${more}`
}

const lockLine = ({ lock, elsewhere }: BlockedLock, now: number): string => {
  const name = `${plainMessage(lock.name)} (${lock.kind})`
  return elsewhere !== undefined ? `${name}, see ${elsewhere}` : `${name}, ${holdersOf(lock, now)}`
}

/** `lines` below a line, with the strokes that join them to it. */
const below = (children: readonly (readonly string[])[]): readonly string[] =>
  children.flatMap(([head = '', ...rest], i) => {
    const last = i === children.length - 1
    return [`${last ? '└─' : '├─'} ${head}`, ...rest.map((line) => `${last ? '   ' : '│  '}${line}`)]
  })

const waitingLines = ({ waiter, locks }: Waiting, now: number): readonly string[] => [
  `${whoIs(waiter)}${ageOf(waiter.since, now)}`,
  ...below(locks.map((lock) => treeOf(lock, now))),
]

const treeOf = (blocked: BlockedLock, now: number): readonly string[] => [
  lockLine(blocked, now),
  ...below([
    ...blocked.waiters.map((waiting) => waitingLines(waiting, now)),
    ...(blocked.lock.more === true && blocked.elsewhere === undefined ? [['… and others, which are not shown']] : []),
  ]),
]

/** A call of a deadlock, and the lock that it holds. */
interface Choice {
  readonly lock: ListedLock
  readonly holder: ListedHolder
  readonly since: number | undefined
}

/** Which process to end, and what to do if it cannot release the lock any more. The command alone would let two work at once. */
const wayOut = (choices: readonly Choice[], server: readonly string[]): readonly string[] => {
  const [first] = choices
  if (first === undefined) return []
  const youngest = choices.reduce((one, other) => ((other.since ?? 0) > (one.since ?? 0) ? other : one), first)
  const { lock, holder, since } = youngest
  const who = since === undefined ? '' : ` ${whoIs(holder)} has waited the shortest, so it may lose the least.`
  return [
    ...wrapped(`Look at these processes, and end one of them, which frees its locks.${who}`, WIDTH),
    ...wrapped('Only if its process has ended, or its work is stopped, and the lock is still held:', WIDTH),
    `  ${commandFor(lock, holder.owner, server)}`,
  ]
}

const cycleLines = (cycle: Cycle, now: number, server: readonly string[]): readonly string[] => [
  'Deadlock: these calls wait for one another.',
  ...cycle.map(
    ({ lock, holder, wait }) =>
      `  - ${whoIs(holder)} holds ${plainMessage(lock.name)} and waits for ${plainMessage(wait.name)}${ageOf(wait.since, now)}`,
  ),
  ...wayOut(
    cycle.map(({ lock, holder, wait }) => ({ lock, holder, since: wait.since })),
    server,
  ),
]

const crossingLines = (crossing: Crossing, now: number, server: readonly string[]): readonly string[] => [
  'Possible deadlock: these clients hold and wait crosswise.',
  ...crossing.map(
    ({ lock, holder, wanted, waiter }) =>
      `  - ${whoIs(holder)} holds ${plainMessage(lock.name)}, and a call in it waits for ${plainMessage(wanted.name)}${ageOf(waiter.since, now)}`,
  ),
  ...wrapped(
    'It is one if the calls that wait are those that hold. The longer they wait, the more likely it is.',
    WIDTH,
  ),
  ...wayOut(
    crossing.map(({ lock, holder, waiter }) => ({ lock, holder, since: waiter.since })),
    server,
  ),
]

/** For people: a block of lines for each tree and each deadlock. */
export const drawn = (
  { roots, cycles }: Forest,
  now: number,
  server: readonly string[],
  possible: readonly Crossing[] = [],
): readonly string[] =>
  [
    ...roots.map((root) => treeOf(root, now)),
    ...cycles.map((cycle) => cycleLines(cycle, now, server)),
    ...possible.map((crossing) => crossingLines(crossing, now, server)),
  ].flatMap((block, i) => (i === 0 ? block : ['', ...block]))
