/** holdfast with somebody who watches it: not in the tables of the peers, but in scenario O. */
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter } from '@opentelemetry/sdk-trace-base'
import { type HoldfastProducer, instrument as forOtel, metricProducer } from 'holdfast/otel'
import { instrument as forPrometheus } from 'holdfast/prometheus'
import { Registry } from 'prom-client'
import { holdfast } from './holdfast.js'
import type { Contender, Held, Participant } from './participant.js'

/** ms. Shorter than the 60 s of the SDK, so that each turn pays for some exports. */
const EXPORT_EACH = 500

const GRANTED = { kind: 'lock', outcome: 'granted', local: false }
const RELEASED = { kind: 'lock', outcome: 'released' }

class ForgetfulMetrics extends InMemoryMetricExporter {
  override export(...[metrics, done]: Parameters<InMemoryMetricExporter['export']>): void {
    super.export(metrics, done)
    this.reset()
  }
}

class ForgetfulSpans extends InMemorySpanExporter {
  override export(...[spans, done]: Parameters<InMemorySpanExporter['export']>): void {
    super.export(spans, done)
    this.reset()
  }
}

const meterProvider = (metricProducers: HoldfastProducer[] = []): MeterProvider => {
  const exporter = new ForgetfulMetrics(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    ...{ exporter, metricProducers, exportIntervalMillis: EXPORT_EACH, exportTimeoutMillis: EXPORT_EACH },
  })
  return new MeterProvider({ readers: [reader] })
}

const tracerProvider = (): BasicTracerProvider =>
  new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(new ForgetfulSpans())] })

/** No telemetry of holdfast: only what the SDK takes for two measurements of each pair, which nobody can save. */
export const byHand: Participant = {
  ...holdfast,
  ...{ name: 'holdfast, two records by hand', family: 'watched', file: 'bench/participants/watched.ts' },
  async open(url, watchdog) {
    const meter = meterProvider().getMeter('bench')
    const [waits, holds] = [meter.createHistogram('wait'), meter.createHistogram('hold')]
    const session = await holdfast.open(url, watchdog)
    const lock = (...which: Parameters<typeof session.lock>): Contender => {
      const contender = session.lock(...which)
      const acquire = async (): Promise<Held> => {
        const held = await contender.acquire()
        waits.record(0.001, GRANTED)
        const release = (): Promise<unknown> => {
          holds.record(0.001, RELEASED)
          return held.release()
        }
        return { release }
      }
      return { acquire }
    }
    return { ...session, lock }
  },
}

const watchedBy = (name: string, watch: () => unknown): Participant => {
  let watches = false
  return {
    ...holdfast,
    ...{ name: `holdfast, ${name}`, family: 'watched', file: 'bench/participants/watched.ts' },
    open(url, watchdog) {
      // A process has several clients, and one who watches all of them.
      if (!watches) watch()
      watches = true
      return holdfast.open(url, watchdog)
    },
  }
}

export const otelProducer = watchedBy('OpenTelemetry metric producer', () =>
  meterProvider([metricProducer({ kinds: ['lock'] })]),
)
export const otelMetrics = watchedBy('OpenTelemetry metrics', () =>
  forOtel({ meterProvider: meterProvider(), traces: false, kinds: ['lock'] }),
)
export const otelNames = watchedBy('OpenTelemetry metrics with names', () =>
  forOtel({ meterProvider: meterProvider(), traces: false, maxNames: 200, name: (name) => name }),
)
export const prometheus = watchedBy('Prometheus metrics', () => forPrometheus({ register: new Registry() }))
export const otelAll = watchedBy('OpenTelemetry metrics and traces', () =>
  forOtel({ meterProvider: meterProvider(), tracerProvider: tracerProvider() }),
)

export const watched: readonly Participant[] = [byHand, otelProducer, otelMetrics, otelNames, prometheus, otelAll]
