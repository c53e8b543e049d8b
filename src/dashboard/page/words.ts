import { spanOf } from '../../cli/text/time-span.js'
import { plainText } from '../../plain-text.js'
import { LONGEST, type Person, type ShownLock } from '../page-messages.js'

export { spanOf }

/** A text that others wrote, with what cannot be seen made visible. */
export const shown = (text: string): string => plainText(text, LONGEST + 1)

export const whoIs = ({ label, short }: Pick<Person, 'label' | 'short'>): string =>
  label === undefined ? `client ${shown(short)}` : shown(label)

const two = (number: number): string => String(number).padStart(2, '0')

/** A time of today without its date. Both in the time zone of the browser. */
export const timeOf = (at: number, now: number): string => {
  const [date, today] = [new Date(at), new Date(now)]
  const time = date.toLocaleTimeString('en-GB')
  if (date.toDateString() === today.toDateString()) return time
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`
}

export const age = ({ since }: Pick<Person, 'since'>, now: number): string => spanOf(Math.max(0, now - since))

const KINDS: Readonly<Record<string, string>> = {
  lock: 'lock',
  nonReentrantLock: 'non-reentrant lock',
  spinLock: 'spin lock',
  fencedLock: 'fenced lock',
  fairLock: 'fair lock',
  nonReentrantFairLock: 'non-reentrant fair lock',
  readWriteLock: 'read-write lock',
  fairReadWriteLock: 'fair read-write lock',
  keyedLock: 'keyed lock',
  semaphore: 'semaphore',
  permitSemaphore: 'permit semaphore',
  rateLimiter: 'rate limiter',
  countDownLatch: 'latch',
}

export const ROLES = { election: 'election', slot: 'scheduled slot' } as const

export const kindText = (kind: string): string => KINDS[kind] ?? shown(kind)

export const isShared = ({ kind }: ShownLock): boolean =>
  kind === 'semaphore' || kind === 'permitSemaphore' || kind === 'rateLimiter' || kind === 'countDownLatch'

/** Of what nobody owns: how many permits there are. */
const rateText = ({ available, permits = 0, interval }: ShownLock): string => {
  const window = interval === undefined ? 'per interval' : `per ${spanOf(interval).replace(/(?<=[mhd])00[smh]$/, '')}`
  if (available === undefined) return `${count(permits, 'permit')} ${window}`
  return `${available.toLocaleString('en')} of ${count(permits, 'permit')} ${window} left`
}

/** Of a rate limiter: which part of its window is used. */
export const usedOf = ({ kind, available, permits = 0 }: ShownLock): number | undefined =>
  kind !== 'rateLimiter' || available === undefined || permits <= 0 ? undefined : 1 - Math.min(1, available / permits)

export const permitsText = (lock: ShownLock): string => {
  const { kind, available = 0, permits = 0 } = lock
  if (kind === 'countDownLatch') return `count ${available}`
  if (kind === 'rateLimiter') return rateText(lock)
  return permits > 0 ? `${available} of ${permits} permits available` : `${available} permits available`
}

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`

const HUES = 8
const MOST_CLIENTS = 10_000
const hues = new Map<string, number>()

/** One of eight colours for each client, in the order in which the page meets them: the first eight differ. */
export const hueOf = (client: string): number => {
  if (hues.size > MOST_CLIENTS) hues.clear()
  const hue = hues.get(client) ?? hues.size % HUES
  hues.set(client, hue)
  return hue
}
