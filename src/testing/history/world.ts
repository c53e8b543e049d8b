import type { HistoryOptions, WorldEvent } from './events.js'
import type { Claim } from './claims.js'
import { lastWhere } from './record.js'

/** A stretch of time, ms. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** What happened to the locks and processes from outside. */
export class World {
  readonly #events: readonly WorldEvent[]
  readonly #noticedWithin: number | undefined
  readonly #troubles = new Map<string, readonly Span[]>()
  readonly #losses = new Map<string, readonly WorldEvent[]>()

  constructor(events: readonly WorldEvent[], options: HistoryOptions) {
    this.#events = events
    this.#noticedWithin = options.noticedWithin
  }

  /** Forced releases and losses of data that concern a lock, in order. */
  losses(name: string): readonly WorldEvent[] {
    let losses = this.#losses.get(name)
    if (losses === undefined) {
      losses = this.#events.filter((event) => event.what !== 'trouble' && (event.name ?? name) === name)
      this.#losses.set(name, losses)
    }
    return losses
  }

  /** When a process was stopped or could not reach the server: in order, and apart. */
  troubles(process: string): readonly Span[] {
    let troubles = this.#troubles.get(process)
    if (troubles === undefined) {
      const own = this.#events.filter(
        ({ what, process: whose }) => what === 'trouble' && (whose ?? process) === process,
      )
      troubles = merged(own.map(({ at, to }) => ({ from: at, to })))
      this.#troubles.set(process, troubles)
    }
    return troubles
  }

  troubled(process: string, span: Span): boolean {
    const troubles = this.troubles(process)
    const near = troubles[firstAfter(troubles, span.from)]
    return near !== undefined && near.from <= span.to
  }

  wiped(name: string, span: Span): boolean {
    return this.losses(name).some(({ what, at, to }) => what === 'wiped' && at <= span.to && to >= span.from)
  }

  /**
   * Until when the earlier of two holds may believe in itself although it was taken away from outside before the later one
   * was granted; undefined: it was not.
   */
  excusedUntil(name: string, earlier: Claim, later: Claim): number | undefined {
    const granted = earlier.start.event.at
    const loss = lastWhere(this.losses(name), ({ at, to }) => at <= later.start.event.at && granted <= to)
    return loss === undefined ? undefined : loss.to + (this.#noticedWithin ?? 0)
  }
}

/** The index of the first span that ends at `at` or later. */
export const firstAfter = (spans: readonly Span[], at: number): number => {
  let low = 0
  let high = spans.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((spans[middle] as Span).to < at) low = middle + 1
    else high = middle
  }
  return low
}

/** The same stretches, in order, those that touch as one. */
export const merged = (spans: readonly Span[]): Span[] => {
  const result: { from: number; to: number }[] = []
  for (const { from, to } of [...spans].sort((a, b) => a.from - b.from)) {
    const last = result.at(-1)
    if (last !== undefined && from <= last.to) last.to = Math.max(last.to, to)
    else result.push({ from, to })
  }
  return result
}
