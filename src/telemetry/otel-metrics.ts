import type { BatchObservableResult, Meter, MeterProvider } from '@opentelemetry/api'
import { orStop, stopOf } from './events.js'
import { type Instruments, Measurements } from './measure.js'
import { DECISIONS, HELP, RENEWALS, bucketsOf } from './metrics.js'
import { type Names, attributeSets, oldestOf } from './series.js'

const seconds = (description: string, explicitBucketBoundaries: number[]) => ({
  description,
  unit: 's',
  advice: { explicitBucketBoundaries },
})
const things = (description: string, unit: string) => ({ description, unit })

const countersOf = (meter: Meter) => ({
  lost: meter.createCounter('holdfast.lock.lost', things(HELP.lost, '{hold}')),
  renewals: meter.createCounter('holdfast.lock.renewals', things(HELP.renewals, '{renewal}')),
  decisions: meter.createCounter('holdfast.limiter.decisions', things(HELP.decisions, '{decision}')),
  reconnects: meter.createCounter('holdfast.client.reconnects', things(HELP.reconnects, '{reconnect}')),
  deadlocks: meter.createCounter('holdfast.deadlocks', things(HELP.deadlocks, '{deadlock}')),
})

const instrumentsOf = (meter: Meter): Instruments => {
  const buckets = bucketsOf()
  const waits = meter.createHistogram('holdfast.lock.wait.duration', seconds(HELP.wait, buckets.wait))
  const holds = meter.createHistogram('holdfast.lock.hold.duration', seconds(HELP.hold, buckets.hold))
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
  const waiting = meter.createObservableUpDownCounter('holdfast.lock.waiting', things(HELP.waiting, '{request}'))
  const held = meter.createObservableUpDownCounter('holdfast.lock.held', things(HELP.held, '{hold}'))
  const oldest = meter.createObservableGauge('holdfast.lock.held.oldest', things(HELP.oldest, 's'))
  const all = [waiting, held, oldest]
  // It listens from here on, when no instrument can fail any more.
  const measurements = new Measurements(instruments, names, kinds)
  const observe = (result: BatchObservableResult): void => {
    for (const series of measurements.series) {
      const labels = { ...series.labels }
      result.observe(waiting, series.waiting, labels)
      result.observe(held, series.held.size, labels)
      result.observe(oldest, oldestOf(series), labels)
    }
  }
  orStop(measurements.stop, () => meter.addBatchObservableCallback(observe, all))
  return stopOf(measurements.stop, () => meter.removeBatchObservableCallback(observe, all))
}
