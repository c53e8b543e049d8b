import { systemClock } from '../base/clock.js'
import { checkAmount } from '../check-arguments.js'
import { plainText } from '../plain-text.js'
import { textOf } from '../thrown.js'

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
}

/** What happens now to all locks with the same labels. */
export interface Series {
  readonly labels: Labels
  /** How many calls wait. */
  waiting: number
  /** The oldest comes first. */
  readonly held: Set<Held>
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
    return name === undefined ? undefined : this.#bounded(plainText(name))
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
      return typeof name === 'string' ? name : undefined
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
    let ofKind = this.#byKind.get(kind)
    if (ofKind === undefined) this.#byKind.set(kind, (ofKind = new Map<string | undefined, Series>()))
    return ofKind.get(name) ?? this.#new(ofKind, kind, name)
  }

  #new(ofKind: Map<string | undefined, Series>, kind: string, name: string | undefined): Series {
    const labels = name === undefined ? { kind } : { kind, name }
    const series: Series = { labels, waiting: 0, held: new Set() }
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
  return (labels, outcome, local = false) => {
    const ofLabels = sets[local ? 1 : 0]
    let all = ofLabels.get(labels)
    if (all === undefined) ofLabels.set(labels, (all = new Map<string, A>()))
    let set = all.get(outcome)
    if (set === undefined) all.set(outcome, (set = make(labels, outcome, local)))
    return set
  }
}

/** How long the oldest hold of these has lasted, s; 0: there is none. */
export const oldestOf = ({ held }: Series): number => {
  const [oldest] = held
  return oldest === undefined ? 0 : (systemClock.monotonic() - oldest.since) / 1000
}
