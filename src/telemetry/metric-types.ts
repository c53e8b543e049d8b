import type { Attributes, ValueType } from '@opentelemetry/api'

/** Numbers of OpenTelemetry's SDK for the form of data. */
export const HISTOGRAM = 0
export const GAUGE = 2
export const SUM = 3
export const CUMULATIVE = 1

/** Seconds and nanoseconds since the epoch. */
export type Time = [seconds: number, nanoseconds: number]

export interface Point<V> {
  readonly startTime: Time
  readonly endTime: Time
  readonly attributes: Attributes
  readonly value: V
}

export interface Buckets {
  readonly buckets: { boundaries: number[]; counts: number[] }
  readonly count: number
  readonly sum: number
  readonly min: number
  readonly max: number
}

export interface About {
  readonly descriptor: { name: string; description: string; unit: string; valueType: ValueType }
  readonly aggregationTemporality: typeof CUMULATIVE
}

/** One metric, in the form of OpenTelemetry's SDK for JavaScript. */
export type MetricData = About &
  (
    | { readonly dataPointType: typeof HISTOGRAM; readonly dataPoints: Point<Buckets>[] }
    | { readonly dataPointType: typeof GAUGE; readonly dataPoints: Point<number>[] }
    | { readonly dataPointType: typeof SUM; readonly dataPoints: Point<number>[]; readonly isMonotonic: boolean }
  )
