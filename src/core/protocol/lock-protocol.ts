import type { Script } from '../../lua/script.js'

/** A script that gives many holds a full lease in one call. Keys: those of each hold, one after the other. Arguments: a lease, then each owner. */
export type RenewScript = Script<readonly [...string[]], readonly [number, ...string[]], readonly number[]>

/** The server's answer to an attempt: for how many ms another owner still holds the lock (-1: no expiry). */
export type Attempt = number | 'held'

export interface ServerState {
  /** ms; -1 without expiry, -2 if it is free. */
  readonly ttl: number
  readonly holders: readonly {
    readonly owner: string
    readonly count: number
    /** Set if there is more than one mode. */
    readonly mode?: 'read' | 'write'
    /** For how many ms it holds the lock, if that can be less than the `ttl`. */
    readonly left?: number
    /** The keys that it holds, if the lock covers several. */
    readonly keys?: readonly string[]
  }[]
  /** In order, if the server keeps a line; deadlines in ms since the epoch. */
  readonly waiting?: readonly {
    readonly owner: string
    readonly deadline: number
    /** The keys that it wants, if the lock covers several. */
    readonly keys?: readonly string[]
  }[]
  /** There may be more holders or waiters. */
  readonly more?: true
  /** The newest fencing token that any hold got, if holds have tokens. */
  readonly token?: bigint
}

/** What the server can do for a holder: one owner, for one tenure only. */
export interface HeldProtocol {
  /** The key on the server. */
  readonly key: string
  readonly renewal: RenewScript
  /** Other holders may give the key a shorter lease than this owner's, so a fixed lease needs upkeep as well. */
  readonly shared?: boolean
  /** The keys for the renewal of this owner's hold. Default: the key. */
  renewalKeys?(owner: string): readonly string[]
  /** The argument for the renewal of this owner's hold. Default: the owner. */
  renewalWords?(owner: string): string
  /** Renews the hold by the lock's key alone: while a cluster slot moves, no node runs a script with several keys of which one is missing. */
  renewAlone?(owner: string, lease: number): Promise<readonly number[]>
  /** A hold may be lost in part: what is left of it must be released. */
  readonly divisible?: boolean
  /** How much work it is to renew a hold with this many levels. A plain lock is 1. */
  weight?(level: number): number
  /** ms left (-1: no expiry), or undefined if the lock is not this owner's. */
  setLevel(owner: string, level: number, lease: number): Promise<number | undefined>
  /**
   * Only for kinds whose holds have fencing tokens: the token that the last reply brought for this owner, once. Such a hold
   * is never passed on without the server, because the next one needs a token of its own.
   */
  takeToken?(owner: string): bigint | undefined
}

/**
 * The atomic steps of one lock, and all that defines a kind. It never subscribes, sets a timer or loops.
 * Owners are wire names, each for one tenure only. Every step may be repeated with the same arguments.
 */
export interface LockProtocol extends HeldProtocol {
  /** The channel on which releases are published. */
  readonly channel: string
  acquire(owner: string, lease: number): Promise<Attempt>
  /**
   * How many processes the release was published to, or `NOT_HELD` if it was not this owner's. `served`: see `Tenure`. `visits`:
   * how many owners have had the lock under this name.
   */
  release(owner: string, served?: readonly string[], visits?: number): Promise<number>
  /** Whether the hold is now that of `to`. */
  pass(from: string, to: string, lease: number): Promise<boolean>
  forceRelease(): Promise<boolean>
  /**
   * `briefly`: only asks whether the lock is held, and for how long. Then some of very many holders are enough, and the line is not
   * read. `owner`: the holder that is asked about.
   */
  inspect(briefly?: boolean, owner?: string): Promise<ServerState>
}

/** How many holders an inspection shows at most, and how many places of the line it looks at: strangers may have written any number. */
export const SHOWN = 10_000
/** Passed to a script that inspects: do not read the line. */
export const NO_LINE = -1

/** Decodes replies: an attempt that got the lock, and a hold that was taken over. */
export const isHeld = (left: Attempt): boolean => left === 'held'
export const isPassed = (passed: number): boolean => passed === 1

/** The reply to a release by an owner that did not hold the lock. */
export const NOT_HELD = -1
