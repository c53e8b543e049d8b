import type { ListedLock } from '../../api/listing.js'
import { isBlocked } from '../locks/places.js'
import type { Key } from './keys.js'
import { type Order, ordered, ORDERS } from './order.js'

/** What the user has chosen to see. */
export interface View {
  readonly page: 'list' | 'lock' | 'help'
  readonly order: Order
  readonly reversed: boolean
  readonly filter: string
  /** The keys are for the filter. */
  readonly typing: boolean
  readonly blocked: boolean
  /** The selected lock stays selected when the rows move. */
  readonly selected: string | undefined
  /** Which row is selected, in case its lock is gone. */
  readonly row: number
}

export const FIRST_VIEW: View = {
  page: 'list',
  order: 'WAITED',
  reversed: false,
  filter: '',
  typing: false,
  blocked: false,
  selected: undefined,
  row: 0,
}

/** What a key asks of the program. */
export type Wish = 'quit' | 'interrupt' | 'suspend' | 'refresh'

export const idOf = ({ kind, key }: ListedLock): string => `${kind} ${key}`

const containing = (filter: string): ((lock: ListedLock) => boolean) => {
  const wanted = filter.toLowerCase()
  const has = (text: string | undefined): boolean => text?.toLowerCase().includes(wanted) === true
  return ({ name, kind, holders, waiting }) =>
    has(name) || has(kind) || [...holders, ...waiting].some(({ label, client }) => has(label) || has(client))
}

/** The rows of the list. */
export const rowsFor = (
  locks: readonly ListedLock[],
  { filter, blocked, order, reversed }: View,
  now: number,
): readonly ListedLock[] => {
  const wanted = blocked ? locks.filter((lock) => isBlocked(lock, now)) : locks
  return ordered(filter === '' ? wanted : wanted.filter(containing(filter)), order, reversed)
}

/** The row of the selected lock; if it is gone, the one that is where it was. */
export const selectedRow = (rows: readonly ListedLock[], { selected, row }: View): number => {
  const at = selected === undefined ? -1 : rows.findIndex((lock) => idOf(lock) === selected)
  return Math.max(0, Math.min(rows.length - 1, at >= 0 ? at : row))
}

const select = (view: View, rows: readonly ListedLock[], to: number): View => {
  const row = Math.max(0, Math.min(rows.length - 1, to))
  const lock = rows[row]
  return { ...view, row, selected: lock && idOf(lock) }
}

const typed = (view: View, key: Key): View => {
  if (typeof key === 'object') return { ...view, filter: view.filter + key.typed }
  if (key === 'backspace') return { ...view, filter: view.filter.replace(/.$/u, '') }
  if (key === 'escape') return { ...view, filter: '', typing: false }
  return key === 'enter' ? { ...view, typing: false } : view
}

const nextOrder = (view: View): View => {
  const order = ORDERS[(ORDERS.indexOf(view.order) + 1) % ORDERS.length] ?? 'NAME'
  return { ...view, order, reversed: false }
}

const LETTERS: Readonly<Record<string, (view: View) => View | Wish>> = {
  q: () => 'quit',
  '/': (view) => ({ ...view, typing: true }),
  s: nextOrder,
  r: (view) => ({ ...view, reversed: !view.reversed }),
  b: (view) => ({ ...view, blocked: !view.blocked }),
  '?': (view) => ({ ...view, page: 'help' }),
  h: (view) => ({ ...view, page: 'help' }),
  ' ': () => 'refresh',
}

const MOVES: Readonly<Record<string, (row: number, height: number) => number>> = {
  up: (row) => row - 1,
  k: (row) => row - 1,
  down: (row) => row + 1,
  j: (row) => row + 1,
  'page up': (row, height) => row - height,
  'page down': (row, height) => row + height,
  home: () => 0,
  g: () => 0,
  end: () => Infinity,
  G: () => Infinity,
}

/** What the view becomes, or what the user wishes. `height`: how many rows of the list are shown. */
export const pressed = (view: View, key: Key, rows: readonly ListedLock[], height: number): View | Wish => {
  if (key === 'interrupt' || key === 'suspend') return key
  if (view.typing) return typed(view, key)
  if (view.page !== 'list') return typeof key === 'object' && key.typed === 'q' ? 'quit' : { ...view, page: 'list' }
  const name = typeof key === 'object' ? key.typed : key
  const row = selectedRow(rows, view)
  const move = MOVES[name]
  if (move !== undefined) return select(view, rows, move(row, height))
  if (key === 'enter') return rows.length === 0 ? view : { ...select(view, rows, row), page: 'lock' }
  if (key === 'escape') return { ...view, filter: '', blocked: false }
  return LETTERS[name]?.(view) ?? view
}
