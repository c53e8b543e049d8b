import { AcquireTimeoutError, BusyError, DeadlockError } from '../../errors.js'
import { abortOf } from '../../base/abort.js'
import { here } from '../../base/scope.js'
import type { Clock } from '../../base/clock.js'
import type { DiagnosticFailure, DiagnosticMessage } from '../../api/diagnostics.js'
import type { HoldEnd } from '../../api/hold.js'
import { channels } from './diagnostic-channels.js'

/** The lock that an event is about. */
export interface Reported {
  readonly name: string
  readonly kind: { readonly name: string }
}

/** What a waiting room tells about the call of one of its waiters, if it is observed. */
export interface CallWatch {
  /** It could not acquire at once. */
  waits(): void
  /** It gets what another call here has released, without the server. */
  passedOn(): void
  /** What it got is held from now on. Call the function that is returned when that ends. */
  holding?(): (how: HoldEnd) => void
}

/** A call that may be observed. */
export interface ObservableCall {
  readonly wait: number
  readonly signal?: AbortSignal | undefined
  call?: CallWatch | undefined
}

/** A hold whose end can be observed. */
interface ObservableHold {
  readonly wire?: string
  observe(ended: (how: HoldEnd) => void): void
}

/** What a client's calls need to report themselves. */
export interface CallReporter {
  readonly client: string
  readonly clock: Clock
  /** The first of so many numbers that follow one another. */
  nextNumber(count?: number): number
}

type About = Pick<DiagnosticMessage, 'client' | 'kind' | 'name' | 'id'>
type CallTrace = Record<string, unknown> & About
type Message = { -readonly [F in keyof DiagnosticMessage]: DiagnosticMessage[F] }

const isObservable = (one: unknown): one is ObservableHold =>
  typeof one === 'object' && one !== null && 'observe' in one

const holdsIn = (granted: unknown): ObservableHold[] => {
  if (Array.isArray(granted)) return (granted as readonly unknown[]).filter(isObservable)
  return isObservable(granted) ? [granted] : []
}

const failureOf = (error: unknown, { wait, signal }: ObservableCall): DiagnosticFailure => {
  const aborted = abortOf(signal)
  if (aborted !== undefined && Object.is(aborted.error, error)) return 'aborted'
  if (error instanceof AcquireTimeoutError) return wait === 0 ? 'refused' : 'timeout'
  return error instanceof BusyError || error instanceof DeadlockError ? 'refused' : 'error'
}

type Channel = (typeof channels)['release']

const publish = (channel: Channel, message: DiagnosticMessage): void => channel.publish(message)

const begun = <T>(step: () => Promise<T>): Promise<T> => {
  try {
    return step()
  } catch (error) {
    return Promise.reject(error)
  }
}

/** One call, from its start to the end of what it got. Each of its events runs in the context in which it was made. */
export class ObservedCall implements CallWatch {
  #trace: CallTrace | undefined
  readonly #lock: Reported
  readonly #number: number
  readonly #reporter: CallReporter
  readonly #permits: number | undefined
  #context: ReturnType<typeof here> | undefined
  #since = 0
  #waits = false
  #local = false

  /** `permits`: how many it wants, if it wants permits. */
  constructor(reporter: CallReporter, lock: Reported, permits: number | undefined) {
    this.#reporter = reporter
    this.#lock = lock
    this.#number = reporter.nextNumber()
    this.#permits = permits
  }

  /** The message of a trace. From the end of the call on, it also says how the call ended. */
  get trace(): CallTrace {
    return (this.#trace ??= { ...this.#about() })
  }

  /** Runs the call, and tells how it begins and ends. Undefined: it got nothing. */
  run<T>(call: ObservableCall, step: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#context = here()
    this.#since = this.#now()
    if (channels.acquire.hasSubscribers) channels.acquire.publish(this.#about())
    // An async function would take twice the memory.
    return begun(step).then(
      (granted) => {
        if (granted === undefined) this.#failed({ ...this.#about(), outcome: call.wait === 0 ? 'refused' : 'timeout' })
        else this.#granted(holdsIn(granted))
        return granted
      },
      (error: unknown) => {
        this.#failed({ ...this.#about(), outcome: failureOf(error, call), error })
        throw error
      },
    )
  }

  waits(): void {
    if (this.#waits) return
    this.#waits = true
    if (channels.wait.hasSubscribers) this.#tell('wait', this.#about())
  }

  passedOn(): void {
    this.#local = true
  }

  #granted(holds: readonly ObservableHold[]): void {
    const now = this.#now()
    const first = this.#reporter.nextNumber(holds.length)
    const message = this.#grantOf(holds[0], first, now - this.#since)
    if (this.#permits !== undefined) message.permits = this.#permits
    if (this.#trace !== undefined) Object.assign(this.#trace, message, { outcome: 'granted' })
    // This runs in the context of the call.
    channels.grant.publish(message)
    for (let i = 0; i < holds.length; i += 1) this.#holds(holds[i] as ObservableHold, first + i, now)
  }

  #holds(hold: ObservableHold, number: number, since: number): void {
    const held = this.#releaseOf(hold, number)
    if (this.#permits !== undefined) held.permits = 1
    hold.observe(this.#untilEnd(held, since))
  }

  // Fields that an object begins with cost less than those that are added.

  #grantOf(hold: ObservableHold | undefined, number: number, elapsed: number): Message {
    const { kind, name } = this.#lock
    const { client } = this.#reporter
    const id = this.#number
    const local = this.#local
    if (hold === undefined) return { client, kind: kind.name, name, id, elapsed, local }
    if (hold.wire === undefined) return { client, kind: kind.name, name, id, elapsed, local, hold: number }
    return { client, kind: kind.name, name, id, elapsed, local, hold: number, owner: hold.wire }
  }

  /** Its length and its outcome are set when it ends. */
  #releaseOf({ wire }: ObservableHold, hold: number): Message {
    const { kind, name } = this.#lock
    const { client } = this.#reporter
    const id = this.#number
    const outcome = 'released'
    if (wire === undefined) return { client, kind: kind.name, name, id, elapsed: 0, outcome, hold }
    return { client, kind: kind.name, name, id, elapsed: 0, outcome, hold, owner: wire }
  }

  #failed(message: Message): void {
    message.elapsed = this.#now() - this.#since
    if (this.#trace !== undefined) Object.assign(this.#trace, message)
    channels.end.publish(message)
  }

  /** What it got is held from now on. Call the function that is returned when that ends. */
  holding(): (how: HoldEnd) => void {
    const held = this.#about()
    if (this.#permits !== undefined) held.permits = this.#permits
    return this.#untilEnd(held, this.#now())
  }

  /** A hold ends once, so its message is made when it begins. */
  #untilEnd(held: Message, since: number): (how: HoldEnd) => void {
    return (outcome) => {
      held.elapsed = this.#now() - since
      held.outcome = outcome
      this.#tell('release', held)
    }
  }

  #now(): number {
    return this.#reporter.clock.monotonic()
  }

  #about(): Message & About {
    const { kind, name } = this.#lock
    return { client: this.#reporter.client, kind: kind.name, name, id: this.#number }
  }

  #tell(event: 'wait' | 'release', message: DiagnosticMessage): void {
    const channel = channels[event]
    if (channel.hasSubscribers) this.#context?.runInAsyncScope(publish, undefined, channel, message)
  }
}
