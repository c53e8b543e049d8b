import type { ListedLock } from '../../api/listing.js'
import { plainMessage } from '../../plain-text.js'
import { commandFor, permitsText, whoIs } from '../locks/describe.js'
import { spanOf } from '../text/time-span.js'
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

const cycleLines = (cycle: Cycle, now: number, server: readonly string[]): readonly string[] => [
  'Deadlock: these calls wait for one another.',
  ...cycle.map(
    ({ lock, holder, wait }) =>
      `  - ${whoIs(holder)} holds ${plainMessage(lock.name)} and waits for ${plainMessage(wait.name)}${ageOf(wait.since, now)}`,
  ),
  'End one of their processes, or release what one of them holds, for example:',
  ...cycle.slice(0, 1).map(({ lock, holder }) => `  ${commandFor(lock, holder.owner, server)}`),
]

const crossingLines = (crossing: Crossing, now: number, server: readonly string[]): readonly string[] => [
  'Possible deadlock: these clients hold and wait crosswise.',
  ...crossing.map(
    ({ lock, holder, wanted, waiter }) =>
      `  - ${whoIs(holder)} holds ${plainMessage(lock.name)}, and a call in it waits for ${plainMessage(wanted.name)}${ageOf(waiter.since, now)}`,
  ),
  'It is one if the calls that wait are those that hold. Look at these processes. To release a lock, for example:',
  ...crossing.slice(0, 1).map(({ lock, holder }) => `  ${commandFor(lock, holder.owner, server)}`),
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
