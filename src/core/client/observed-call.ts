import { AcquireTimeoutError, BusyError, DeadlockError } from '../../errors.js'
import { abortOf } from '../../base/abort.js'
import { here } from '../../base/scope.js'
import type { Clock } from '../../base/clock.js'
import type { DiagnosticFailure, DiagnosticMessage } from '../../api/diagnostics.js'
import type { HoldEnd } from '../../api/hold.js'
import type { HoldWatch } from '../hold/hold.js'
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
  /** What it got is held from now on. Tell the watch when that ends. */
  holding?(): HoldWatch
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
  observe(watch: HoldWatch): void
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

const holdsIn = (granted: unknown): ObservableHold[] =>
  Array.isArray(granted) ? (granted as readonly unknown[]).filter(isObservable) : []

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

/** Reports the end of a hold. It is no function, because an object with the same takes half the memory. */
class HoldReport implements HoldWatch {
  readonly #call: ObservedCall
  readonly #release: Message
  readonly #since: number

  /** `release`: the message, which is made when the hold begins, because it ends once. */
  constructor(call: ObservedCall, release: Message, since: number) {
    this.#call = call
    this.#release = release
    this.#since = since
  }

  ended(how: HoldEnd): void {
    this.#call.holdEnded(this.#release, this.#since, how)
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
        else this.#granted(granted)
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

  #granted(granted: unknown): void {
    const now = this.#now()
    // Most calls get one hold, for which an array would be a waste.
    const holds = isObservable(granted) ? undefined : holdsIn(granted)
    const only = holds === undefined ? (granted as ObservableHold) : holds[0]
    const first = this.#reporter.nextNumber(holds === undefined ? 1 : holds.length)
    this.#tellGrant(only, first, now)
    if (holds === undefined) this.#holds(only as ObservableHold, first, now)
    else for (let i = 0; i < holds.length; i += 1) this.#holds(holds[i] as ObservableHold, first + i, now)
  }

  #tellGrant(hold: ObservableHold | undefined, number: number, now: number): void {
    const message = this.#grantOf(hold, number, now - this.#since)
    if (this.#permits !== undefined) message.permits = this.#permits
    if (this.#trace !== undefined) Object.assign(this.#trace, message, { outcome: 'granted' })
    // This runs in the context of the call.
    channels.grant.publish(message)
  }

  #holds(hold: ObservableHold, number: number, since: number): void {
    const held = this.#releaseOf(hold, number)
    if (this.#permits !== undefined) held.permits = 1
    hold.observe(new HoldReport(this, held, since))
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

  holding(): HoldWatch {
    const held = this.#about()
    if (this.#permits !== undefined) held.permits = this.#permits
    return new HoldReport(this, held, this.#now())
  }

  holdEnded(release: Message, since: number, how: HoldEnd): void {
    release.elapsed = this.#now() - since
    release.outcome = how
    this.#tell('release', release)
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
