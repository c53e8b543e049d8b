import { systemClock } from '../base/clock.js'
import type { Instruments } from './measure.js'
import { type Bounds, DECISIONS, RENEWALS } from './metric-definitions.js'
import { type Labels, attributeSets } from './series.js'

export type Attributes = Readonly<Record<string, string | boolean>>

/** What was counted under the same attributes. */
class Counted {
  readonly attributes: Attributes
  /** When it began, ms since the epoch. */
  readonly since = systemClock.now()

  constructor(attributes: Attributes) {
    this.attributes = attributes
  }
}

/** How often something happened. */
export class Count extends Counted {
  value = 0
}

/** How long things lasted, s. */
export class Distribution extends Counted {
  /** Inclusive upper bounds of the buckets; the last bucket has none. */
  readonly bounds: readonly number[]
  readonly buckets: number[]
  count = 0
  sum = 0
  min = Infinity
  max = -Infinity

  constructor(attributes: Attributes, bounds: readonly number[]) {
    super(attributes)
    this.bounds = bounds
    this.buckets = new Array<number>(bounds.length + 1).fill(0)
  }

  record(length: number): void {
    this.count += 1
    this.sum += length
    if (length < this.min) this.min = length
    if (length > this.max) this.max = length
    let bucket = 0
    while (length > (this.bounds[bucket] ?? Infinity)) bucket += 1
    ;(this.buckets[bucket] as number) += 1
  }
}

/** Counts by what they are about. */
class CountsBy<K> {
  readonly #all = new Map<K, Count>()
  readonly #attributesOf: (key: K) => Attributes

  constructor(attributesOf: (key: K) => Attributes, first: readonly K[] = []) {
    this.#attributesOf = attributesOf
    for (const key of first) this.add(key, 0)
  }

  add(key: K, by = 1): void {
    let count = this.#all.get(key)
    if (count === undefined) this.#all.set(key, (count = new Count(this.#attributesOf(key))))
    count.value += by
  }

  [Symbol.iterator](): Iterator<Count> {
    return this.#all.values()
  }
}

/** Everything that is measured, counted here until somebody reads it. */
export class Counts implements Instruments {
  readonly waits: Distribution[] = []
  readonly holds: Distribution[] = []
  readonly losses = new CountsBy<Labels>((labels) => ({ ...labels }))
  readonly renewals = new CountsBy<string>((outcome) => ({ outcome }), RENEWALS)
  readonly decisions = new CountsBy<string>((outcome) => ({ outcome }), DECISIONS)
  readonly reconnects = new CountsBy<'all'>(() => ({}), ['all'])
  readonly deadlocks = new CountsBy<'all'>(() => ({}), ['all'])
  readonly #ofWaits
  readonly #ofHolds

  constructor({ wait, hold }: Bounds) {
    const add = (all: Distribution[], one: Distribution): Distribution => {
      all.push(one)
      return one
    }
    this.#ofWaits = attributeSets((labels, outcome, local) =>
      add(this.waits, new Distribution({ ...labels, outcome, local }, wait)),
    )
    this.#ofHolds = attributeSets((labels, outcome) => add(this.holds, new Distribution({ ...labels, outcome }, hold)))
  }

  begin(labels: Labels): void {
    this.losses.add(labels, 0)
  }

  waited(labels: Labels, length: number, outcome: string, local: boolean): void {
    this.#ofWaits(labels, outcome, local).record(length)
  }

  held(labels: Labels, length: number, outcome: string): void {
    this.#ofHolds(labels, outcome).record(length)
  }

  lost(labels: Labels): void {
    this.losses.add(labels)
  }

  renewed(outcome: string): void {
    this.renewals.add(outcome)
  }

  decided(outcome: string): void {
    this.decisions.add(outcome)
  }

  reconnected(): void {
    this.reconnects.add('all')
  }

  deadlocked(): void {
    this.deadlocks.add('all')
  }
}
