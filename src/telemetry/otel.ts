import { type MeterProvider, type TracerProvider, metrics as globalMetrics, trace } from '@opentelemetry/api'
import { checkFlag, checkMethods, checkOptions } from '../check-arguments.js'
import { type Stop, orStop, stopOf } from './events.js'
import { checkKinds } from './kinds.js'
import { startMetrics } from './otel-metrics.js'
import { type NameMapper, Names } from './series.js'
import { Spans } from './spans.js'

export type { Stop } from './events.js'
export type { NameMapper } from './series.js'

/** Where traces and metrics go, and what they contain. */
export interface OtelOptions {
  /** Where the traces go. Default: the global provider of `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined
  /** Where the metrics go. Default: the global provider of `@opentelemetry/api`. */
  readonly meterProvider?: MeterProvider | undefined
  /** Makes a label of a lock's name. Default: none; no name is in any trace or metric. */
  readonly name?: NameMapper | undefined
  /** How many different labels `name` may make; further ones become `other`. Default 1000. */
  readonly maxNames?: number | undefined
  /** Kinds whose metrics begin at 0 now, instead of with their first call. Default: none. */
  readonly kinds?: readonly string[] | undefined
  /** Sends metrics. Default true. */
  readonly metrics?: boolean | undefined
  /** Sends traces. Default true. */
  readonly traces?: boolean | undefined
}

const KNOWN = ['tracerProvider', 'meterProvider', 'name', 'maxNames', 'kinds', 'metrics', 'traces']

const check = (given: OtelOptions | undefined) => {
  const options = checkOptions(given, KNOWN)
  const { metrics = true, traces = true, tracerProvider = trace, meterProvider = globalMetrics, kinds = [] } = options
  checkFlag(metrics, 'metrics')
  checkFlag(traces, 'traces')
  checkMethods(tracerProvider, 'tracerProvider', ['getTracer'])
  checkMethods(meterProvider, 'meterProvider', ['getMeter'])
  const names = new Names(options.name, options.maxNames)
  return { metrics, traces, tracerProvider, meterProvider, names, kinds: checkKinds(kinds) }
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
