import type { LockLostError } from '../../errors.js'
import type { Deadlock } from '../../api/deadlock.js'
import type { ClientEvents, ClientListener } from '../../api/monitoring.js'
import type { Clock } from '../../base/clock.js'
import type { Emitter } from '../../base/emitter.js'
import type { DeadlockMessage, DiagnosticMessage, ReconnectMessage } from '../../api/diagnostics.js'
import { callsHeard, channels, deadlocks, reconnects, traces } from './diagnostic-channels.js'
import { type CallReporter, type CallWatch, type ObservableCall, ObservedCall, type Reported } from './observed-call.js'

/** An event without data calls its listeners without an argument, so they receive `undefined`. */
export const told = <E extends keyof ClientEvents>(listener: ClientListener<E>) =>
  listener as unknown as (...args: ClientEvents[E]) => void

/** Set while a lock of locks starts a call of one of its members: that is a part of the whole. */
let whole: CallWatch | undefined
const NOT_OBSERVED: CallWatch = { waits: () => undefined, passedOn: () => undefined }

/** Starts a call that is a part of this one, and is not told by itself. */
export const asPartOf = <T>({ call }: Pick<ObservableCall, 'call'>, start: () => Promise<T>): Promise<T> => {
  const outer = whole
  whole = call === undefined ? NOT_OBSERVED : { ...NOT_OBSERVED, waits: () => call.waits() }
  try {
    return start()
  } finally {
    whole = outer
  }
}

/** Reports what happens to a client's locks, to the client's listeners and on the diagnostics channels. */
export class LockEvents implements CallReporter {
  readonly clock: Clock
  readonly client: string
  readonly #events: Emitter<ClientEvents>
  #number = 0

  constructor(clock: Clock, events: Emitter<ClientEvents>, client: string) {
    this.clock = clock
    this.client = client
    this.#events = events
  }

  nextNumber(count = 1): number {
    const first = this.#number + 1
    this.#number += count
    return first
  }

  // Each method first checks for subscribers, and builds a message only if there are any.

  /** Runs a call, and tells what happens to it, if somebody listens. Undefined: it got nothing. `permits`: how many it wants. */
  call<T>(lock: Reported, request: ObservableCall, run: () => Promise<T>, permits?: number): Promise<T> {
    if (whole === undefined && !callsHeard()) return run()
    return this.#observe(lock, request, run, permits)
  }

  #observe<T>(lock: Reported, request: ObservableCall, run: () => Promise<T>, permits?: number): Promise<T> {
    if (whole !== undefined) return this.#part(whole, request, run)
    const call = new ObservedCall(this, lock, permits)
    request.call = call
    if (!traces.acquire.hasSubscribers) return call.run(request, run) as Promise<T>
    return traces.acquire.tracePromise(() => call.run(request, run) as Promise<T>, call.trace)
  }

  /** What the user's listeners start meanwhile is no part of the whole. */
  #part<T>(outer: CallWatch, request: ObservableCall, run: () => Promise<T>): Promise<T> {
    request.call = outer
    whole = undefined
    try {
      return run()
    } finally {
      whole = outer
    }
  }

  /** Runs a `using`, from the call to the release. */
  using<T>({ kind, name }: Reported, run: () => Promise<T>): Promise<T> {
    if (!traces.using.hasSubscribers) return run()
    return traces.using.tracePromise(run, { client: this.client, kind: kind.name, name })
  }

  /** Permits of a semaphore were released, by whichever call they were acquired. */
  returned(lock: Reported, permits: number): void {
    if (channels.release.hasSubscribers) this.#tell('release', lock, { permits, outcome: 'released' })
  }

  renewed(lock: Reported, owner: string): void {
    if (channels.renew.hasSubscribers) this.#tell('renew', lock, { owner })
  }

  doubted(lock: Reported, owner: string, cause: unknown): void {
    this.#events.emit('uncertain', { name: lock.name, owner, cause })
    if (channels.uncertain.hasSubscribers) this.#tell('uncertain', lock, { owner, error: cause })
  }

  lost(lock: Reported, owner: string, error: LockLostError): void {
    this.#events.emit('lost', { name: lock.name, owner, error })
    if (channels.lost.hasSubscribers) this.#tell('lost', lock, { owner, error })
  }

  deadlocked(deadlock: Deadlock): void {
    this.#events.emit('deadlock', deadlock)
    if (deadlocks.hasSubscribers) deadlocks.publish({ client: this.client, ...deadlock } satisfies DeadlockMessage)
  }

  reconnected(): void {
    this.#events.emit('reconnect')
    if (reconnects.hasSubscribers) reconnects.publish({ client: this.client } satisfies ReconnectMessage)
  }

  #tell(
    event: 'renew' | 'uncertain' | 'lost' | 'release',
    { kind, name }: Reported,
    more: Partial<DiagnosticMessage>,
  ): void {
    const message: DiagnosticMessage = { client: this.client, kind: kind.name, name, ...more }
    channels[event].publish(message)
  }
}
