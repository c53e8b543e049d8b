import type { DeadlockedCall } from './api/deadlock.js'
import { plainMessage, plainText, quoted } from './plain-text.js'
import { textOf } from './thrown.js'

/** Every `code` of an error of holdfast. Those of an `EngineError` are the type `EngineErrorCode`. */
export type ErrorCode =
  | 'ACQUIRE_TIMEOUT'
  | 'LOCK_LOST'
  | 'NOT_OWNER'
  | 'NOT_INITIALIZED'
  | 'DEADLOCK'
  | 'BUSY_CLIENT'
  | 'CLOSED'
  | 'CONFIG'
  | 'NESTED_HOLD'
  | 'MEMBERS'
  | 'REPLICATION'
  | 'UNSUPPORTED'
  | 'FLIGHT'
  | EngineErrorCode

const SERVER_CODES = [
  'NOSCRIPT',
  'BUSY',
  'UNKILLABLE',
  'NOTBUSY',
  'LOADING',
  'READONLY',
  'MASTERDOWN',
  'OOM',
  'NOPERM',
  'NOAUTH',
  'WRONGPASS',
  'MISCONF',
  'NOREPLICAS',
  'WRONGTYPE',
  'CLUSTERDOWN',
  'MOVED',
  'ASK',
  'TRYAGAIN',
  'CROSSSLOT',
] as const

/**
 * `OFFLINE`: nothing was sent. `NO_REPLY`: the command was sent, and no answer came. `BAD_REPLY`: the reply cannot be the answer to the command. `SERVER`: the
 * server refused with any other error (see the message). `WRONG_KIND`: something else is stored under the name, and it was not touched. All others are the first
 * word of the server's answer, as it sent it.
 */
export type EngineErrorCode =
  'OFFLINE' | 'NO_REPLY' | 'BAD_REPLY' | 'SERVER' | 'WRONG_KIND' | (typeof SERVER_CODES)[number]

const BRANDS = Symbol.for('holdfast.error')

/** What an error carries besides its code and message. */
export interface ErrorDetails {
  readonly target?: string | undefined
  readonly cause?: unknown
}

interface Branded {
  readonly brand: string
  readonly prototype: object
}

/** The base class of all errors of this library. `instanceof` works across two installed copies of the package. */
export class HoldfastError extends Error {
  static readonly brand: string = 'HoldfastError'
  /** What went wrong. `docs/errors.md` lists all codes. */
  readonly code: ErrorCode
  /** The name of the lock or synchronizer that the error is about. */
  readonly target: string | undefined
  /** The names of this class and its base classes. A second copy of the package recognizes the error by them. */
  readonly [BRANDS]: readonly string[]

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(plainMessage(message), details.cause === undefined ? undefined : { cause: details.cause })
    const brand = new.target.brand
    this.name = brand
    this.code = code
    this.target = details.target
    this[BRANDS] = brand === 'HoldfastError' ? [brand] : ['HoldfastError', brand]
    Object.defineProperty(this, BRANDS, { enumerable: false })
    Object.defineProperty(this, 'name', { enumerable: false })
  }

  static override [Symbol.hasInstance](this: Branded, value: unknown): boolean {
    if (typeof value !== 'object' || value === null) return false
    try {
      // A subclass of the user's own has no brand of its own and is recognized as any class is.
      if (!Object.hasOwn(this, 'brand')) return Object.prototype.isPrototypeOf.call(this.prototype, value)
      return BRANDS in value && (value[BRANDS] as readonly string[]).includes(this.brand)
    } catch {
      // A proxy may throw at any question.
      return false
    }
  }
}

/** The wait timed out before the lock was acquired. */
export class AcquireTimeoutError extends HoldfastError {
  static override readonly brand = 'AcquireTimeoutError'
  constructor(target: string, wait: number, cause?: unknown) {
    super('ACQUIRE_TIMEOUT', `could not acquire ${quoted(target)} within ${wait} ms`, { target, cause })
  }
}

/** The hold is not yours any more, or can no longer be trusted. */
export class LockLostError extends HoldfastError {
  static override readonly brand = 'LockLostError'
  /** What the work of a `using` returned, if the hold was lost by then. */
  readonly result: unknown
  constructor(target: string, why: string, details: { cause?: unknown; result?: unknown } = {}) {
    super('LOCK_LOST', `the hold of ${quoted(target)} was lost: ${why}`, { target, cause: details.cause })
    this.result = details.result
  }
}

/** The caller does not hold the lock or the permit. Nothing was changed. */
export class NotOwnerError extends HoldfastError {
  static override readonly brand = 'NotOwnerError'
  constructor(target: string, owner: string) {
    super('NOT_OWNER', `${quoted(target)} is not held by ${owner}`, { target })
  }
}

/** The permits of a semaphore, or the rate of a limiter, were never set, or were deleted or have expired. */
export class NotInitializedError extends HoldfastError {
  static override readonly brand = 'NotInitializedError'
  constructor(target: string, what: 'rate is' | 'permits are' = 'rate is') {
    super(
      'NOT_INITIALIZED',
      `the ${what} not set for ${quoted(target)}: call ${what === 'rate is' ? 'trySetRate' : 'trySetPermits'} first`,
      { target },
    )
  }
}

/** The wait would never end: only the waiting code itself, or code that waits for it, could release what it waits for. */
export class DeadlockError extends HoldfastError {
  static override readonly brand = 'DeadlockError'
  /** The calls that wait for one another, if other calls are part of it: each waits for what the next one holds, and the last one for what the first holds. */
  readonly cycle: readonly DeadlockedCall[] | undefined
  constructor(target: string, why: string, cause?: unknown, cycle?: readonly DeadlockedCall[]) {
    super('DEADLOCK', `${quoted(target)} can never be acquired here: ${why}`, { target, cause })
    this.cycle = cycle
  }
}

/** As many calls as `maxWaiters` allows already wait in this client. */
export class BusyError extends HoldfastError {
  static override readonly brand = 'BusyError'
  /** How many calls may wait: the option of the client. */
  readonly maxWaiters: number
  constructor(target: string, maxWaiters: number, cause?: unknown) {
    super(
      'BUSY_CLIENT',
      `cannot wait for ${quoted(target)}: ${maxWaiters} calls already wait in this client (maxWaiters)`,
      {
        target,
        cause,
      },
    )
    this.maxWaiters = maxWaiters
  }
}

/** The error of one member of a multi-lock or red-lock. */
export interface MemberFailure {
  /** The member's index among the locks that you passed. */
  readonly index: number
  /** The name of the member. */
  readonly name: string
  /** Why the member failed. */
  readonly error: unknown
}

/**
 * Locks of a multi-lock or red-lock failed. Others that it had acquired were released. If all failures are a `ClosedError`, or all a `BusyError`, or all a
 * `DeadlockError`, the call rejects with such an error instead, and this one is its `cause`.
 */
export class MembersError extends HoldfastError {
  static override readonly brand = 'MembersError'
  /** One for each member that failed, in the order of the members. */
  readonly errors: readonly MemberFailure[]
  constructor(target: string, failures: readonly MemberFailure[]) {
    const errors = [...failures].sort((one, other) => one.index - other.index)
    const told = errors
      .map(({ index, name, error }) => `[${index}] ${quoted(name)}: ${plainText(textOf(error), 200)}`)
      .join('; ')
    super('MEMBERS', `members of ${quoted(target)} failed: ${told}`, { target, cause: errors[0]?.error })
    this.errors = errors
  }
}

/** It was acquired, but none of the server's replicas confirmed that in time, so it was released. */
export class ReplicationError extends HoldfastError {
  static override readonly brand = 'ReplicationError'
  constructor(target: string, replicas: number, timeout: number, cause?: unknown) {
    const none = replicas === 1 ? 'the replica did not confirm' : `none of the ${replicas} replicas confirmed`
    super('REPLICATION', `${none} ${quoted(target)} within ${timeout} ms, so it was released`, {
      target,
      cause,
    })
  }
}

/** The computation that this call shared failed in another process. */
export class FlightError extends HoldfastError {
  static override readonly brand = 'FlightError'
  /** The `name` of the error that the work threw there. */
  readonly thrown: string
  constructor(target: string, thrown: string, why: string) {
    const said = `${plainText(thrown)}: ${plainMessage(why)}`
    super('FLIGHT', `the computation of ${quoted(target)} failed in another process: ${said}`, { target })
    this.thrown = thrown
  }
}

/** The client is closed. */
export class ClosedError extends HoldfastError {
  static override readonly brand = 'ClosedError'
  constructor(target?: string, cause?: unknown) {
    const message = target === undefined ? 'the client is closed' : `${quoted(target)}: the client is closed`
    super('CLOSED', message, { target, cause })
  }
}

/** The settings cannot be used. The message says what to do. */
export class ConfigError extends HoldfastError {
  static override readonly brand = 'ConfigError'
  constructor(message: string, cause?: unknown) {
    super('CONFIG', message, { cause })
  }
}

/** The server refused, or could not be asked. `code` says which. */
export class EngineError extends HoldfastError {
  static override readonly brand = 'EngineError'
  /** What the server refused, or why it could not be asked. */
  declare readonly code: EngineErrorCode
  constructor(code: EngineErrorCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details)
  }
}

/**
 * Removes secrets from a server's error. An error about an unknown command contains the command's arguments, also those of AUTH or HELLO. Newer servers also name
 * the user, which stands next to the password in a URL.
 */
export const withoutSecrets = (text: string): string =>
  text
    .replace(/,? with args beginning with:.*$/s, '')
    .replace(/\bUser \S+ has no permissions/, 'The user has no permissions')

/** Something else is stored under the name. Our scripts say so, or the server does: it is of another type, not a count, or a count at its limit. */
const WRONG_KIND =
  /^(?:WRONGKIND (.*)|WRONGTYPE .*|ERR (?:hash )?value is not an integer.*|ERR increment or decrement would overflow.*)$/s

const wrongKind = (text: string, target: string | undefined): EngineError | undefined => {
  const [said, found] = WRONG_KIND.exec(text) ?? []
  // A script of the caller's own has the server's words.
  if (said === undefined || (found === undefined && target === undefined)) return undefined
  const what = found ?? `a value of another kind: ${said}`
  const where = target === undefined ? 'a key' : `a key of ${quoted(target)}`
  return new EngineError('WRONG_KIND', `${where} holds ${what}`, { target })
}

/** Errors that the server words differently: within a script (some only since 7.0), or before it has read the whole command. */
const OTHER_WORDS: readonly (readonly [words: RegExp, code: EngineErrorCode])[] = [
  [/^ERR The user executing the script can't/, 'NOPERM'],
  // A key that it has declared has gone to another node meanwhile.
  [/^ERR Script attempted to access a non local key/, 'TRYAGAIN'],
  [/^ERR Script attempted to execute a (?:write )?command while the cluster is down/, 'CLUSTERDOWN'],
  // A client that is not logged in may not send a long command: the connection is cut.
  [/^ERR Protocol error: unauthenticated (?:multi)?bulk length/, 'NOAUTH'],
]

/** Whether a cluster ended a script midway. */
export const isBrokenOff = (text: string): boolean => text.startsWith('ERR Script attempted')

/** Turns an error reply into an `EngineError`: its text is the message, its first word the code. */
export const serverError = (reply: string, target?: string): EngineError => {
  const text = withoutSecrets(reply)
  const foreign = wrongKind(text, target)
  if (foreign !== undefined) return foreign
  const [, known] = OTHER_WORDS.find(([words]) => words.test(text)) ?? []
  const word = /^[A-Z]+\b/.exec(text)?.[0]
  return new EngineError(known ?? SERVER_CODES.find((code) => code === word) ?? 'SERVER', text, { target })
}
