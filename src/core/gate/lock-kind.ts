import type { DeadlockError } from '../../errors.js'
import type { LockProtocol, ServerState } from '../protocol/lock-protocol.js'
import type { TenureHold } from '../hold/hold.js'
import type { UnitOfWork } from '../../base/owner.js'
import type { Backoff, Request } from '../waiting/acquire-request.js'
import type { Waiter } from '../waiting/waiter.js'
import type { ScriptRunner } from '../protocol/script-runner.js'
import type { Runtime } from '../client/runtime.js'
import type { Tenure } from '../hold/tenure.js'
import type { LeaseTerms } from '../hold/lease-terms.js'

/** A kind of lock. */
export interface LockKind {
  /** The name of the client's method. */
  readonly name: string
  /** Kinds of one family share keys and channels, so they share one gate, too. */
  readonly family: string
  /** Which parts of its key the lock covers, as the server names them; if undefined, all. Locks that share no part do not exclude each other. */
  readonly part?: ReadonlySet<string>
  /** The parts as the caller names them, for tickets. */
  readonly keys?: readonly string[]
  /** Whether an owner that holds the lock may acquire it again. */
  readonly reentrant: boolean
  /** The pauses between attempts, if releases are not published. */
  readonly backoff?: Backoff
  /** Default: exclusive. */
  readonly mode?: 'read' | 'write'
  /** What the wire names of its owners end with. Default: nothing. */
  readonly mark?: string
  /** The other side of the same lock. */
  readonly rival?: LockKind
  /** Makes the gate, if the kind does not use the usual one. */
  gate?(home: GateHome, name: string, key: string): OpenGate
  protocol(runner: ScriptRunner, key: string): LockProtocol
}

/** A gate, as other code sees it. */
export interface OpenGate {
  readonly name: string
  readonly kind: LockKind
  readonly protocol: LockProtocol
  /** How many holds there are. */
  readonly held: number
  /** The call that has waited here for the longest time. */
  readonly firstWaiter: Waiter | undefined
  /** Undefined: it could not be acquired within the wait. */
  acquire(request: Request): Promise<TenureHold | undefined>
  /** Takes over a hold that was detached, here or elsewhere. Undefined: it no longer exists. */
  adopt(from: string, owner: UnitOfWork, terms: LeaseTerms): Promise<TenureHold | undefined>
  /** The tenure of this owner. */
  tenureOf(owner: UnitOfWork): Tenure | undefined
  /** The owner has acquired another lock on the same key: its calls here would wait for themselves. */
  reconsider(owner: UnitOfWork): void
  inspect(briefly?: boolean, owner?: string): Promise<ServerState>
  /** `owner`: only if it is the holder, or one of them. */
  forceRelease(owner?: string): Promise<boolean>
  forceExtend(owner: string, lease: number): Promise<boolean>
  turnAway(): void
  close(release: boolean): Promise<void>
}

/** The gates of one client, as a gate sees them. */
export interface GateHome {
  readonly runtime: Runtime
  /** The gate of this lock, created if there is none. */
  at(kind: LockKind, name: string, key: string): OpenGate
  /** The gate of this lock, if a call here holds it or waits for it. */
  inUse(kind: LockKind, key: string): OpenGate | undefined
  /** The gates in use on this key. */
  on(key: string): readonly OpenGate[]
  /** The gates of other kinds on this key that exclude this kind, except the other side of the same lock. */
  beside(key: string, kind: LockKind): readonly OpenGate[]
  /** The error if this owner would wait for itself, because it holds the key already as another kind of lock. */
  inVain(key: string, kind: LockKind, name: string, owner: UnitOfWork): DeadlockError | undefined
  /** The gate is no longer used. */
  retired(gate: OpenGate): void
}

/** Whether two kinds exclude each other on one key, and an owner of one cannot re-enter through the other. Not so if both cover parts of the key. */
export const excludeEachOther = (one: LockKind, other: LockKind): boolean =>
  one.family !== other.family &&
  one.rival?.family !== other.family &&
  (one.mode !== 'read' || other.mode !== 'read') &&
  (one.part === undefined || other.part === undefined)

/** Whether two kinds on one key cover a part in common. */
export const overlap = ({ part: one }: LockKind, { part: other }: LockKind): boolean => {
  if (one === undefined || other === undefined) return true
  for (const part of one) if (other.has(part)) return true
  return false
}
