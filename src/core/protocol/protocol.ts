import type { Script } from '../../lua/script.js'

/** A script that gives many holds a full lease in one call: the keys of each, one after the other; a lease, then the owner of each. */
export type RenewScript = Script<readonly [...string[]], readonly [number, ...string[]], readonly number[]>

/** What the server said to an attempt: null is held, otherwise for how many ms it stays another's (-1: no expiry). */
export type Attempt = number | null

export interface ServerState {
  /** ms; -1 without expiry, -2 when free. */
  readonly ttl: number
  readonly holders: readonly {
    readonly owner: string
    readonly count: number
    /** Where there is more than one. */
    readonly mode?: 'read' | 'write'
    /** Where a lock is of several keys: which of them it has. */
    readonly keys?: readonly string[]
  }[]
  /** In order, where the server keeps a line; deadlines in ms since the epoch. */
  readonly waiting?: readonly {
    readonly owner: string
    readonly deadline: number
    /** Where a lock is of several keys: which of them it wants. */
    readonly keys?: readonly string[]
  }[]
  /** There may be others who hold it or wait. */
  readonly more?: true
  /** The newest fencing token of anybody, where holds have them. */
  readonly token?: bigint
}

/** What the server can do for whoever has something: one owner, for one tenure only. */
export interface HeldProtocol {
  /** The key on the server. */
  readonly key: string
  readonly renewal: RenewScript
  /** Others who have it, too, may give the key less time than this owner has: a fixed lease needs upkeep as well. */
  readonly shared?: boolean
  /** What the renewal of this owner's hold is to be given. Default: the key. */
  renewalKeys?(owner: string): readonly string[]
  /** What it is to be told of this owner's hold. Default: the owner. */
  renewalWords?(owner: string): string
  /** A hold may be lost in part: what is left of it is given back. */
  readonly divisible?: boolean
  /** How much work the renewal of a hold of so many levels is, where that may be more than that of a plain lock: 1. */
  weight?(level: number): number
  /** ms left (-1: no expiry), or undefined when it is not this owner's. */
  setLevel(owner: string, level: number, lease: number): Promise<number | undefined>
  /**
   * Only of kinds whose holds have fencing tokens: the one that the last reply brought for this owner, once. Such a hold
   * is never passed on without the server, for the next one needs a token of its own.
   */
  takeToken?(owner: string): bigint | undefined
}

/**
 * The atomic steps of one lock: all that a kind says. It never subscribes, sets a timer or loops.
 * Owners are wire names, each for one tenure only; every step may be repeated with the same arguments.
 */
export interface LockProtocol extends HeldProtocol {
  /** The channel on which releases are published. */
  readonly channel: string
  acquire(owner: string, lease: number): Promise<Attempt>
  /**
   * How many processes were told, or `NOT_HELD` when it was not this owner's. `served`: see Tenure; `visits`: how many have had
   * it by this name.
   */
  release(owner: string, served?: readonly string[], visits?: number): Promise<number>
  /** Whether the hold is now `to`'s. */
  pass(from: string, to: string, lease: number): Promise<boolean>
  forceRelease(): Promise<boolean>
  /**
   * `briefly`: whether anybody holds it, and for how long, is all that is asked: of very many holders some are enough, and the line
   * is not read. `owner`: of the holders that one is asked for.
   */
  inspect(briefly?: boolean, owner?: string): Promise<ServerState>
}

/** An inspection shows so many holders at most, and looks at so many places of the line: others may have written any number. */
export const SHOWN = 10_000
/** To a script that inspects: the line is not asked for. */
export const NO_LINE = -1

/** What a script says to whoever has it now: to one that asks for it, and to one that takes over another's hold. */
export const isHeld = (left: number | null): boolean => left === null
export const isPassed = (passed: number): boolean => passed === 1

/** What a script says to whoever gives back what was not theirs. */
export const NOT_HELD = -1
