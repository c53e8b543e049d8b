import type { CloseOptions } from './api/client.js'
import type { ReleaseMode } from './api/hold.js'
import type { AcquireOptions, SpinBackoff } from './api/lock.js'
import type { RateOptions } from './api/rate-limiter.js'
import type { SetupOptions, WaitOptions } from './api/wait-options.js'
import { isOwner } from './base/owner.js'
import { OPTIONS } from './call-options.js'
import { alike } from './did-you-mean.js'
import { plainMessage, plainText, quoted } from './plain-text.js'
import { kindOf, textOf } from './thrown.js'

export { OPTIONS }

/** Checks of arguments. Each error names the argument and its value, and comes before anything is sent. */

export const show = (value: unknown): string => {
  if (typeof value === 'string')
    return plainMessage(JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value))
  if (typeof value === 'bigint') return plainText(`${value}n`)
  return typeof value === 'object' && value !== null ? kindOf(value) : textOf(value)
}

/** The most bytes of names, keys and labels, so that everything sent about them fits into a command. */
const LONGEST = 65_536
/** Half of a surrogate pair: programs do not agree on its bytes. */
const LONE = /\p{Surrogate}/u
/** The most keys of one keyed lock, and of a ticket: each costs the server some microseconds in each script, beside which nothing else runs. */
export const MOST_KEYS = 10_000

/** For text that goes to the server and comes back unchanged. */
export const checkWire = (value: string, what: string): string => {
  // A UTF-16 unit takes at most three bytes.
  const bytes = value.length * 3 <= LONGEST ? 0 : new TextEncoder().encode(value).length
  if (bytes > LONGEST) throw new TypeError(`${what} must have at most ${LONGEST} bytes, not ${bytes}: ${show(value)}`)
  if (LONE.test(value)) throw new TypeError(`${what} must not contain half a surrogate pair: ${show(value)}`)
  return value
}

/** A text that is not empty. */
export const checkWords = (value: unknown, what: string): string => {
  if (typeof value !== 'string') throw new TypeError(`${what} must be a string, not ${show(value)}`)
  if (value === '') throw new TypeError(`${what} must not be empty: ''`)
  return value
}

export const checkName = (name: unknown, what = 'name'): string => checkWire(checkWords(name, what), what)

/** For text that people read. */
export const checkLabel = (label: unknown, what = 'label'): string => {
  checkText(label, what)
  return checkWire(label as string, what)
}

export const checkKeys = (keys: unknown): readonly string[] => {
  if (!Array.isArray(keys)) throw new TypeError(`keys must be an array of strings, not ${show(keys)}`)
  if (keys.length === 0) throw new RangeError('keys must contain at least one key')
  if (keys.length > MOST_KEYS) throw new RangeError(`keys must contain at most ${MOST_KEYS} keys, not ${keys.length}`)
  return Array.from(keys as unknown[], (key, index) => {
    if (typeof key !== 'string') throw new TypeError(`keys[${index}] must be a string, not ${show(key)}`)
    return checkWire(key, `keys[${index}]`)
  })
}

const checkNumber = (value: unknown, what: string): number => {
  if (typeof value !== 'number') throw new TypeError(`${what} must be a number of milliseconds, not ${show(value)}`)
  return value
}

/** The longest lease, ms: added to the server's clock, it is still a whole number in Lua. */
export const LONGEST_LEASE = 2 ** 52
/** A lease is a positive whole number of ms. */
export const checkLease = (value: unknown, what = 'lease'): number => {
  const lease = checkNumber(value, what)
  if (!Number.isInteger(lease) || lease < 1) {
    throw new RangeError(`${what} must be a whole number of milliseconds above 0, not ${show(value)}`)
  }
  if (lease > LONGEST_LEASE)
    throw new RangeError(`${what} must be at most ${LONGEST_LEASE} milliseconds, not ${show(value)}`)
  return lease
}

/** The longest timeout of a client, ms: some 25 days, the maximum of a timer in Node, and of a socket. */
export const LONGEST_TIMEOUT = 2_147_483_647

/**
 * A timeout that a client is connected with. On the server, the timeouts of the waiters in a line are added up. The sum of many of
 * the longest is still a whole number in Lua.
 */
export const checkTimeout = (value: unknown, what: string): number => {
  const timeout = checkLease(value, what)
  if (timeout <= LONGEST_TIMEOUT) return timeout
  throw new RangeError(`${what} must be at most ${LONGEST_TIMEOUT} milliseconds (24.8 days), not ${show(value)}`)
}

/** A wait is 0 or more ms; Infinity is no limit. */
export const checkWait = (value: unknown, what = 'wait'): number => {
  const wait = checkNumber(value, what)
  if (!(wait >= 0)) throw new RangeError(`${what} must be 0 or more milliseconds, or Infinity, not ${show(value)}`)
  return wait
}

export const checkCount = (value: unknown, what: string): number => {
  if (typeof value !== 'number') throw new TypeError(`${what} must be a number, not ${show(value)}`)
  if (value !== Infinity && (!Number.isSafeInteger(value) || value < 1)) {
    throw new RangeError(`${what} must be a whole number above 0, or Infinity, not ${show(value)}`)
  }
  return value
}

/** The largest number that Redisson's clients can read. */
const MOST = 2_147_483_647
/** A number of permits, or the count of a latch. */
export const checkAmount = (value: unknown, what: string, least: number, most = MOST): number => {
  if (typeof value !== 'number') throw new TypeError(`${what} must be a number, not ${show(value)}`)
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${what} must be a whole number from ${least} to ${most}, not ${show(value)}`)
  }
  return value
}

/** How often a slot is run again. */
export const checkRetry = (retry: unknown): number => checkAmount(retry, 'retry', 0, 1000)

export const checkKnown = (options: object, known: readonly string[]): void => {
  for (const key of Object.keys(options)) {
    if (known.includes(key)) continue
    const meant = alike(key, known)
    const hint = meant === undefined ? '' : ` (did you mean '${meant}'?)`
    throw new TypeError(`there is no option ${quoted(key)}${hint}; the options are ${known.join(', ')}`)
  }
}

export const checkOptions = <O extends object>(options: O | undefined, known: readonly string[]): Partial<O> => {
  if (options === undefined) return {}
  if (typeof options !== 'object' || (options as unknown) === null)
    throw new TypeError(`options must be an object, not ${show(options)}`)
  if (isSignal(options)) throw new TypeError('options must be an object, such as { signal }, not the signal itself')
  checkKnown(options, known)
  return readOnce(options, known)
}

/** Copies the caller's object, because a getter might return another value after the checks. */
export const readOnce = <O extends object>(options: O, known: readonly string[]): O =>
  Object.fromEntries(known.filter((key) => key in options).map((key) => [key, options[key as keyof O]])) as O

/** For methods that take a name and no options. */
export const checkNoMore = (more: readonly unknown[]): void => {
  const [first] = more
  if (first === undefined) return
  const which = typeof first === 'object' && first !== null ? Object.keys(first)[0] : undefined
  throw new TypeError(`this call takes no options, but got ${which === undefined ? show(first) : quoted(which)}`)
}

/** `using(work)` or `using(options, work)`; in the same way `lead` and `run`. */
export const usingArgs = <O extends object, W extends (...args: never[]) => unknown>(
  first: O | W | undefined,
  second: W | undefined,
): readonly [options: O | undefined, work: W] => {
  const isWork = typeof first === 'function'
  if (isWork && second !== undefined) throw new TypeError('the options come before the work: (options, work)')
  // Without a second argument, the first one that is no object was meant as the work.
  const work = isWork || (second === undefined && typeof first !== 'object') ? first : second
  checkFunction(work, 'work')
  return [isWork ? undefined : first, work as W]
}

/** Options of a call that may wait. */
export const checkWaiting = <O extends WaitOptions>(options: O | undefined, known: readonly string[]): Partial<O> => {
  const checked = checkOptions(options, known)
  if (checked.wait !== undefined) checkWait(checked.wait)
  if (checked.signal !== undefined) checkSignal(checked.signal, 'signal')
  return checked
}

/** Whether a call that waits requires permits, or a rate, that were set. */
export const needsSetup = ({ waitForSetup }: SetupOptions = {}): boolean => {
  if (waitForSetup !== undefined) checkFlag(waitForSetup, 'waitForSetup')
  return waitForSetup !== true
}

export const checkRate = (rate: RateOptions, known: readonly string[]): RateOptions => {
  if (typeof rate !== 'object' || (rate as unknown) === null)
    throw new TypeError(`rate must be an object, not ${show(rate)}`)
  checkKnown(rate, known)
  const read = readOnce(rate, known)
  const { permits, interval, scope, keepAlive, keepState } = read
  checkAmount(permits, 'permits', 1)
  checkLease(interval, 'interval')
  if (!([undefined, 'overall', 'client'] as unknown[]).includes(scope))
    throw new TypeError(`scope must be 'overall' or 'client', not ${show(scope)}`)
  if (keepAlive !== undefined && checkLease(keepAlive, 'keepAlive') < interval)
    throw new RangeError(`keepAlive must be at least the interval (${interval}), not ${show(keepAlive)}`)
  if (keepState !== undefined) checkFlag(keepState, 'keepState')
  return read
}

export const checkBackoff = (backoff: SpinBackoff | undefined): SpinBackoff | undefined => {
  if (backoff === undefined) return undefined
  if (typeof backoff !== 'object' || (backoff as unknown) === null)
    throw new TypeError(`backoff must be an object, not ${show(backoff)}`)
  checkKnown(backoff, OPTIONS.backoff)
  const read = readOnce(backoff, OPTIONS.backoff)
  for (const part of OPTIONS.backoff) {
    const value: unknown = (read as Record<string, unknown>)[part]
    if (value === undefined) continue
    if (typeof value !== 'number') throw new TypeError(`backoff.${part} must be a number, not ${show(value)}`)
    if (!(value >= 1 && value < Infinity))
      throw new RangeError(`backoff.${part} must be a number of at least 1, not ${show(value)}`)
  }
  return read
}

const isSignal = (value: unknown): value is AbortSignal =>
  typeof value === 'object' && value !== null && 'aborted' in value && 'addEventListener' in value

const SIGNAL_METHODS = ['throwIfAborted', 'addEventListener', 'removeEventListener'] as const

export const checkSignal = (value: unknown, what: string): void => {
  const missing = isSignal(value) ? SIGNAL_METHODS.find((method) => typeof value[method] !== 'function') : ''
  if (missing === undefined) return
  const why = missing === '' ? '' : `: it has no ${missing}()`
  throw new TypeError(`${what} must be an AbortSignal, not ${show(value)}${why}`)
}

export const checkAcquire = (options: AcquireOptions | undefined): AcquireOptions => {
  const checked = checkWaiting(options, OPTIONS.acquire)
  if (checked.lease !== undefined) checkLease(checked.lease)
  if (checked.owner !== undefined) checkOwner(checked.owner)
  if (checked.renew !== undefined) checkFlag(checked.renew, 'renew')
  checkRelease(checked.release)
  if (checked.renew === false && checked.lease === undefined)
    throw new TypeError('renew: false needs a lease, because the hold must end at some time')
  return checked
}

export const checkRelease = (value: unknown): ReleaseMode | undefined => {
  if (value === undefined || value === 'answered' || value === 'sent') return value
  throw new TypeError(`release must be 'answered' or 'sent', not ${show(value)}`)
}

export const checkOwner = (owner: unknown): void => {
  if (!isOwner(owner)) throw new TypeError(`owner must come from client.owner() or a hold, not ${show(owner)}`)
}

export const checkFunction = (value: unknown, what: string): void => {
  if (typeof value !== 'function') throw new TypeError(`${what} must be a function, not ${show(value)}`)
}

export const checkText = (value: unknown, what: string): void => {
  if (typeof value !== 'string') throw new TypeError(`${what} must be a string, not ${show(value)}`)
}

export const checkFlag = (value: unknown, what: string, may = 'true or false'): void => {
  if (typeof value !== 'boolean') throw new TypeError(`${what} must be ${may}, not ${show(value)}`)
}

export const checkMethods = (value: unknown, what: string, methods: readonly string[]): void => {
  const object = typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  const missing = methods.find((method) => typeof object[method] !== 'function')
  if (missing !== undefined) throw new TypeError(`${what} must have a method ${missing}(), not ${show(value)}`)
}

export const checkClose = (options: CloseOptions | undefined): CloseOptions => {
  const checked = checkOptions(options, OPTIONS.close)
  if (checked.release !== undefined) checkFlag(checked.release, 'release')
  if (checked.drain !== undefined && checkWait(checked.drain, 'drain') === Infinity)
    throw new RangeError('drain must be a number of milliseconds, not Infinity: the process has to end')
  return checked
}

export const checkFair = (options: { readonly fair?: boolean | undefined } | undefined): boolean => {
  const { fair } = checkOptions(options, OPTIONS.readWriteLock)
  if (fair !== undefined) checkFlag(fair, 'fair')
  return fair === true
}

export const checkListener = (event: unknown, listener: unknown): void => {
  const events: readonly unknown[] = ['error', 'uncertain', 'lost', 'reconnect', 'deadlock']
  if (!events.includes(event)) throw new TypeError(`event must be one of ${events.join(', ')}, not ${show(event)}`)
  checkFunction(listener, 'listener')
}
