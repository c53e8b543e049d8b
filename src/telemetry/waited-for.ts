import type { DiagnosticMessage } from '../api/diagnostics.js'
import { ByNumber } from './events.js'

/** What is known about one lock of one client. `S`: what stands for a hold. */
interface Known<S> {
  readonly held: Map<number, S>
  readonly waiters: Set<number>
  /** The last hold that ended while a call waited, and when. */
  last?: { readonly hold: S; readonly at: number }
}

/** A call that waits. */
interface Waiter<S> {
  readonly since: number
  /** What was held when it began to wait. */
  readonly holder: S | undefined
}

/** Finds, for each call that waited, the holds of the same client that it waited for. */
export class WaitedFor<S> {
  readonly #locks = new Map<string, Known<S>>()
  readonly #waiters = new ByNumber<Waiter<S>>()
  #now = 0

  waits(message: DiagnosticMessage): void {
    // Its name is that of the group: other keys are not in the way.
    if (message.kind === 'keyedLock') return
    const known = this.#of(message)
    const [holder] = known.held.values()
    known.waiters.add(message.id as number)
    this.#waiters.set(message.client, message.id as number, { since: (this.#now += 1), holder })
  }

  /** The call has ended. Returns the hold that it found when it began to wait, and the one whose release came last; each at most once. */
  ended(message: DiagnosticMessage): S[] {
    const waiter = this.#waiters.take(message.client, message.id)
    if (waiter === undefined) return []
    const known = this.#of(message)
    known.waiters.delete(message.id as number)
    const last = known.last !== undefined && known.last.at > waiter.since ? known.last.hold : undefined
    this.#forget(message, known)
    return [...new Set([waiter.holder, last])].filter((hold) => hold !== undefined)
  }

  /** A hold begins. */
  held(message: DiagnosticMessage, hold: S): void {
    const { hold: first, permits = 1 } = message
    if (first === undefined) return
    const { held } = this.#of(message)
    for (let i = 0; i < permits; i += 1) held.set(first + i, hold)
  }

  released(message: DiagnosticMessage): void {
    const known = this.#locks.get(lockOf(message))
    const hold = known?.held.get(message.hold as number)
    if (known === undefined || hold === undefined) return
    known.held.delete(message.hold as number)
    if (known.waiters.size > 0) known.last = { hold, at: (this.#now += 1) }
    this.#forget(message, known)
  }

  #of(message: DiagnosticMessage): Known<S> {
    const lock = lockOf(message)
    const known = this.#locks.get(lock) ?? { held: new Map<number, S>(), waiters: new Set<number>() }
    this.#locks.set(lock, known)
    return known
  }

  #forget(message: DiagnosticMessage, { held, waiters }: Known<S>): void {
    if (held.size === 0 && waiters.size === 0) this.#locks.delete(lockOf(message))
  }
}

/** Clients may have different servers, so a name means a lock only together with its client. */
const lockOf = ({ client, name }: DiagnosticMessage): string => `${client}:${name}`
