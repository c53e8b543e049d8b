import type { ListedLock } from '../../api/listing.js'
import { plainMessage, plainText } from '../../plain-text.js'
import type { Column } from '../text/table.js'
import { spanOf } from '../text/time-span.js'
import { UsageError } from '../usage-error.js'
import { type Chosen, doingOf } from './filter.js'
import { isShared } from './listed-kinds.js'

/** A column of `holdfast ls`. `of`: its text; empty: there is none. */
interface Kind extends Omit<Column, 'title'> {
  readonly help: string
  of(lock: ListedLock, seen: Seen): string
}

/** `now`: the server's time. `chosen`: the clients that were asked for. */
export interface Seen {
  readonly now: number
  readonly chosen?: Chosen | undefined
}

type People = ListedLock['holders'] | ListedLock['waiting']

const oldest = (people: People, now: number): string => {
  const times = people.flatMap(({ since }) => since ?? [])
  return times.length === 0 ? '' : spanOf(now - times.reduce((one, other) => Math.min(one, other)))
}

const firstOf = (
  { holders }: ListedLock,
  text: (holder: ListedLock['holders'][number]) => string | undefined,
): string => (holders[0] === undefined ? '' : plainText(text(holders[0]) ?? ''))

/** The first part of a client's id is enough for people. */
export const shortId = (client: string): string => plainText(client.slice(0, 8))

const holderOf = ({ holders: [first, ...others] }: ListedLock): string => {
  if (first === undefined) return ''
  return others.length === 0 ? shortId(first.client) : `${shortId(first.client)} +${others.length}`
}

export const leftOf = ({ remaining }: ListedLock): string => {
  if (remaining === undefined) return ''
  return remaining === Infinity ? 'never' : spanOf(remaining)
}

const permitsOf = ({ kind, available, permits }: ListedLock): string =>
  isShared(kind) ? [available ?? '?', ...(permits === undefined ? [] : [permits])].join('/') : ''

const labelOf = ({ label, labelUnknown }: People[number]): string | undefined =>
  label ?? (labelUnknown === undefined ? undefined : '?')

const waiterOf = ({ waiting: [first, ...others] }: ListedLock): string => {
  if (first === undefined) return ''
  const who = plainText(labelOf(first) ?? shortId(first.client))
  return others.length === 0 ? who : `${who} +${others.length}`
}

const COLUMNS = {
  NAME: { help: 'the name', least: 12, of: ({ name }) => plainMessage(name) },
  KIND: { help: 'the kind of lock', of: ({ kind }) => kind },
  HOLDER: { help: 'the first part of the id of its client, and how many others', of: holderOf },
  LABEL: {
    help: 'the label of that client; ? if it could not be read',
    least: 8,
    of: (lock) => firstOf(lock, labelOf),
  },
  AGE: { help: 'how long it has been held', right: true, of: ({ holders }, { now }) => oldest(holders, now) },
  LEFT: { help: 'what is left of the lease', right: true, of: leftOf },
  WAITING: {
    help: 'how many wait in line',
    right: true,
    of: ({ waiting, more }) => `${waiting.length}${more === true ? '+' : ''}`,
  },
  WAITED: { help: 'the longest wait', right: true, of: ({ waiting }, { now }) => oldest(waiting, now) },
  WAITER: {
    help: 'the label of the first in line, and how many others',
    least: 8,
    of: waiterOf,
  },
  DOES: {
    help: 'what the client of --client or --label does: holds, waits',
    of: (lock, { chosen }) => (chosen === undefined ? '' : doingOf(lock, chosen)),
  },
  OWNER: { help: 'the whole owner, for unlock', of: (lock) => firstOf(lock, ({ owner }) => owner) },
  CLIENT: { help: 'the whole id of the client', of: (lock) => firstOf(lock, ({ client }) => client) },
  MODE: { help: 'exclusive, read or write', of: (lock) => firstOf(lock, ({ mode }) => mode) },
  COUNT: {
    help: 'how often its owner has acquired it',
    right: true,
    of: (lock) => firstOf(lock, ({ count }) => `${count}`),
  },
  HOLDERS: { help: 'how many hold it', right: true, of: ({ holders }) => `${holders.length}` },
  TOKEN: { help: 'the newest fencing token', right: true, of: ({ token = '' }) => String(token) },
  PERMITS: { help: 'how many permits are available, and of how many', right: true, of: permitsOf },
  KEY: { help: 'the key on the server', least: 12, of: ({ key }) => plainMessage(key) },
} as const satisfies Readonly<Record<string, Kind>>

export type Title = keyof typeof COLUMNS

export const TITLES = Object.keys(COLUMNS) as readonly Title[]
const USUAL: readonly Title[] = ['NAME', 'KIND', 'HOLDER', 'LABEL', 'AGE', 'LEFT', 'WAITING']
const WITH_CLIENT: readonly Title[] = ['NAME', 'KIND', 'DOES', ...USUAL.slice(2)]

/** `blocked`: only locks that calls wait for are shown. `choosing`: clients were asked for. */
interface Shown {
  readonly blocked: boolean
  readonly choosing: boolean
}

const usualOf = ({ blocked, choosing }: Shown): readonly Title[] => {
  const usual = choosing ? WITH_CLIENT : USUAL
  return blocked ? [...usual, 'WAITED', 'WAITER'] : usual
}

/** A line of the help for each column. */
export const columnsHelp = (): string =>
  TITLES.map((title) => `  ${title.padEnd(8)}  ${COLUMNS[title].help}\n`).join('')

/** The columns of `-o`: a list with commas. If it begins with a plus, they are shown behind the usual ones. */
export const titlesOf = (text: string | undefined, shown: Shown): readonly Title[] => {
  const usual = usualOf(shown)
  if (text === undefined) return usual
  const more = text.startsWith('+')
  const chosen = (more ? text.slice(1) : text).split(',').map((word) => {
    const title = TITLES.find((one) => one === word.trim().toUpperCase())
    if (title !== undefined) return title
    throw new UsageError(`there is no column "${plainText(word)}"; the columns are ${TITLES.join(', ')}`)
  })
  return more ? [...usual, ...chosen.filter((title) => !usual.includes(title))] : chosen
}

export const columnsOf = (titles: readonly Title[]): readonly Column[] =>
  titles.map((title) => {
    const { right, least }: Kind = COLUMNS[title]
    return { title, right, least }
  })

/** The texts of one lock. */
export const cellsOf = (titles: readonly Title[], lock: ListedLock, seen: Seen): readonly string[] =>
  titles.map((title) => COLUMNS[title].of(lock, seen) || '-')
