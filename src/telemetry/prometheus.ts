import { Counter, Gauge, Histogram, type Registry, register as globalRegister } from 'prom-client'
import { checkMethods, checkOptions } from '../check-arguments.js'
import { type Stop, orStop, stopOf } from './events.js'
import { MEASURE_OPTIONS, type MeasureOptions, checkMeasured } from './measure-options.js'
import { type Instruments, Measurements } from './measure.js'
import { type Buckets, CALL_ENDS, DECISIONS, HELP, HOLD_ENDS, RENEWALS, bucketsOf } from './metric-definitions.js'
import { type Labels, type Series, attributeSets } from './series.js'

export type { Stop } from './events.js'
export type { MeasureOptions } from './measure-options.js'
export type { Buckets } from './metric-definitions.js'
export type { NameMapper } from './series.js'

/** Where metrics go, and what they contain. */
export interface PrometheusOptions extends MeasureOptions {
  /** Where the metrics are registered. Default: the global registry of prom-client. */
  readonly register?: Registry | undefined
  /** The buckets of the two histograms. Default: those of `Buckets`. */
  readonly buckets?: Buckets | undefined
}

const KNOWN = ['register', ...MEASURE_OPTIONS, 'buckets']

const check = (given: PrometheusOptions | undefined) => {
  const { register = globalRegister, buckets, ...measured } = checkOptions(given, KNOWN)
  checkMethods(register, 'register', ['registerMetric', 'getSingleMetric', 'removeSingleMetric'])
  const bounds = bucketsOf(checkOptions(buckets, ['wait', 'hold']))
  return { register, labels: measured.name === undefined ? [] : ['name'], ...checkMeasured(measured), bounds }
}

type Checked = ReturnType<typeof check>

const NAMES = {
  wait: 'holdfast_lock_wait_duration_seconds',
  hold: 'holdfast_lock_hold_duration_seconds',
  waiting: 'holdfast_lock_waiting',
  held: 'holdfast_lock_held',
  oldest: 'holdfast_lock_held_oldest_seconds',
  lost: 'holdfast_lock_lost_total',
  renewals: 'holdfast_lock_renewals_total',
  decisions: 'holdfast_limiter_decisions_total',
  reconnects: 'holdfast_client_reconnects_total',
  deadlocks: 'holdfast_deadlocks_total',
} as const

type Metric = keyof typeof NAMES

/** What all metrics are made with. */
const setUp = ({ register }: Checked, metric: Metric, labelNames: readonly string[]) => ({
  name: NAMES[metric],
  help: HELP[metric],
  labelNames: [...labelNames],
  registers: [register],
})

/** The gauges are read when somebody scrapes. */
const addGauges = (checked: Checked, all: () => Iterable<Series>): void => {
  const gauge = (metric: Metric, read: (series: Series) => number): void => {
    new Gauge({
      ...setUp(checked, metric, ['kind', ...checked.labels]),
      collect() {
        for (const series of all()) this.set({ ...series.labels }, read(series))
      },
    })
  }
  gauge('waiting', ({ waiting }) => waiting)
  gauge('held', ({ held }) => held)
  gauge('oldest', ({ oldest }) => oldest)
}

const countersOf = (checked: Checked) => {
  const counter = (metric: Metric, labels: readonly string[] = []) => new Counter(setUp(checked, metric, labels))
  return {
    lost: counter('lost', ['kind', ...checked.labels]),
    renewals: counter('renewals', ['outcome']),
    decisions: counter('decisions', ['outcome']),
    reconnects: counter('reconnects'),
    deadlocks: counter('deadlocks'),
  }
}

const histogramsOf = (checked: Checked) => {
  const { labels, bounds } = checked
  return {
    waits: new Histogram({ ...setUp(checked, 'wait', ['kind', ...labels, 'outcome', 'local']), buckets: bounds.wait }),
    holds: new Histogram({ ...setUp(checked, 'hold', ['kind', ...labels, 'outcome']), buckets: bounds.hold }),
  }
}

type Counters = ReturnType<typeof countersOf>
type Histograms = ReturnType<typeof histogramsOf>

const instrumentsOf = (
  { lost, renewals, decisions, reconnects, deadlocks }: Counters,
  { waits, holds }: Histograms,
): Instruments => {
  const ofWaits = attributeSets((labels, outcome, local) => ({ ...labels, outcome, local: String(local) }))
  const ofHolds = attributeSets((labels, outcome) => ({ ...labels, outcome }))
  return {
    begin(labels: Labels) {
      lost.inc({ ...labels }, 0)
      // A series that appears with its first event has no increase then. With names, there would be too many of them.
      const most = labels.name === undefined ? Infinity : 1
      for (const end of CALL_ENDS.slice(0, most)) waits.zero({ ...labels, ...end })
      for (const outcome of HOLD_ENDS.slice(0, most)) holds.zero({ ...labels, outcome })
    },
    waited: (labels, length, outcome, local) => waits.observe(ofWaits(labels, outcome, local), length),
    held: (labels, length, outcome) => holds.observe(ofHolds(labels, outcome), length),
    lost: (labels) => lost.inc({ ...labels }),
    renewed: (outcome) => renewals.inc({ outcome }),
    decided: (outcome) => decisions.inc({ outcome }),
    reconnected: () => reconnects.inc(),
    deadlocked: () => deadlocks.inc(),
  }
}

/** All of them, or none. */
const install = (checked: Checked): Measurements => {
  const counters = countersOf(checked)
  const histograms = histogramsOf(checked)
  addGauges(checked, () => measurements.series)
  for (const outcome of RENEWALS) counters.renewals.inc({ outcome }, 0)
  for (const outcome of DECISIONS) counters.decisions.inc({ outcome }, 0)
  const measurements = new Measurements(instrumentsOf(counters, histograms), checked.names, checked.kinds)
  return measurements
}

const checkFree = ({ register }: Checked): void => {
  const taken = Object.values(NAMES).find((name) => register.getSingleMetric(name) !== undefined)
  if (taken !== undefined) throw new Error(`register: a metric with the name ${taken} has already been registered`)
}

/** Removes the metrics that are there now, and none that takes one of their names later. */
const removalsOf = ({ register }: Checked): (() => void)[] =>
  Object.values(NAMES).map((name) => {
    const ours = register.getSingleMetric(name)
    return () => {
      if (register.getSingleMetric(name) === ours) register.removeSingleMetric(name)
    }
  })

/**
 * Registers the metrics of all clients in this process with prom-client, and counts from now on. Returns a function that stops that, and removes
 * the metrics from the registry. Call it before you connect.
 */
export const instrument = (options?: PrometheusOptions): Stop => {
  const checked = check(options)
  checkFree(checked)
  const remove = Object.values(NAMES).map((name) => () => checked.register.removeSingleMetric(name))
  const measurements = orStop(stopOf(...remove), () => install(checked))
  return stopOf(measurements.stop, ...removalsOf(checked))
}
