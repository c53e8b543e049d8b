import { plainMessage, plainText, quoted } from './plain-text.js'
import { textOf } from './thrown.js'

/** Every code that an error of holdfast carries; `EngineErrorCode` are those of an `EngineError`. */
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
 * `OFFLINE`: nothing was sent. `NO_REPLY`: it was sent, and no answer came. `BAD_REPLY`: what came is no answer to it. `SERVER`: the server said no in words of its
 * own (see the message). `WRONG_KIND`: something else stands under the name, and it was not touched. All others are the first
 * word of the server's answer, as it sent it.
 */
export type EngineErrorCode =
  'OFFLINE' | 'NO_REPLY' | 'BAD_REPLY' | 'SERVER' | 'WRONG_KIND' | (typeof SERVER_CODES)[number]

const BRANDS = Symbol.for('holdfast.error')

export interface ErrorDetails {
  readonly target?: string | undefined
  readonly cause?: unknown
}

interface Branded {
  readonly brand: string
  readonly prototype: object
}

/** The base of all errors of this library. `instanceof` holds across two installed copies of the package. */
export class HoldfastError extends Error {
  static readonly brand: string = 'HoldfastError'
  /** What happened: `docs/errors.md` lists them. */
  readonly code: ErrorCode
  /** The name of the lock or synchronizer that the error is about. */
  readonly target: string | undefined
  /** The names of this class and of its bases: what a second copy of the package knows it by. */
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
      // A subclass of the user's own has no brand of its own and is told apart as any class is.
      if (!Object.hasOwn(this, 'brand')) return Object.prototype.isPrototypeOf.call(this.prototype, value)
      return BRANDS in value && (value[BRANDS] as readonly string[]).includes(this.brand)
    } catch {
      // A proxy may throw at any question.
      return false
    }
  }
}

/** The wait ended before the lock was acquired. */
export class AcquireTimeoutError extends HoldfastError {
  static override readonly brand = 'AcquireTimeoutError'
  constructor(target: string, wait: number, cause?: unknown) {
    super('ACQUIRE_TIMEOUT', `${quoted(target)} could not be acquired within ${wait} ms`, { target, cause })
  }
}

/** The hold is not ours any more, or can no longer be trusted to be. */
export class LockLostError extends HoldfastError {
  static override readonly brand = 'LockLostError'
  /** What the work of a `using` returned although the hold was lost by then. */
  readonly result: unknown
  constructor(target: string, why: string, details: { cause?: unknown; result?: unknown } = {}) {
    super('LOCK_LOST', `the hold of ${quoted(target)} was lost: ${why}`, { target, cause: details.cause })
    this.result = details.result
  }
}

/** Released by somebody who does not hold it. Nothing was changed. */
export class NotOwnerError extends HoldfastError {
  static override readonly brand = 'NotOwnerError'
  constructor(target: string, owner: string) {
    super('NOT_OWNER', `${quoted(target)} is not held by ${owner}`, { target })
  }
}

/** The permits of a semaphore, or the rate of a limiter, were never set, or are gone. */
export class NotInitializedError extends HoldfastError {
  static override readonly brand = 'NotInitializedError'
  constructor(target: string, what: 'rate is' | 'permits are' = 'rate is') {
    super('NOT_INITIALIZED', `no ${what} set for ${quoted(target)}`, { target })
  }
}

/** Waiting would never end: only the waiting code itself could release what it waits for. */
export class DeadlockError extends HoldfastError {
  static override readonly brand = 'DeadlockError'
  constructor(target: string, why: string, cause?: unknown) {
    super('DEADLOCK', `${quoted(target)} can never be acquired here: ${why}`, { target, cause })
  }
}

/** As many calls as `maxWaiters` allows wait in this client already. */
export class BusyError extends HoldfastError {
  static override readonly brand = 'BusyError'
  /** How many may wait: the option of the client. */
  readonly maxWaiters: number
  constructor(target: string, maxWaiters: number, cause?: unknown) {
    super('BUSY_CLIENT', `${quoted(target)}: ${maxWaiters} calls wait in this client already (maxWaiters)`, {
      target,
      cause,
    })
    this.maxWaiters = maxWaiters
  }
}

/** What went wrong with one member of a multi-lock or red-lock. */
export interface MemberFailure {
  /** Its place among the locks that it was given. */
  readonly index: number
  /** Its name. */
  readonly name: string
  /** Why it failed. */
  readonly error: unknown
}

/**
 * Locks of a multi-lock or red-lock failed; what had been taken of the others was given back. Where all that failed say the
 * same of the whole (`ClosedError`, `BusyError`, `DeadlockError`), that is what is thrown, and this is its cause.
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
    super('MEMBERS', `${quoted(target)} failed in ${told}`, { target, cause: errors[0]?.error })
    this.errors = errors
  }
}

/** It was taken, but none of the server's replicas said in time that it has it; it was given back. */
export class ReplicationError extends HoldfastError {
  static override readonly brand = 'ReplicationError'
  constructor(target: string, replicas: number, timeout: number, cause?: unknown) {
    const all = replicas === 1 ? 'the replica' : `any of the ${replicas} replicas`
    super('REPLICATION', `${quoted(target)} did not reach ${all} within ${timeout} ms, and was given back`, {
      target,
      cause,
    })
  }
}

/** The computation that this call shared has failed in another process. */
export class FlightError extends HoldfastError {
  static override readonly brand = 'FlightError'
  /** The `name` of the error that its work threw. */
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

/** The settings cannot be used; the message says what to do. */
export class ConfigError extends HoldfastError {
  static override readonly brand = 'ConfigError'
  constructor(message: string, cause?: unknown) {
    super('CONFIG', message, { cause })
  }
}

/** The server refused, or could not be asked; `code` tells which. */
export class EngineError extends HoldfastError {
  static override readonly brand = 'EngineError'
  /** What the server, or the connection, said. */
  declare readonly code: EngineErrorCode
  constructor(code: EngineErrorCode, message: string, details: ErrorDetails = {}) {
    super(code, message, details)
  }
}

/**
 * What a server says of a command that it does not know has the command's arguments in it, those of AUTH or HELLO too; and newer
 * servers name the user, whom who connects by URL has there beside the password.
 */
export const withoutSecrets = (text: string): string =>
  text
    .replace(/,? with args beginning with:.*$/s, '')
    .replace(/\bUser \S+ has no permissions/, 'The user has no permissions')

/** Something else stands under the name: so our scripts say, or the server, where it is of another type, no count, or one at its end. */
const WRONG_KIND =
  /^(?:WRONGKIND (.*)|WRONGTYPE .*|ERR (?:hash )?value is not an integer.*|ERR increment or decrement would overflow.*)$/s

const wrongKind = (text: string, target: string | undefined): EngineError | undefined => {
  const [said, found] = WRONG_KIND.exec(text) ?? []
  // A script of the caller's own has the server's words.
  if (said === undefined || (found === undefined && target === undefined)) return undefined
  const what = found ?? `a value of another kind: ${said}`
  const where = target === undefined ? 'the key' : `the key of ${quoted(target)}`
  return new EngineError('WRONG_KIND', `${where} holds ${what}`, { target })
}

/** What the server says in other words: within a script, some only since 7.0, or before it has taken in the command. */
const OTHER_WORDS: readonly (readonly [words: RegExp, code: EngineErrorCode])[] = [
  [/^ERR The user executing the script can't/, 'NOPERM'],
  // A key that it has declared has gone to another node meanwhile.
  [/^ERR Script attempted to access a non local key/, 'TRYAGAIN'],
  [/^ERR Script attempted to execute a (?:write )?command while the cluster is down/, 'CLUSTERDOWN'],
  // Whoever has not said who it is may send no long command: the connection is cut.
  [/^ERR Protocol error: unauthenticated (?:multi)?bulk length/, 'NOAUTH'],
]

/** A script that a cluster ended midway. */
export const isBrokenOff = (text: string): boolean => text.startsWith('ERR Script attempted')

/** An error reply as an `EngineError`: its own text, its first word as the code. */
export const serverError = (reply: string, target?: string): EngineError => {
  const text = withoutSecrets(reply)
  const foreign = wrongKind(text, target)
  if (foreign !== undefined) return foreign
  const [, known] = OTHER_WORDS.find(([words]) => words.test(text)) ?? []
  const word = /^[A-Z]+\b/.exec(text)?.[0]
  return new EngineError(known ?? SERVER_CODES.find((code) => code === word) ?? 'SERVER', text, { target })
}
