import type { ListedLock } from '../../api/listing.js'
import { plainText } from '../../plain-text.js'
import { UsageError } from '../usage-error.js'

export const ORDERS = ['WAITED', 'WAITING', 'AGE', 'LEFT', 'NAME'] as const
export type Order = (typeof ORDERS)[number]

/** The order of `--sort`. */
export const orderOf = (text: string): Order => {
  const order = ORDERS.find((one) => one === text.trim().toUpperCase())
  if (order !== undefined) return order
  throw new UsageError(`--sort must be one of ${ORDERS.join(', ')}, not "${plainText(text)}"`)
}

type People = ListedLock['holders'] | ListedLock['waiting']

/** Since when the one has been there who has been there longest. */
const oldest = (people: People): number =>
  people.reduce((least, { since = Infinity }) => Math.min(least, since), Infinity)

/** Small values come first: the longest wait, the most waiters, the oldest hold, the shortest lease. */
const VALUES: Readonly<Record<Exclude<Order, 'NAME'>, (lock: ListedLock) => number>> = {
  WAITED: ({ waiting }) => oldest(waiting),
  WAITING: ({ waiting }) => -waiting.length,
  AGE: ({ holders }) => oldest(holders),
  LEFT: ({ remaining = Infinity }) => remaining,
}

const byName = (one: ListedLock, other: ListedLock): number =>
  one.name < other.name ? -1 : one.name > other.name ? 1 : 0

/** The locks in this order; equal ones by name. */
export const ordered = (locks: readonly ListedLock[], order: Order, reversed: boolean): readonly ListedLock[] => {
  const sign = reversed ? -1 : 1
  if (order === 'NAME') return [...locks].sort((one, other) => sign * byName(one, other))
  const value = VALUES[order]
  // Infinity minus Infinity is no number.
  const compare = (a: number, b: number): number => (a < b ? -sign : a > b ? sign : 0)
  return [...locks].sort((one, other) => compare(value(one), value(other)) || byName(one, other))
}
