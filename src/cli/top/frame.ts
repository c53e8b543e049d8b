import type { ListedLock } from '../../api/listing.js'
import { plainMessage, plainText } from '../../plain-text.js'
import { cellsOf, columnsOf, type Title } from '../locks/columns.js'
import { described, SHORT_LINES } from '../locks/describe.js'
import { isBlocked } from '../locks/places.js'
import type { Signs } from '../locks/signs.js'
import type { Row, Span } from '../text/styled-row.js'
import { spanOf } from '../text/time-span.js'
import { tableOf } from '../text/table.js'
import { wrapped } from '../text/wrap.js'
import { cutTo, widthOf } from '../text/width.js'
import { idOf, rowsFor, selectedRow, type View } from './view.js'

export interface Shown {
  /** Which one it is. */
  readonly id: string
  /** Undefined: it is neither held nor waited for any more. */
  readonly lock: ListedLock | undefined
  readonly signs: Signs
}

/** What is known of the server. */
export interface Snapshot {
  /** Where the locks are; without a password. */
  readonly where: string
  readonly locks: readonly ListedLock[]
  /** The server's time, ms since the epoch: when the list was read, and now. */
  readonly readAt: number
  readonly now: number
  /** The lock that is shown, as `holdfast show` sees it; undefined: it was not asked yet. */
  readonly shown?: Shown | undefined
  /** Why the list could not be read again. */
  readonly trouble?: string | undefined
}

export interface Size {
  readonly columns: number
  readonly rows: number
}

/** In a smaller terminal, there is no room for a list. */
export const LEAST: Size = { columns: 40, rows: 8 }

const TITLES: readonly Title[] = ['NAME', 'KIND', 'HOLDER', 'LABEL', 'AGE', 'LEFT', 'WAITING', 'WAITED']
/** The lines above and below the rows of the list. */
const AROUND = 6
const MARK = 2

/** How many rows of the list are shown. */
export const heightOf = ({ rows }: Size): number => Math.max(1, rows - AROUND)

type Style = Span['style']

const line = (text: string, columns: number, style?: Style): Row => {
  const shown = cutTo(text, columns)
  return [{ text: shown + ' '.repeat(columns - widthOf(shown)), style }]
}

/** One text at the left edge, another one at the right if there is room. */
const ends = (left: string, right: string, columns: number, style?: Style): Row => {
  const between = columns - widthOf(left) - widthOf(right)
  return between < 2 ? line(left, columns, style) : line(left + ' '.repeat(between) + right, columns, style)
}

const number = (count: number): string => count.toLocaleString('en')

const counts = ({ locks, now }: Snapshot): string => {
  const blocked = locks.filter((lock) => isBlocked(lock, now))
  const waiting = blocked.reduce((sum, lock) => sum + lock.waiting.length, 0)
  return `${number(locks.length)} ${locks.length === 1 ? 'lock' : 'locks'} · ${number(blocked.length)} blocked · ${number(waiting)} waiting`
}

/** Nobody will release it, so somebody has to. */
const isStuck = ({ remaining }: ListedLock): boolean => remaining === Infinity

const styleOf = (lock: ListedLock): Style =>
  isStuck(lock) ? 'bad' : lock.waiting.length > 0 ? 'strong' : lock.holders.length === 0 ? 'dim' : undefined

/** Which rows of the list are seen. */
const rangeOf = (rows: readonly ListedLock[], view: View, size: Size): string => {
  const [count, height] = [rows.length, heightOf(size)]
  if (count <= height) return `${number(count)} ${count === 1 ? 'row' : 'rows'}`
  const first = firstShown(selectedRow(rows, view), count, height)
  return `rows ${number(first + 1)}–${number(first + height)} of ${number(count)}`
}

const statusOf = (rows: readonly ListedLock[], view: View, size: Size): string => {
  const { filter, typing, blocked, order, reversed } = view
  const chosen = [
    `by ${order}${reversed ? ', reversed' : ''}`,
    ...(blocked ? ['only blocked'] : []),
    ...(filter !== '' || typing ? [`filter: ${plainText(filter)}${typing ? '_' : ''}`] : []),
  ]
  return ` ${chosen.join(' · ')} · ${rangeOf(rows, view, size)}`
}

/** The first row that is shown, so that the selected one is in the middle if it can be. */
const firstShown = (row: number, count: number, height: number): number =>
  Math.max(0, Math.min(row - Math.floor(height / 2), count - height))

const EMPTY = 'No lock has been held or waited for longer than a second.'
const NO_MATCH = 'No lock matches. Esc shows all.'

const listOf = (
  rows: readonly ListedLock[],
  snapshot: Snapshot,
  view: View,
  { columns, rows: all }: Size,
): readonly Row[] => {
  const height = heightOf({ columns, rows: all })
  const row = selectedRow(rows, view)
  const first = firstShown(row, rows.length, height)
  const shown = rows.slice(first, first + height)
  const cells = shown.map((lock) => cellsOf(TITLES, lock, { now: snapshot.now }))
  const [head = '', ...lines] = tableOf(columnsOf(TITLES), cells, columns - MARK)
  const list = lines.map((text, i): Row => {
    const lock = shown[i]
    const chosen = first + i === row
    return line(`${chosen ? '>' : ' '} ${text}`, columns, chosen ? 'chosen' : lock && styleOf(lock))
  })
  const body = list.length > 0 ? list : [line(`  ${snapshot.locks.length > 0 ? NO_MATCH : EMPTY}`, columns, 'dim')]
  const blank = Array.from({ length: height - body.length }, () => line('', columns))
  return [line(`  ${head}`, columns, 'accent'), ...body, ...blank]
}

const HELP = [
  'up, down, k, j      select a lock (also page up, page down, home, end, g, G)',
  'Enter               show the lock: its holders, its line, how to release it',
  '/                   filter by name, kind or label; Enter keeps it, Esc clears it',
  'b                   only locks that calls wait for',
  's, r                sort by the next column; reverse the order',
  'Space               read the list now, and not after a second',
  'q, Ctrl-C           quit',
  '',
  'The list shows locks that were held or waited for longer than a second.',
  'Red: the lock has no expiry, so it stays until somebody releases it.',
  'Bold: calls wait for it.',
]

const TYPING = ' Enter keep the filter  Esc clear it  Ctrl-C quit'
const KEYS = ' q quit  / filter  s sort  r reverse  b blocked  Enter show  ? help'

/** A long line goes on below, as far to the right as its text begins. A command that is cut in short lines stays as it is. */
const folded = (text: string, room: number): readonly string[] => {
  if (widthOf(text) <= room || text.endsWith('\\')) return [text]
  const indent = /^(?: *(?:\S+ {2,})?(?:\d+\. )?)/.exec(text)?.[0] ?? ''
  const width = widthOf(indent)
  if (width > room / 2) return [text]
  const [first = '', ...rest] = wrapped(text.slice(indent.length), room - width)
  return [indent + first, ...rest.map((part) => ' '.repeat(width) + part)]
}

const pageOf = (title: string, whole: readonly string[], { columns, rows }: Size): readonly Row[] => {
  const room = Math.max(0, rows - 3)
  const lines = whole.flatMap((text) => folded(text, columns - 2))
  // What stands behind the last blank line says what to do.
  const tail = Math.min(lines.length - Math.max(0, lines.lastIndexOf('')), room - 2)
  const cut = lines.length > room ? [...lines.slice(0, room - 1 - tail), '…', ...lines.slice(-tail)] : lines
  const filled = [...cut, ...Array.from({ length: room - cut.length }, () => '')]
  return [
    line(` ${title}`, columns, 'strong'),
    line('', columns),
    ...filled.map((text) => line(` ${text}`, columns)),
    line(' any key: back', columns, 'dim'),
  ]
}

const headOf = (snapshot: Snapshot, { columns }: Size): Row => {
  const { where, now, readAt, trouble } = snapshot
  return trouble === undefined
    ? ends(` holdfast top  ${plainText(where)}`, `${counts(snapshot)} `, columns, 'strong')
    : ends(` ${plainMessage(trouble)}`, `as of ${spanOf(now - readAt)} ago `, columns, 'bad')
}

const selectedLines = (lock: ListedLock | undefined, columns: number): readonly Row[] => {
  const { name = '', holders: [holder] = [] } = lock ?? {}
  return [
    line(lock === undefined ? '' : ` ${plainMessage(name)}`, columns),
    line(holder === undefined ? '' : ` owner ${plainMessage(holder.owner)}`, columns, 'dim'),
  ]
}

/** The picture of the whole terminal: as many rows as it has, each as wide. */
export const frame = (snapshot: Snapshot, view: View, size: Size, server: readonly string[]): readonly Row[] => {
  const { columns, rows: height } = size
  if (columns < LEAST.columns || height < LEAST.rows)
    return [line(`This terminal is too small: ${LEAST.columns} x ${LEAST.rows} at least`, columns)]
  if (view.page === 'help') return pageOf('Keys', HELP, size)
  const rows = rowsFor(snapshot.locks, view, snapshot.now)
  const lock = rows[selectedRow(rows, view)]
  if (view.page === 'lock') {
    // The selected lock may be gone, and another one must not be shown in its place.
    const asked = snapshot.shown?.id === view.selected ? snapshot.shown : undefined
    const shown = asked === undefined ? snapshot.locks.find((one) => idOf(one) === view.selected) : asked.lock
    const lines =
      shown === undefined
        ? ['It is neither held nor waited for any more.']
        : described(shown, snapshot.now, server, { glue: SHORT_LINES, ...(asked && { signs: asked.signs }) })
    return pageOf('One lock', lines, size)
  }
  return [
    headOf(snapshot, size),
    line(statusOf(rows, view, size), columns, 'dim'),
    ...listOf(rows, snapshot, view, size),
    ...selectedLines(lock, columns),
    line(view.typing ? TYPING : KEYS, columns, 'dim'),
  ]
}
