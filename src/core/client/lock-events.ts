import { channel } from 'node:diagnostics_channel'
import type { LockLostError } from '../../errors.js'
import type { Deadlock } from '../../api/deadlock.js'
import type { ClientEvents, ClientListener } from '../../api/monitoring.js'
import type { Clock } from '../../base/clock.js'
import type { Emitter } from '../../base/emitter.js'

/** The message on `holdfast:<event>` of node:diagnostics_channel: enough to measure waits and holds from outside. */
export interface DiagnosticMessage {
  /** The client's id. */
  readonly client: string
  /** `lock`, `nonReentrantLock`… */
  readonly kind: string
  /** The name of the lock. */
  readonly name: string
  /** The owner's wire name. Missing before the grant, and if the server knows no owner. Keep it as secret as that of a `HolderState`. */
  readonly owner?: string
  /** `grant`: ms from the call to the hold. `release`: ms since this process learned of the grant. */
  readonly elapsed?: number
  /** `grant`: the hold was passed on within the process, without the server. */
  readonly local?: boolean
  /** `lost`: the reason. */
  readonly error?: Error
}

/**
 * `acquire`: a call starts. `wait`: the call could not acquire at once. `grant`: the call acquired. `renew`: the server gave a
 * full lease. `lost`, `release`: how the hold ended.
 */
export type DiagnosticEvent = 'acquire' | 'wait' | 'grant' | 'renew' | 'lost' | 'release'

/** The message on `holdfast:deadlock`. */
export interface DeadlockMessage extends Deadlock {
  /** The id of the client that found it. */
  readonly client: string
}

/** An event without data calls its listeners without an argument, so they receive `undefined`. */
export const told = <E extends keyof ClientEvents>(listener: ClientListener<E>) =>
  listener as unknown as (...args: ClientEvents[E]) => void

const deadlocks = channel('holdfast:deadlock')
const channels = {
  acquire: channel('holdfast:acquire'),
  wait: channel('holdfast:wait'),
  grant: channel('holdfast:grant'),
  renew: channel('holdfast:renew'),
  lost: channel('holdfast:lost'),
  release: channel('holdfast:release'),
}

/** The lock that an event is about. */
export interface Reported {
  readonly name: string
  readonly kind: { readonly name: string }
}

/** Reports what happens to a client's locks, to the client's listeners and on the diagnostics channels. */
export class LockEvents {
  readonly #clock: Clock
  readonly #events: Emitter<ClientEvents>
  readonly #client: string

  constructor(clock: Clock, events: Emitter<ClientEvents>, client: string) {
    this.#clock = clock
    this.#events = events
    this.#client = client
  }

  // Each method first checks for subscribers, and builds a message only if there are any.

  asked(lock: Reported): void {
    if (channels.acquire.hasSubscribers) this.#tell('acquire', lock)
  }

  waits(lock: Reported): void {
    if (channels.wait.hasSubscribers) this.#tell('wait', lock)
  }

  /** `since`: when the call started. `local`: granted without the server. */
  granted(lock: Reported, owner: string | undefined, since: number, local: boolean): void {
    if (!channels.grant.hasSubscribers) return
    this.#tell('grant', lock, { ...(owner !== undefined && { owner }), elapsed: this.#elapsed(since), local })
  }

  renewed(lock: Reported, owner: string): void {
    if (channels.renew.hasSubscribers) this.#tell('renew', lock, { owner })
  }

  doubted({ name }: Reported, owner: string, cause: unknown): void {
    this.#events.emit('uncertain', { name, owner, cause })
  }

  lost(lock: Reported, owner: string, error: LockLostError): void {
    this.#events.emit('lost', { name: lock.name, owner, error })
    if (channels.lost.hasSubscribers) this.#tell('lost', lock, { owner, error })
  }

  deadlocked(deadlock: Deadlock): void {
    this.#events.emit('deadlock', deadlock)
    if (deadlocks.hasSubscribers) deadlocks.publish({ client: this.#client, ...deadlock } satisfies DeadlockMessage)
  }

  /** `opened`: when this process learned of the grant. */
  released(lock: Reported, owner: string, opened: number): void {
    if (channels.release.hasSubscribers) this.#tell('release', lock, { owner, elapsed: this.#elapsed(opened) })
  }

  #elapsed(since: number): number {
    return this.#clock.monotonic() - since
  }

  #tell(event: DiagnosticEvent, { kind, name }: Reported, more?: Partial<DiagnosticMessage>): void {
    const message: DiagnosticMessage = { client: this.#client, kind: kind.name, name, ...more }
    channels[event].publish(message)
  }
}
