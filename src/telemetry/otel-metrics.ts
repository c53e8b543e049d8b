import type { BatchObservableResult, Meter, MeterProvider } from '@opentelemetry/api'
import { orStop, stopOf } from './events.js'
import { type Instruments, Measurements } from './measure.js'
import { DECISIONS, RENEWALS, bucketsOf } from './metric-definitions.js'
import { type Metric, OTEL } from './otel-names.js'
import { type Names, attributeSets } from './series.js'

const countersOf = (meter: Meter) => {
  const counter = (about: Metric) => meter.createCounter(about.name, about)
  return {
    lost: counter(OTEL.lost),
    renewals: counter(OTEL.renewals),
    decisions: counter(OTEL.decisions),
    reconnects: counter(OTEL.reconnects),
    deadlocks: counter(OTEL.deadlocks),
  }
}

const histogramsOf = (meter: Meter) => {
  const bounds = bucketsOf()
  const histogram = (about: Metric, explicitBucketBoundaries: number[]) =>
    meter.createHistogram(about.name, { ...about, advice: { explicitBucketBoundaries } })
  return { waits: histogram(OTEL.wait, bounds.wait), holds: histogram(OTEL.hold, bounds.hold) }
}

const instrumentsOf = (meter: Meter): Instruments => {
  const { waits, holds } = histogramsOf(meter)
  const { lost, renewals, decisions, reconnects, deadlocks } = countersOf(meter)
  for (const outcome of RENEWALS) renewals.add(0, { outcome })
  for (const outcome of DECISIONS) decisions.add(0, { outcome })
  reconnects.add(0)
  deadlocks.add(0)
  const ofWaits = attributeSets((labels, outcome, local) => ({ ...labels, outcome, local }))
  const ofHolds = attributeSets((labels, outcome) => ({ ...labels, outcome }))
  return {
    begin: (labels) => lost.add(0, { ...labels }),
    waited: (labels, length, outcome, local) => waits.record(length, ofWaits(labels, outcome, local)),
    held: (labels, length, outcome) => holds.record(length, ofHolds(labels, outcome)),
    lost: (labels) => lost.add(1, { ...labels }),
    renewed: (outcome) => renewals.add(1, { outcome }),
    decided: (outcome) => decisions.add(1, { outcome }),
    reconnected: () => reconnects.add(1),
    deadlocked: () => deadlocks.add(1),
  }
}

/** Starts the metrics. Returns what stops them. */
export const startMetrics = (provider: MeterProvider, names: Names, kinds: readonly string[]): (() => void) => {
  const meter = provider.getMeter('holdfast')
  const instruments = instrumentsOf(meter)
  const waiting = meter.createObservableUpDownCounter(OTEL.waiting.name, OTEL.waiting)
  const held = meter.createObservableUpDownCounter(OTEL.held.name, OTEL.held)
  const oldest = meter.createObservableGauge(OTEL.oldest.name, OTEL.oldest)
  const all = [waiting, held, oldest]
  // It listens from here on, when no instrument can fail any more.
  const measurements = new Measurements(instruments, names, kinds)
  const observe = (result: BatchObservableResult): void => {
    for (const series of measurements.series) {
      const labels = { ...series.labels }
      result.observe(waiting, series.waiting, labels)
      result.observe(held, series.held, labels)
      result.observe(oldest, series.oldest, labels)
    }
  }
  orStop(measurements.stop, () => meter.addBatchObservableCallback(observe, all))
  return stopOf(measurements.stop, () => meter.removeBatchObservableCallback(observe, all))
}
