import { channel } from 'node:diagnostics_channel'
import type { LockLostError } from '../errors.js'
import type { ClientEvents } from '../types.js'
import type { Clock } from './clock.js'
import type { Emitter } from './emitter.js'

/** What is told on `holdfast:<event>` of node:diagnostics_channel: enough to measure waits and holds from outside. */
export interface DiagnosticMessage {
  /** The client's id. */
  readonly client: string
  /** `lock`, `nonReentrantLock`… */
  readonly kind: string
  readonly name: string
  /** The owner as the server knows it; none before it is granted. */
  readonly owner?: string
  /** `grant`: ms from the call to the hold. `release`: ms from the grant on the server. */
  readonly elapsed?: number
  /** `grant`: passed on within the process, without the server. */
  readonly local?: boolean
  /** `lost`: why. */
  readonly error?: Error
}

/**
 * `acquire`: a call begins. `wait`: it was not had at once. `grant`: it was had. `renew`: the server gave a full lease.
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

/** Tells what becomes of one lock: to the client's listeners, and on the diagnostics channels. */
export class Teller {
  readonly #clock: Clock
  readonly #events: Emitter<ClientEvents>
  readonly #about: { readonly client: string; readonly kind: string; readonly name: string }

  constructor(clock: Clock, events: Emitter<ClientEvents>, about: { client: string; kind: string; name: string }) {
    this.#clock = clock
    this.#events = events
    this.#about = about
  }

  asked(): void {
    this.#tell('acquire')
  }

  waits(): void {
    this.#tell('wait')
  }

  /** `since`: when the call began. `local`: the server was not asked. */
  granted(owner: string, since: number, local: boolean): void {
    this.#tell('grant', owner, since, local ? PASSED : GRANTED)
  }

  renewed(owner: string): void {
    this.#tell('renew', owner)
  }

  doubted(owner: string, cause: unknown): void {
    this.#events.emit('uncertain', { name: this.#about.name, owner, cause })
  }

  lost(owner: string, error: LockLostError): void {
    this.#events.emit('lost', { name: this.#about.name, owner, error })
    this.#tell('lost', owner, undefined, { error })
  }

  /** `opened`: when the server granted it. */
  released(owner: string, opened: number): void {
    this.#tell('release', owner, opened)
  }

  /** Builds the message only when somebody listens. */
  #tell(event: DiagnosticEvent, owner?: string, from?: number, more?: Partial<DiagnosticMessage>): void {
    if (!channels[event].hasSubscribers) return
    const message: DiagnosticMessage = {
      ...this.#about,
      ...(owner !== undefined && { owner }),
      ...(from !== undefined && { elapsed: this.#clock.monotonic() - from }),
      ...more,
    }
    channels[event].publish(message)
  }
}

const GRANTED = { local: false }
const PASSED = { local: true }
