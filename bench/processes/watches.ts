/** Who may watch a client, in scenario O. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
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

/** ms. Shorter than the 60 s of the SDK, so that each turn pays for some exports and scrapes. */
const EXPORT_EACH = 250

/** One who watches. */
export interface Watching {
  /** Called for each pair of acquire and release. */
  readonly pair?: () => void
  /** Resolves when nothing of it runs any more. */
  end(): Promise<void>
}

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

const metersWith = (metricProducers: HoldfastProducer[] = []): MeterProvider => {
  const exporter = new ForgetfulMetrics(AggregationTemporality.CUMULATIVE)
  const reader = new PeriodicExportingMetricReader({
    ...{ exporter, metricProducers, exportIntervalMillis: EXPORT_EACH, exportTimeoutMillis: EXPORT_EACH },
  })
  return new MeterProvider({ readers: [reader] })
}

const endOf = (stop: () => void, ...providers: { shutdown(): Promise<void> }[]): Watching => ({
  async end() {
    await Promise.all(providers.map((provider) => provider.shutdown()))
    stop()
  },
})

/** The events that metrics are made of, without metrics. */
const heard = (): Watching => {
  const channels = ['wait', 'grant', 'end', 'release'].map((event) => `holdfast:${event}`)
  const hear = (): void => undefined
  for (const channel of channels) subscribe(channel, hear)
  return endOf(() => {
    for (const channel of channels) unsubscribe(channel, hear)
  })
}

/** Prometheus reads the registry as text. */
const scraped = (): Watching => {
  const register = new Registry()
  const stop = forPrometheus({ register })
  let reading: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    reading = register.metrics()
  }, EXPORT_EACH)
  return {
    async end() {
      clearInterval(timer)
      await reading
      stop()
    },
  }
}

const produced = (): Watching => {
  const producer = metricProducer({ kinds: ['lock'] })
  return endOf(producer.stop, metersWith([producer]))
}

const instrumented = (options?: Parameters<typeof forOtel>[0]): Watching => {
  const meterProvider = metersWith()
  return endOf(forOtel({ meterProvider, traces: false, ...options }), meterProvider)
}

const traced = (): Watching => {
  const tracerProvider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(new ForgetfulSpans())] })
  const { end } = instrumented({ tracerProvider, traces: true })
  return endOf(() => undefined, tracerProvider, { shutdown: end })
}

/** No telemetry of holdfast: only what the SDK takes for two measurements of each pair, which nobody can save. */
const byHand = (): Watching => {
  const meters = metersWith()
  const meter = meters.getMeter('bench')
  const [waits, holds] = [meter.createHistogram('wait'), meter.createHistogram('hold')]
  const pair = (): void => {
    waits.record(0.001, { kind: 'lock', outcome: 'granted', local: false })
    holds.record(0.001, { kind: 'lock', outcome: 'released' })
  }
  return { ...endOf(() => undefined, meters), pair }
}

export const WITHOUT = 'without telemetry'
export const PRODUCER = 'OpenTelemetry, metric producer'

export const WATCHES: Readonly<Record<string, () => Watching>> = {
  [WITHOUT]: () => endOf(() => undefined),
  'events that nobody evaluates': heard,
  [PRODUCER]: produced,
  'OpenTelemetry, metrics of instrument': instrumented,
  'OpenTelemetry, metrics with names': () => instrumented({ maxNames: 200, name: (name) => name }),
  'OpenTelemetry, two records by hand': byHand,
  'OpenTelemetry, metrics and traces': traced,
  'Prometheus metrics': scraped,
}
