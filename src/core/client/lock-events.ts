import { channel } from 'node:diagnostics_channel'
import type { LockLostError } from '../../errors.js'
import type { ClientEvents } from '../../api/monitoring.js'
import type { Clock } from '../../base/clock.js'
import type { Emitter } from '../../base/emitter.js'

/** What is told on `holdfast:<event>` of node:diagnostics_channel: enough to measure waits and holds from outside. */
export interface DiagnosticMessage {
  /** The client's id. */
  readonly client: string
  /** `lock`, `nonReentrantLock`… */
  readonly kind: string
  /** Of the lock. */
  readonly name: string
  /** The owner as the server knows it; none before it is granted, and where the server knows none. As secret as that of a `HolderState`. */
  readonly owner?: string
  /** `grant`: ms from the call to the hold. `release`: ms from when the process knew that it was granted. */
  readonly elapsed?: number
  /** `grant`: passed on within the process, without the server. */
  readonly local?: boolean
  /** `lost`: why. */
  readonly error?: Error
}

/**
 * `acquire`: a call begins. `wait`: it could not be acquired at once. `grant`: it was acquired. `renew`: the server gave a full lease.
 * `lost`, `release`: how it ended.
 */
export type DiagnosticEvent = 'acquire' | 'wait' | 'grant' | 'renew' | 'lost' | 'release'

const channels = {
  acquire: channel('holdfast:acquire'),
  wait: channel('holdfast:wait'),
  grant: channel('holdfast:grant'),
  renew: channel('holdfast:renew'),
  lost: channel('holdfast:lost'),
  release: channel('holdfast:release'),
}

/** Of whom it is told. */
export interface Reported {
  readonly name: string
  readonly kind: { readonly name: string }
}

/** Tells what becomes of a client's locks: to the client's listeners, and on the diagnostics channels. */
export class LockEvents {
  readonly #clock: Clock
  readonly #events: Emitter<ClientEvents>
  readonly #client: string

  constructor(clock: Clock, events: Emitter<ClientEvents>, client: string) {
    this.#clock = clock
    this.#events = events
    this.#client = client
  }

  // Each asks first whether anybody listens: a message is built only then.

  asked(lock: Reported): void {
    if (channels.acquire.hasSubscribers) this.#tell('acquire', lock)
  }

  waits(lock: Reported): void {
    if (channels.wait.hasSubscribers) this.#tell('wait', lock)
  }

  /** `since`: when the call began. `local`: the server was not asked. */
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

  /** `opened`: when it was known to be granted. */
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
