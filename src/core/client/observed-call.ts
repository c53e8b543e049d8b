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
  nextNumber(): number
}

type Told = Partial<Omit<DiagnosticMessage, 'client' | 'kind' | 'name' | 'id' | 'error'>> & { readonly error?: unknown }

const holdsIn = (granted: unknown): ObservableHold[] =>
  (Array.isArray(granted) ? (granted as readonly unknown[]) : [granted]).filter(
    (one): one is ObservableHold => typeof one === 'object' && one !== null && 'observe' in one,
  )

const failureOf = (error: unknown, { wait, signal }: ObservableCall): DiagnosticFailure => {
  const aborted = abortOf(signal)
  if (aborted !== undefined && Object.is(aborted.error, error)) return 'aborted'
  if (error instanceof AcquireTimeoutError) return wait === 0 ? 'refused' : 'timeout'
  return error instanceof BusyError || error instanceof DeadlockError ? 'refused' : 'error'
}

/** One call, from its start to the end of what it got. Each of its events runs in the context in which it was made. */
export class ObservedCall implements CallWatch {
  /** The message of a trace. From the end of the call on, it also says how the call ended. */
  readonly trace: Record<string, unknown> & Pick<DiagnosticMessage, 'client' | 'kind' | 'name' | 'id'>
  readonly #about: Pick<DiagnosticMessage, 'client' | 'kind' | 'name' | 'id'>
  readonly #reporter: CallReporter
  readonly #permits: { readonly permits?: number }
  #inContext: ReturnType<typeof here> | undefined
  #since = 0
  #waits = false
  #local = false

  /** `permits`: how many it wants, if it wants permits. */
  constructor(reporter: CallReporter, { kind, name }: Reported, permits: number | undefined) {
    this.#reporter = reporter
    this.#about = { client: reporter.client, kind: kind.name, name, id: reporter.nextNumber() }
    this.#permits = permits === undefined ? {} : { permits }
    this.trace = { ...this.#about }
  }

  /** Runs the call, and tells how it begins and ends. Undefined: it got nothing. */
  async run<T>(call: ObservableCall, step: () => Promise<T | undefined>): Promise<T | undefined> {
    this.#inContext = here()
    this.#since = this.#now()
    this.#tell('acquire')
    let granted: T | undefined
    try {
      granted = await step()
    } catch (error) {
      this.#failed(failureOf(error, call), { error })
      throw error
    }
    if (granted === undefined) this.#failed(call.wait === 0 ? 'refused' : 'timeout')
    else this.#granted(holdsIn(granted))
    return granted
  }

  waits(): void {
    if (this.#waits) return
    this.#waits = true
    this.#tell('wait')
  }

  passedOn(): void {
    this.#local = true
  }

  #granted(holds: readonly ObservableHold[]): void {
    const [first] = holds
    const numbers = holds.map(() => this.#reporter.nextNumber())
    const told = {
      ...(first !== undefined && { hold: numbers[0] as number }),
      ...(first?.wire !== undefined && { owner: first.wire }),
      ...this.#permits,
      elapsed: this.#now() - this.#since,
      local: this.#local,
    }
    Object.assign(this.trace, told, { outcome: 'granted' })
    this.#tell('grant', told)
    holds.forEach((hold, i) => hold.observe(this.holding({ ...this.#holdOf(hold), hold: numbers[i] as number })))
  }

  #holdOf({ wire }: ObservableHold): Told {
    return { ...(wire !== undefined && { owner: wire }), ...('permits' in this.#permits && { permits: 1 }) }
  }

  #failed(outcome: DiagnosticFailure, told?: Told): void {
    const how = { outcome, elapsed: this.#now() - this.#since, ...told }
    Object.assign(this.trace, how)
    this.#tell('end', how)
  }

  /** What it got is held from now on. Call the function that is returned when that ends. */
  holding(hold: Told = this.#permits): (how: HoldEnd) => void {
    const since = this.#now()
    return (outcome) => this.#tell('release', { ...hold, elapsed: this.#now() - since, outcome })
  }

  #now(): number {
    return this.#reporter.clock.monotonic()
  }

  #tell(event: 'acquire' | 'wait' | 'grant' | 'end' | 'release', told?: Told): void {
    if (!channels[event].hasSubscribers) return
    const message = { ...this.#about, ...told }
    this.#inContext?.(() => channels[event].publish(message))
  }
}
