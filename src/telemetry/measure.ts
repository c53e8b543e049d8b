import type { DiagnosticFailure, DiagnosticMessage } from '../api/diagnostics.js'
import type { HoldEnd } from '../api/hold.js'
import { systemClock } from '../base/clock.js'
import { BusyError } from '../errors.js'
import { isA } from '../thrown.js'
import { ByNumber, listen } from './events.js'
import { AllSeries, type Held, type Labels, type Names, type Series } from './series.js'

/** Where measurements go. Times are in seconds. What waits and is held now is read from `Measurements.series`. */
export interface Instruments {
  /** These labels are new: their counters begin at 0. */
  begin(labels: Labels): void
  waited(labels: Labels, seconds: number, outcome: 'granted' | DiagnosticFailure, local: boolean): void
  held(labels: Labels, seconds: number, outcome: HoldEnd): void
  lost(labels: Labels): void
  renewed(outcome: 'ok' | 'failed'): void
  decided(outcome: 'allowed' | 'refused'): void
  reconnected(): void
  deadlocked(): void
}

const seconds = (elapsed: number | undefined): number => (elapsed ?? 0) / 1000

/** Whether the limiter refused. A call that times out because its client has too many waiters was not refused by the limiter. */
const isRefused = ({ outcome, error }: DiagnosticMessage): boolean =>
  outcome === 'timeout' || (outcome === 'refused' && !isA(error, BusyError))

/** Turns the events of all clients into measurements. */
export class Measurements {
  readonly series: AllSeries
  readonly stop: () => void
  readonly #instruments: Instruments
  readonly #waiting = new ByNumber<Series>()
  readonly #held = new ByNumber<Held>()

  /** `kinds`: those whose counters begin at 0 now, instead of with their first call. */
  constructor(instruments: Instruments, names: Names, kinds: readonly string[] = []) {
    this.#instruments = instruments
    this.series = new AllSeries(names, (labels) => {
      instruments.begin(labels)
    })
    for (const kind of kinds) this.series.ofKind(kind)
    if (kinds.includes('election')) this.series.ofKind('fencedLock')
    this.stop = listen({
      wait: (message) => this.#wait(message),
      grant: (message) => this.#grant(message),
      end: (message) => this.#end(message),
      release: (message) => this.#release(message),
      lost: (message) => instruments.lost(this.#seriesOf(message).labels),
      renew: () => instruments.renewed('ok'),
      uncertain: () => instruments.renewed('failed'),
      reconnect: () => instruments.reconnected(),
      deadlock: () => instruments.deadlocked(),
    })
  }

  #seriesOf({ kind, name }: DiagnosticMessage): Series {
    // The loss of a leader is reported by the lock below it, whose counter must be there before.
    if (kind === 'election') this.series.of('fencedLock', name)
    return this.series.of(kind, name)
  }

  #wait(message: DiagnosticMessage): void {
    const series = this.#seriesOf(message)
    this.#waiting.set(message.client, message.id as number, series)
    series.waiting += 1
  }

  #waited(message: DiagnosticMessage, outcome: 'granted' | DiagnosticFailure): void {
    const series = this.#noLongerWaits(message) ?? this.#seriesOf(message)
    if (outcome === 'granted') this.#holds(message, series)
    this.#instruments.waited(series.labels, seconds(message.elapsed), outcome, message.local === true)
  }

  #holds({ client, hold, permits = 1 }: DiagnosticMessage, series: Series): void {
    if (hold === undefined) return
    const since = systemClock.monotonic()
    for (let i = 0; i < permits; i += 1) this.#held.set(client, hold + i, series.begins(since))
  }

  #noLongerWaits(message: DiagnosticMessage): Series | undefined {
    const series = this.#waiting.take(message.client, message.id)
    if (series !== undefined) series.waiting -= 1
    return series
  }

  #grant(message: DiagnosticMessage): void {
    this.#waited(message, 'granted')
    if (message.kind === 'rateLimiter') this.#instruments.decided('allowed')
  }

  #end(message: DiagnosticMessage): void {
    this.#waited(message, message.outcome as DiagnosticFailure)
    if (message.kind === 'rateLimiter' && isRefused(message)) this.#instruments.decided('refused')
  }

  #release(message: DiagnosticMessage): void {
    const series = this.#noLongerHeld(message) ?? this.#seriesOf(message)
    // Permits that were released without a `using` have no length.
    if (message.elapsed === undefined) return
    this.#instruments.held(series.labels, seconds(message.elapsed), message.outcome as HoldEnd)
  }

  #noLongerHeld({ client, hold }: DiagnosticMessage): Series | undefined {
    const held = this.#held.take(client, hold)
    held?.series.ends(held)
    return held?.series
  }
}
