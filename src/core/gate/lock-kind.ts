import type { DeadlockError } from '../../errors.js'
import type { LockProtocol, ServerState } from '../protocol/protocol.js'
import type { TenureHold } from '../hold/hold.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Backoff, Request } from '../waiting/request.js'
import type { Runner } from '../protocol/runner.js'
import type { Runtime } from '../client/runtime.js'
import type { Tenure } from '../hold/tenure.js'
import type { Terms } from '../hold/terms.js'

/** A kind of lock. */
export interface LockKind {
  /** As the client's method is called. */
  readonly name: string
  /** Kinds of one family share keys and channels, and so they share their local queue. */
  readonly family: string
  /** What of the things under its key it takes, where that is not all: those that share none do not exclude one another. */
  readonly part?: readonly string[]
  /** Whether an owner that holds it may take it again. */
  readonly reentrant: boolean
  /** The pauses between attempts, where nothing is published on a release. */
  readonly backoff?: Backoff
  /** Default: exclusive. */
  readonly mode?: 'read' | 'write'
  /** What the server knows its owners by, behind their number. Default: nothing. */
  readonly mark?: string
  /** The other side of the same lock. */
  readonly rival?: LockKind
  /** Another gate than the usual one. */
  gate?(home: GateHome, name: string, key: string): OpenGate
  protocol(runner: Runner, key: string): LockProtocol
}

/** A gate, as those outside use it. */
export interface OpenGate {
  readonly name: string
  readonly kind: LockKind
  readonly protocol: LockProtocol
  /** How many holds there are. */
  readonly held: number
  /** Undefined: not had within the wait. */
  acquire(request: Request): Promise<TenureHold | undefined>
  /** Takes over what was detached, here or elsewhere. Undefined: it is gone. */
  adopt(from: string, owner: UnitOfWork, terms: Terms): Promise<TenureHold | undefined>
  /** What this owner has of it. */
  tenureOf(owner: UnitOfWork): Tenure | undefined
  /** Its owner has another lock on the same key now, and would wait for itself. */
  reconsider(owner: UnitOfWork): void
  inspect(briefly?: boolean, owner?: string): Promise<ServerState>
  forceRelease(): Promise<boolean>
  turnAway(): void
  close(release: boolean): Promise<void>
}

/** Where the gates of one client are kept, as a gate sees it. */
export interface GateHome {
  readonly runtime: Runtime
  /** That of this lock; made where there is none. */
  at(kind: LockKind, name: string, key: string): OpenGate
  /** Where somebody here holds it or waits for it. */
  inUse(kind: LockKind, key: string): OpenGate | undefined
  /** The gates in use on this key. */
  on(key: string): readonly OpenGate[]
  /** Those of other kinds on this key that exclude this one, but for the other side of the same lock. */
  beside(key: string, kind: LockKind): readonly OpenGate[]
  /** Why this owner would wait for itself: it has the key already, as another kind of lock. */
  inVain(key: string, kind: LockKind, name: string, owner: UnitOfWork): DeadlockError | undefined
  /** Nobody needs it any more. */
  retired(gate: OpenGate): void
}

/** On one key they exclude one another, and neither can be taken again through the other. Parts of one key are another matter. */
export const excludeEachOther = (one: LockKind, other: LockKind): boolean =>
  one.family !== other.family &&
  one.rival?.family !== other.family &&
  (one.mode !== 'read' || other.mode !== 'read') &&
  (one.part === undefined || other.part === undefined)
