import type { ListedHolder, ListedLock, ListedWaiter, SharedKind } from '../../api/listing.js'
import { plainMessage, plainText } from '../../plain-text.js'
import { isShared } from './listed-kinds.js'
import { shellWord } from '../text/shell-word.js'
import { spanOf } from '../text/time-span.js'
import { advice, leaseText, signText } from './advice.js'
import { isSilent, withoutSilent } from './places.js'
import { type Sign, signOf, type Signs } from './signs.js'

const UNKNOWN: Readonly<Record<NonNullable<ListedHolder['labelUnknown']>, string>> = {
  'not permitted': ', label unknown (no permission for holdfast:client:*)',
  unreadable: ', label unknown (cannot be read)',
}

/** The client, as people know it. */
export const whoIs = ({
  client,
  label,
  labelUnknown,
}: Pick<ListedHolder, 'client' | 'label' | 'labelUnknown'>): string =>
  label === undefined
    ? `client ${plainText(client)}${labelUnknown === undefined ? '' : UNKNOWN[labelUnknown]}`
    : plainText(label)

const agedOf = ({ since }: ListedHolder | ListedWaiter, now: number): readonly string[] =>
  since === undefined ? [] : [`for ${spanOf(now - since)}`]

const keysOf = ({ keys = [] }: ListedHolder | ListedWaiter): readonly string[] =>
  keys.length === 0 ? [] : [plainMessage(`keys ${keys.join(', ')}`)]

/** What is known of a holder, on one line. */
const holding = (holder: ListedHolder, now: number): string => {
  const { mode, count } = holder
  return [
    whoIs(holder),
    ...(mode === 'exclusive' ? [] : [mode === 'read' ? 'reads' : 'writes']),
    ...keysOf(holder),
    ...(count > 1 ? [`acquired ${count} times`] : []),
    ...agedOf(holder, now),
  ].join(', ')
}

const SILENT = 'silent, holds nobody up'

const waiting = (waiter: ListedWaiter, now: number): string =>
  [whoIs(waiter), ...keysOf(waiter), ...agedOf(waiter, now), ...(isSilent(waiter, now) ? [SILENT] : [])].join(', ')

/** What the call waits for that holds the lock. */
const waitingFor = ({ waitsFor = [] }: ListedHolder, now: number): readonly string[] =>
  waitsFor.map(({ name, kind, since }) => `waits for ${plainMessage(name)} (${kind}), for ${spanOf(now - since)}`)

/** A name in front of the first of some lines. */
const section = (title: string, lines: readonly string[]): readonly string[] =>
  lines.map((line, i) => `  ${(i === 0 ? title : '').padEnd(9)}${line}`)

/** Between the parts of a command: makes short lines of it, which a shell still reads as one command. */
export const SHORT_LINES = ' \\\n    '

/** The command that releases what this owner holds. */
export const commandFor = ({ name }: ListedLock, owner: string, server: readonly string[], glue = ' '): string =>
  [['holdfast', 'unlock'], server, ['--owner', owner], [...(name.startsWith('-') ? ['--'] : []), name]]
    .filter((part) => part.length > 0)
    .map((part) => part.map(shellWord).join(' '))
    .join(glue)

/** What makes the text fuller. `signs`: what was found out about the holders. `glue`: between the parts of a command. */
interface Known {
  readonly signs?: Signs
  readonly glue?: string
}

const PERMITS: Readonly<Record<SharedKind, (lock: ListedLock) => string>> = {
  semaphore: ({ available = 0 }) => `${available} available`,
  permitSemaphore: ({ available = 0, permits = 0 }) => `${available} of ${permits} available`,
  rateLimiter: ({ permits = 0 }) => `${permits} in each interval`,
  countDownLatch: ({ available = 0 }) => `count ${available}`,
}

/** Of what many use at once: how many permits there are. */
export const permitsText = (lock: ListedLock): string | undefined =>
  isShared(lock.kind) ? PERMITS[lock.kind](lock) : undefined

/** Everything that is known of a lock, for people. `now`: the server's time. `server`: the options that lead to it. */
export const described = (
  lock: ListedLock,
  now: number,
  server: readonly string[],
  { signs, glue }: Known = {},
): readonly string[] => {
  const { name, key, kind, holders, waiting: line, more, token } = lock
  const signed = (holder: ListedHolder): Sign => signs?.get(holder) ?? signOf(holder)
  const held = holders.flatMap((holder) => [
    holding(holder, now),
    `owner ${plainMessage(holder.owner)}`,
    signText(signed(holder), holder),
    ...waitingFor(holder, now),
  ])
  const permits = permitsText(lock)
  const places = line.map((waiter, i) => `${i + 1}. ${waiting(waiter, now)}`)
  return [
    `${plainMessage(name)} (${kind})`,
    ...(key === name ? [] : section('key', [plainMessage(key)])),
    ...(permits === undefined
      ? section('held by', held.length === 0 ? ['nobody'] : held)
      : section('permits', [permits])),
    ...section('lease', leaseText(lock, holders.map(signed))),
    ...section('token', token === undefined ? [] : [String(token)]),
    ...section('waiting', places.length === 0 ? ['nobody'] : places),
    ...(more === true ? section('', ['… and others, which are not shown']) : []),
    ...advice(withoutSilent(lock, now), signed, (owner) => commandFor(lock, owner, server, glue)),
  ]
}
