/** What really happened: when each unit of work waited and held, and from that, which deadlocks there were. */

/** A unit waits for locks, or holds them, in this time, ms. */
export interface Span {
  readonly unit: string
  readonly client: string
  readonly locks: readonly string[]
  /** What a report may call them. */
  readonly shown: readonly string[]
  readonly reads: boolean
  readonly from: number
  to: number
}

export interface WaitSpan extends Span {
  /** It waits for its locks one after the other, so not every deadlock through it shows at once. */
  readonly loose: boolean
}

export interface HoldSpan extends Span {
  /** It does not end by itself. */
  readonly renewed: boolean
}

/** A call of a reported cycle. */
export interface ToldCall {
  readonly client: string
  readonly lock: string
  readonly since: number
}

export interface Report {
  readonly at: number
  readonly by: string
  readonly cycle: readonly ToldCall[]
}

/** ms. */
export interface Tolerance {
  /** How far two clocks may differ. */
  readonly clock: number
  /** How far off the time may be that a client publishes for the beginning of its call. */
  readonly since: number
  /** How much later than promised a report may come. */
  readonly late: number
}

const PROMISED = 3000

const conflict = (wait: Span, hold: Span): boolean => !(wait.reads && hold.reads)
const meets = (wait: Span, hold: Span): boolean => wait.locks.some((lock) => hold.locks.includes(lock))
const at = (span: Span, time: number): boolean => span.from <= time && time < span.to

/** A deadlock: the waits, when it closed, and when it ended. */
interface TrueCycle {
  readonly waits: readonly WaitSpan[]
  readonly from: number
  readonly to: number
}

export class Truth {
  readonly waits: WaitSpan[] = []
  readonly holds: HoldSpan[] = []
  readonly reports: Report[] = []
  /** Calls that were rejected, each with its cycle. */
  readonly victims: Report[] = []
  readonly #tolerance: Tolerance
  /** A deadlock may be missed until then: something was wrong. */
  wellFrom = -Infinity
  /** Clients that look for deadlocks, and those that let one end their calls. */
  readonly looking = new Set<string>()
  readonly breaking = new Set<string>()

  constructor(tolerance: Tolerance) {
    this.#tolerance = tolerance
  }

  /** Every deadlock closes when its last call begins to wait, because a unit does one thing at a time. */
  cycles(): TrueCycle[] {
    return this.waits.flatMap((last) => this.#closedBy(last))
  }

  #closedBy(last: WaitSpan): TrueCycle[] {
    const time = last.from
    const [waits, holds] = [this.waits.filter((wait) => at(wait, time)), this.holds.filter((hold) => at(hold, time))]
    const found: TrueCycle[] = []
    const walk = (wait: WaitSpan, path: readonly WaitSpan[], ends: number): void => {
      for (const hold of holds) {
        if (!hold.renewed || hold.unit === wait.unit || !meets(wait, hold) || !conflict(wait, hold)) continue
        const until = Math.min(ends, hold.to, wait.to)
        for (const next of waits) {
          if (next.unit !== hold.unit) continue
          if (next === last) found.push({ waits: path, from: time, to: until })
          else if (!path.includes(next)) walk(next, [...path, next], until)
        }
      }
    }
    if (at(last, time)) walk(last, [last], Infinity)
    return found
  }

  /** Whether the call is this one. */
  #is(call: ToldCall, wait: WaitSpan): boolean {
    const near = Math.abs(call.since - wait.from) <= this.#tolerance.since
    return call.client === wait.client && wait.shown.includes(call.lock) && (near || wait.loose)
  }

  /** Whether the report is about these waits. */
  #tells({ cycle }: Report, waits: readonly WaitSpan[]): boolean {
    const left = [...waits]
    for (const call of cycle) {
      const place = left.findIndex((wait) => this.#is(call, wait))
      if (place === -1) return false
      left.splice(place, 1)
    }
    return left.length === 0
  }

  /** Whether there was a moment at which all of it was so. */
  #wasSo({ at: told, cycle }: Report): boolean {
    const { clock } = this.#tolerance
    const count = cycle.length
    const search = (i: number, path: readonly WaitSpan[], from: number, to: number): boolean => {
      if (from > to + clock || from > told + clock) return false
      if (i === count) return this.#holds(path, cycle, from, to)
      return this.waits.some(
        (wait) =>
          this.#is(cycle[i] as ToldCall, wait) &&
          search(i + 1, [...path, wait], Math.max(from, wait.from), Math.min(to, wait.to)),
      )
    }
    return search(0, [], -Infinity, Infinity)
  }

  #holds(path: readonly WaitSpan[], cycle: readonly ToldCall[], from: number, to: number): boolean {
    const { clock } = this.#tolerance
    return path.every((_, i) => {
      const { unit } = path[(i + 1) % path.length] as WaitSpan
      const { lock } = cycle[i] as ToldCall
      return this.holds.some(
        (hold) =>
          hold.unit === unit &&
          hold.renewed &&
          hold.shown.includes(lock) &&
          hold.from <= to + clock &&
          hold.to >= from - clock,
      )
    })
  }

  /** What of it must not be. `until`: what is not over by then may still come. */
  violations(until: number): string[] {
    return [...this.#missed(until), ...this.#untrue(), ...this.#victims()]
  }

  #missed(until: number): string[] {
    const { late } = this.#tolerance
    return this.cycles().flatMap((cycle) => {
      const { waits, from, to } = cycle
      const due = Math.max(from, this.wellFrom) + PROMISED + late
      if (due > until || to <= due) return []
      if (waits.some(({ client, loose }) => loose || !this.looking.has(client))) return []
      const what = waits.map(({ unit, locks }) => `${unit} for ${locks.join('+')}`).join(', ')
      const told = this.reports.filter((report) => this.#tells(report, waits) && report.at >= from && report.at <= due)
      const silent = [...new Set(waits.map(({ client }) => client))].filter((client) =>
        told.every(({ by }) => by !== client),
      )
      const unbroken = waits.some(({ client }) => this.breaking.has(client)) ? [`not broken: ${what} from ${from}`] : []
      return [...silent.map((client) => `missed by ${client}: ${what} from ${from}`), ...unbroken]
    })
  }

  #untrue(): string[] {
    const wrong = [...this.reports, ...this.victims].filter((report) => !this.#wasSo(report))
    return wrong.map((report) => `never was: ${JSON.stringify(report)}`)
  }

  #victims(): string[] {
    const seen = new Set<string>()
    return this.victims.flatMap((victim) => {
      const { cycle, by } = victim
      const id = cycle
        .map((call) => `${call.client} ${call.lock} ${call.since}`)
        .sort()
        .join(', ')
      const youngest = Math.max(...cycle.filter(({ client }) => this.breaking.has(client)).map(({ since }) => since))
      const own = cycle.some((call) => call.client === by && call.since === youngest)
      const twice = seen.has(id) ? [`two victims: ${id}`] : []
      seen.add(id)
      return own ? twice : [...twice, `not the youngest: ${by} of ${id}`]
    })
  }
}
