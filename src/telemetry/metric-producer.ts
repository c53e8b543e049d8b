import { systemClock } from '../base/clock.js'
import { checkOptions } from '../check-arguments.js'
import { Counts } from './counts.js'
import { type Stop, stopOf } from './events.js'
import { MEASURE_OPTIONS, type MeasureOptions, checkMeasured } from './measure-options.js'
import { Measurements } from './measure.js'
import { dataOf } from './metric-data.js'
import type { MetricData } from './metric-types.js'
import { type Buckets, bucketsOf } from './metric-definitions.js'
import type { Series } from './series.js'

/** What a metric producer measures. */
export interface ProducerOptions extends MeasureOptions {
  /** The buckets of the two histograms. Default: those of `Buckets`. */
  readonly buckets?: Buckets | undefined
}

/** The reader of the metrics has a resource of its own. */
interface NoResource {
  readonly attributes: Record<string, never>
  merge(other: NoResource | null): NoResource
  getRawAttributes(): []
}

/** What has been measured, as a `CollectionResult` of `@opentelemetry/sdk-metrics`. */
export interface Collected {
  /** The metrics. The reader adds its own resource. */
  readonly resourceMetrics: {
    readonly resource: NoResource
    readonly scopeMetrics: { readonly scope: { readonly name: string }; readonly metrics: MetricData[] }[]
  }
  /** None. */
  readonly errors: unknown[]
}

/** A `MetricProducer` of `@opentelemetry/sdk-metrics`. */
export interface HoldfastProducer extends Disposable {
  /** What has been counted since the beginning, and what waits or is held now. A reader calls it; there may be several. */
  collect(): Promise<Collected>
  /**
   * Ends measuring. After that a reader still gets what was counted until then, so you may call this before the SDK is shut down, or after. You may call
   * it twice.
   */
  readonly stop: Stop
}

const NO_RESOURCE: NoResource = {
  attributes: {},
  merge: (other) => other ?? NO_RESOURCE,
  getRawAttributes: () => [],
}

const collected = (metrics: MetricData[]): Collected => {
  const scopeMetrics = metrics.length === 0 ? [] : [{ scope: { name: 'holdfast' }, metrics }]
  return { resourceMetrics: { resource: NO_RESOURCE, scopeMetrics }, errors: [] }
}

/**
 * Measures all clients in this process from now on, and gives the metrics to the readers of OpenTelemetry that you pass it to. This costs less
 * than the metrics of `instrument`. Call it before you connect.
 */
export const metricProducer = (options?: ProducerOptions): HoldfastProducer => {
  const { buckets, ...measured } = checkOptions(options, [...MEASURE_OPTIONS, 'buckets'])
  const { names, kinds } = checkMeasured(measured)
  const counts = new Counts(bucketsOf(checkOptions(buckets, ['wait', 'hold'])))
  const since = systemClock.now()
  const measurements = new Measurements(counts, names, kinds)
  // Once it has stopped, nobody knows what waits or is held.
  let present: Iterable<Series> = measurements.series
  const stop = stopOf(measurements.stop, () => (present = []))
  return {
    collect: () => Promise.resolve(collected(dataOf(counts, present, since, systemClock.now()))),
    stop,
    [Symbol.dispose]: stop,
  }
}
