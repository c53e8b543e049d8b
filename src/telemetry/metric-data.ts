import { type Attributes, ValueType } from '@opentelemetry/api'
import type { Count, Counts, Distribution } from './counts.js'
import {
  type About,
  type Buckets,
  CUMULATIVE,
  GAUGE,
  HISTOGRAM,
  type MetricData,
  type Point,
  SUM,
  type Time,
} from './metric-types.js'
import { type Metric, OTEL } from './otel-names.js'
import type { Series } from './series.js'

const timeOf = (ms: number): Time => [Math.trunc(ms / 1000), (ms % 1000) * 1_000_000]

const aboutOf = (metric: Metric): About => ({
  descriptor: { ...metric, valueType: ValueType.DOUBLE },
  aggregationTemporality: CUMULATIVE,
})

const bucketsOf = ({ bounds, buckets, count, sum, min, max }: Distribution): Buckets => ({
  ...{ count, sum, min, max },
  // What was read must not change with the next measurement.
  buckets: { boundaries: [...bounds], counts: [...buckets] },
})

/** What is measured, at one moment. */
class Reading {
  readonly #since: number
  readonly #now: number

  constructor(since: number, now: number) {
    this.#since = since
    this.#now = now
  }

  histogram(metric: Metric, all: readonly Distribution[]): MetricData {
    const dataPoints = all.map((one) => this.#point(one.attributes, bucketsOf(one), one.since))
    return { ...aboutOf(metric), dataPointType: HISTOGRAM, dataPoints }
  }

  counter(metric: Metric, all: Iterable<Count>): MetricData {
    const dataPoints = Array.from(all, ({ attributes, value, since }) => this.#point(attributes, value, since))
    return { ...aboutOf(metric), dataPointType: SUM, isMonotonic: true, dataPoints }
  }

  /** What goes up and down, and has a meaning if it is added to that of other processes. */
  level(metric: Metric, all: Iterable<Series>, read: (series: Series) => number): MetricData {
    return { ...aboutOf(metric), dataPointType: SUM, isMonotonic: false, dataPoints: this.#points(all, read) }
  }

  gauge(metric: Metric, all: Iterable<Series>, read: (series: Series) => number): MetricData {
    return { ...aboutOf(metric), dataPointType: GAUGE, dataPoints: this.#points(all, read) }
  }

  #points(all: Iterable<Series>, read: (series: Series) => number): Point<number>[] {
    return Array.from(all, (series) => this.#point({ ...series.labels }, read(series)))
  }

  #point<V>(attributes: Attributes, value: V, since = this.#since): Point<V> {
    // The clock may have been set back.
    const endTime = timeOf(Math.max(since, this.#now))
    return { startTime: timeOf(since), endTime, attributes: { ...attributes }, value }
  }
}

/** What has been counted until `now`. `since`: when counting began; both in ms since the epoch. */
export const dataOf = (counts: Counts, series: Iterable<Series>, since: number, now: number): MetricData[] => {
  const reading = new Reading(since, now)
  return [
    reading.histogram(OTEL.wait, counts.waits),
    reading.histogram(OTEL.hold, counts.holds),
    reading.level(OTEL.waiting, series, ({ waiting }) => waiting),
    reading.level(OTEL.held, series, ({ held }) => held),
    reading.gauge(OTEL.oldest, series, ({ oldest }) => oldest),
    reading.counter(OTEL.lost, counts.losses),
    reading.counter(OTEL.renewals, counts.renewals),
    reading.counter(OTEL.decisions, counts.decisions),
    reading.counter(OTEL.reconnects, counts.reconnects),
    reading.counter(OTEL.deadlocks, counts.deadlocks),
  ].filter(({ dataPoints }) => dataPoints.length > 0)
}
