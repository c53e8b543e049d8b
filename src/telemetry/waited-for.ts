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
  /** By client and name: clients may have different servers. A text of both would have to be made, and hashed, for each event, however long the name is. */
  readonly #locks = new Map<string, Map<string, Known<S>>>()
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
    const known = this.#locks.get(message.client)?.get(message.name)
    const hold = known?.held.get(message.hold as number)
    if (known === undefined || hold === undefined) return
    known.held.delete(message.hold as number)
    if (known.waiters.size > 0) known.last = { hold, at: (this.#now += 1) }
    this.#forget(message, known)
  }

  /** How many clients have something here. */
  get clients(): number {
    return this.#locks.size
  }

  #of({ client, name }: DiagnosticMessage): Known<S> {
    let ofClient = this.#locks.get(client)
    if (ofClient === undefined) this.#locks.set(client, (ofClient = new Map<string, Known<S>>()))
    let known = ofClient.get(name)
    if (known === undefined) ofClient.set(name, (known = { held: new Map<number, S>(), waiters: new Set<number>() }))
    return known
  }

  #forget({ client, name }: DiagnosticMessage, { held, waiters }: Known<S>): void {
    if (held.size > 0 || waiters.size > 0) return
    const ofClient = this.#locks.get(client)
    ofClient?.delete(name)
    if (ofClient?.size === 0) this.#locks.delete(client)
  }
}
