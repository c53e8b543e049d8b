import { systemClock } from '../base/clock.js'
import { checkAmount } from '../check-arguments.js'
import { LONGEST_NAME, plainText } from '../plain-text.js'
import { isPromise, textOf } from '../thrown.js'

/**
 * Makes a label of the name of a lock: the part of it that has few different values, such as `orders` of `orders:4711`. `undefined`: no label.
 * Names may come from your users: never return one as it is.
 */
export type NameMapper = (lockName: string, kind: string) => string | undefined

/** What a measurement is about. */
export interface Labels {
  readonly kind: string
  readonly name?: string
}

/** A hold that lasts. */
export interface Held {
  readonly series: Series
  /** When it began, ms, by the system's monotonic clock. */
  readonly since: number
  older: Held | undefined
  newer: Held | undefined
}

/** What happens now to all locks with the same labels. */
export class Series {
  readonly labels: Labels
  /** How many calls wait. */
  waiting = 0
  /** How many holds last. */
  held = 0
  // A list of its own: a `Set` would have to hash each hold.
  #oldest: Held | undefined
  #newest: Held | undefined

  constructor(labels: Labels) {
    this.labels = labels
  }

  begins(since: number): Held {
    const older = this.#newest
    const held: Held = { series: this, since, older, newer: undefined }
    if (older === undefined) this.#oldest = held
    else older.newer = held
    this.#newest = held
    this.held += 1
    return held
  }

  /** Call it once for each hold. */
  ends({ older, newer }: Held): void {
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    this.held -= 1
  }

  /** How long the oldest hold has lasted, s; 0: there is none. */
  get oldest(): number {
    return this.#oldest === undefined ? 0 : (systemClock.monotonic() - this.#oldest.since) / 1000
  }
}

const MOST_NAMES = 1000
const OTHER = 'other'

/** The labels for names. There are never more than `most`, whatever the mapper returns; further ones become `other`. */
export class Names {
  readonly #mapper: NameMapper | undefined
  readonly #most: number
  readonly #known = new Set<string>()
  #warned = false

  constructor(mapper?: NameMapper, most = MOST_NAMES) {
    if (mapper !== undefined && typeof mapper !== 'function') throw new TypeError('name must be a function')
    checkAmount(most, 'maxNames', 1, 1_000_000)
    this.#mapper = mapper
    this.#most = most
  }

  of(lockName: string, kind: string): string | undefined {
    if (this.#mapper === undefined) return undefined
    const name = this.#mapped(this.#mapper, lockName, kind)
    if (name === undefined) return undefined
    // A label that is known is plain.
    return name.length <= LONGEST_NAME && this.#known.has(name) ? name : this.#bounded(plainText(name))
  }

  #bounded(name: string): string {
    if (this.#known.has(name)) return name
    if (this.#known.size >= this.#most) return OTHER
    this.#known.add(name)
    return name
  }

  /** A mapper that throws must not lose the measurement. */
  #mapped(mapper: NameMapper, lockName: string, kind: string): string | undefined {
    try {
      const name: unknown = mapper(lockName, kind)
      if (typeof name === 'string') return name
      // An async function is no mapper. If its promise rejects, that must not end the process.
      isPromise(name)
      return undefined
    } catch (thrown) {
      if (!this.#warned) process.emitWarning(`holdfast: the function name threw: ${textOf(thrown)}`)
      this.#warned = true
      return undefined
    }
  }
}

/** All series, by their labels. */
export class AllSeries {
  readonly #byKind = new Map<string, Map<string | undefined, Series>>()
  readonly #names: Names
  readonly #begin: (labels: Labels) => void
  /** The one that was asked for last: most programs have few. */
  #last: Series | undefined

  /** `begin` is called for each new series. */
  constructor(names: Names, begin: (labels: Labels) => void) {
    this.#names = names
    this.#begin = begin
  }

  of(kind: string, lockName: string): Series {
    return this.#with(kind, this.#names.of(lockName, kind))
  }

  /** The series of a kind, without a name. */
  ofKind(kind: string): Series {
    return this.#with(kind, undefined)
  }

  *[Symbol.iterator](): Generator<Series> {
    for (const ofKind of this.#byKind.values()) yield* ofKind.values()
  }

  #with(kind: string, name: string | undefined): Series {
    const last = this.#last?.labels
    if (last?.kind !== kind || last.name !== name) this.#last = this.#find(kind, name)
    return this.#last as Series
  }

  #find(kind: string, name: string | undefined): Series {
    let ofKind = this.#byKind.get(kind)
    if (ofKind === undefined) this.#byKind.set(kind, (ofKind = new Map<string | undefined, Series>()))
    return ofKind.get(name) ?? this.#new(ofKind, kind, name)
  }

  #new(ofKind: Map<string | undefined, Series>, kind: string, name: string | undefined): Series {
    const labels = name === undefined ? { kind } : { kind, name }
    const series = new Series(labels)
    ofKind.set(name, series)
    this.#begin(labels)
    return series
  }
}

/** Makes the attributes of a measurement once for each labels and outcome: there are few of them, and many measurements. */
export const attributeSets = <A extends object>(
  make: (labels: Labels, outcome: string, local: boolean) => A,
): ((labels: Labels, outcome: string, local?: boolean) => A) => {
  const sets = [new Map<Labels, Map<string, A>>(), new Map<Labels, Map<string, A>>()] as const
  const find = (labels: Labels, outcome: string, local: boolean): A => {
    const ofLabels = sets[local ? 1 : 0]
    let all = ofLabels.get(labels)
    if (all === undefined) ofLabels.set(labels, (all = new Map<string, A>()))
    let set = all.get(outcome)
    if (set === undefined) all.set(outcome, (set = make(labels, outcome, local)))
    return set
  }
  // Most measurements are like the one before.
  let lastLabels: Labels | undefined
  let lastOutcome = ''
  let lastLocal = false
  let last: A
  return (labels, outcome, local = false) => {
    if (labels === lastLabels && outcome === lastOutcome && local === lastLocal) return last
    last = find(labels, outcome, local)
    ;[lastLabels, lastOutcome, lastLocal] = [labels, outcome, local]
    return last
  }
}
