import { type MeterProvider, type TracerProvider, metrics as globalMetrics, trace } from '@opentelemetry/api'
import { checkFlag, checkMethods, checkOptions } from '../check-arguments.js'
import { type Stop, orStop, stopOf } from './events.js'
import { MEASURE_OPTIONS, type MeasureOptions, checkMeasured } from './measure-options.js'
import { startMetrics } from './otel-metrics.js'
import { Spans } from './spans.js'

export type { Stop } from './events.js'
export type { MeasureOptions } from './measure-options.js'
export type { MetricData } from './metric-types.js'
export { type Collected, type HoldfastProducer, type ProducerOptions, metricProducer } from './metric-producer.js'
export type { Buckets } from './metric-definitions.js'
export type { NameMapper } from './series.js'

/** Where traces and metrics go, and what they contain. */
export interface OtelOptions extends MeasureOptions {
  /** Where the traces go. Default: the global provider of `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined
  /** Where the metrics go. Default: the global provider of `@opentelemetry/api`. */
  readonly meterProvider?: MeterProvider | undefined
  /** Sends metrics. Default true. */
  readonly metrics?: boolean | undefined
  /** Sends traces. Default true. */
  readonly traces?: boolean | undefined
}

const KNOWN = ['tracerProvider', 'meterProvider', ...MEASURE_OPTIONS, 'metrics', 'traces']

const check = (given: OtelOptions | undefined) => {
  const options = checkOptions(given, KNOWN)
  const { metrics = true, traces = true, tracerProvider = trace, meterProvider = globalMetrics } = options
  checkFlag(metrics, 'metrics')
  checkFlag(traces, 'traces')
  checkMethods(tracerProvider, 'tracerProvider', ['getTracer'])
  checkMethods(meterProvider, 'meterProvider', ['getMeter'])
  return { metrics, traces, tracerProvider, meterProvider, ...checkMeasured(options) }
}

/**
 * Sends traces and metrics of all clients in this process to OpenTelemetry, from now on. Returns a function that stops that. Call it before
 * you connect.
 */
export const instrument = (options?: OtelOptions): Stop => {
  const { metrics, traces, tracerProvider, meterProvider, names, kinds } = check(options)
  const stop = metrics ? startMetrics(meterProvider, names, kinds) : () => undefined
  return traces ? stopOf(stop, orStop(stop, () => new Spans(tracerProvider, names)).stop) : stopOf(stop)
}
