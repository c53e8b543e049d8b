import type { HistoryOptions, WorldEvent } from './events.js'
import type { Claim } from './hold-claims.js'

/** A stretch of time, ms. */
export interface Span {
  readonly from: number
  readonly to: number
}

type What = WorldEvent['what']

/** What happened to the locks and processes from outside. */
export class OutsideEvents {
  readonly #events: readonly WorldEvent[]
  readonly #noticedWithin: number
  readonly #spans = new Map<string, readonly Span[]>()

  constructor(events: readonly WorldEvent[], options: HistoryOptions) {
    this.#events = events
    this.#noticedWithin = options.noticedWithin ?? 0
  }

  /** When a process was stopped or could not reach the server: in order, and apart. */
  troubles(process: string): readonly Span[] {
    return this.#spansOf('trouble', process, (event) => event.process)
  }

  troubled(process: string, span: Span): boolean {
    return meets(this.troubles(process), span)
  }

  /** Whether the server lost what it knew of a lock. */
  wiped(name: string, span: Span): boolean {
    return meets(this.#lossesOf(name, 'wiped'), span)
  }

  /**
   * Until when the earlier of two holds may believe in itself although it was taken away from outside before the later one
   * was granted; undefined: it was not.
   */
  excusedUntil(name: string, earlier: Claim, later: Claim): number | undefined {
    const span = { from: earlier.start.event.at, to: later.start.event.at }
    const losses = [this.#lossesOf(name, 'forced'), this.#lossesOf(name, 'wiped')]
    const latest = losses.flatMap((spans) => lastBefore(spans, span.to) ?? [])
    const ends = latest.filter(({ to }) => to >= span.from).map(({ to }) => to)
    return ends.length === 0 ? undefined : Math.max(...ends) + this.#noticedWithin
  }

  #lossesOf(name: string, what: 'forced' | 'wiped'): readonly Span[] {
    return this.#spansOf(what, name, (event) => event.name)
  }

  /** Those of one kind that concern this one, or everyone. */
  #spansOf(what: What, whose: string, concerns: (event: WorldEvent) => string | undefined): readonly Span[] {
    const id = `${what} ${whose}`
    let spans = this.#spans.get(id)
    if (spans === undefined) {
      const own = this.#events.filter((event) => event.what === what && (concerns(event) ?? whose) === whose)
      spans = merged(own.map(({ at, to }) => ({ from: at, to })))
      this.#spans.set(id, spans)
    }
    return spans
  }
}

/** Whether one of the spans has a moment in common with this one. */
const meets = (spans: readonly Span[], { from, to }: Span): boolean => {
  const near = spans[firstAfter(spans, from)]
  return near !== undefined && near.from <= to
}

/** The last span that begins at `at` or earlier. */
const lastBefore = (spans: readonly Span[], at: number): Span | undefined => {
  const index = firstAfter(spans, at)
  const around = spans[index]
  return around !== undefined && around.from <= at ? around : spans[index - 1]
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
