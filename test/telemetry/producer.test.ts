import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import type * as Api from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import * as sdk from '@opentelemetry/sdk-metrics'
import { type Client, connect } from 'holdfast'
import { type HoldfastProducer, instrument, metricProducer } from 'holdfast/otel'
import { Counts } from '#src/telemetry/counts.js'
import { dataOf } from '#src/telemetry/metric-data.js'
import { bucketsOf } from '#src/telemetry/metric-definitions.js'
import { until } from '../support/until.js'
import { Receiver } from './otlp.js'

const { CUMULATIVE, DELTA } = sdk.AggregationTemporality

/** A reader that exports nothing: the test collects. */
class Reader extends sdk.MetricReader {
  protected override onForceFlush = (): Promise<void> => Promise.resolve()
  protected override onShutdown = (): Promise<void> => Promise.resolve()
}

const readerOf = (producer: HoldfastProducer, temporality = CUMULATIVE): Reader =>
  new Reader({ metricProducers: [producer], aggregationTemporalitySelector: () => temporality })

const WAIT = 'holdfast.lock.wait.duration'
const HOLD = 'holdfast.lock.hold.duration'

interface Seen {
  readonly start: number
  readonly end: number
  readonly temporality: sdk.AggregationTemporality
  readonly value: number
}

const ms = ([seconds, nanoseconds]: readonly [number, number]): number => seconds * 1000 + nanoseconds / 1e6

/** The points of what a reader collects now, by their metric and outcome or kind; of a histogram, how many values it has. */
const read = async (reader: sdk.MetricReader): Promise<Map<string, Seen>> => {
  const { resourceMetrics, errors } = await reader.collect()
  assert.deepEqual(errors, [])
  const metrics = resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
  const seen = metrics.flatMap(({ descriptor, aggregationTemporality: temporality, dataPoints }) =>
    (dataPoints as sdk.DataPoint<number | sdk.Histogram>[]).map(({ attributes, startTime, endTime, value }) => {
      const what = attributes['outcome'] ?? attributes['kind']
      const number = typeof value === 'number' ? value : value.count
      const name = what === undefined ? descriptor.name : `${descriptor.name} ${String(what)}`
      return [name, { start: ms(startTime), end: ms(endTime), temporality, value: number }] as const
    }),
  )
  assert.equal(new Map(seen).size, seen.length, 'two points with one name')
  return new Map(seen)
}

/** A client in memory, and a producer that measures it. */
const measuring = async (body: (client: Client, producer: HoldfastProducer) => Promise<void>): Promise<void> => {
  using producer = metricProducer({ kinds: ['lock'] })
  const client = await connect('memory:')
  try {
    await body(client, producer)
  } finally {
    await client.close()
  }
}

const pair = (client: Client): Promise<void> => client.lock('a').using(() => undefined)

test('a reader that asks for deltas → deltas of the program, and cumulative counts of holdfast, which say so', () =>
  measuring(async (client, producer) => {
    const reader = readerOf(producer, DELTA)
    const meters = new sdk.MeterProvider({ readers: [reader] })
    const mine = meters.getMeter('program').createCounter('mine')
    for (const pairs of [1, 2, 3]) {
      mine.add(1)
      await pair(client)
      const seen = await read(reader)
      assert.deepEqual([seen.get('mine')?.value, seen.get('mine')?.temporality], [1, DELTA])
      for (const what of [`${WAIT} granted`, `${HOLD} released`])
        assert.deepEqual([seen.get(what)?.value, seen.get(what)?.temporality], [pairs, CUMULATIVE], what)
      for (const [what, { temporality }] of seen) if (what !== 'mine') assert.equal(temporality, CUMULATIVE, what)
    }
    await meters.shutdown()
  }))

test('start times → when each was first counted, and the same at each reading; the end is when it was read', () =>
  measuring(async (client, producer) => {
    const reader = readerOf(producer)
    const meters = new sdk.MeterProvider({ readers: [reader] })
    const began = Date.now()
    await until(() => Date.now() > began)
    await pair(client)
    const first = await read(reader)
    const read1 = Date.now()
    await until(() => Date.now() > read1)
    const hold = await client.lock('a').acquire()
    assert.equal(await client.lock('a').tryAcquire(), undefined)
    const second = await read(reader)
    await hold.release()
    for (const [what, { start, end }] of first) {
      assert.equal(second.get(what)?.start, start, what)
      assert.ok(start <= end && end <= read1 && read1 < (second.get(what)?.end ?? 0), what)
      const counted = what === `${WAIT} granted` || what === `${HOLD} released`
      assert.equal(start > began, counted, what)
    }
    assert.ok((second.get(`${WAIT} refused`)?.start ?? 0) > read1)
    await meters.shutdown()
  }))

test('a clock that was set back → no point ends before it starts', () => {
  const counts = new Counts(bucketsOf())
  const before = Date.now() - 60_000
  const points = dataOf(counts, [], before + 30_000, before).flatMap(
    ({ dataPoints }) => dataPoints as { startTime: [number, number]; endTime: [number, number] }[],
  )
  assert.ok(points.length > 0)
  for (const { startTime, endTime } of points) assert.deepEqual(endTime, startTime)
})

test('two readers at once, whatever they ask for → both get everything, and neither takes it from the other', () =>
  measuring(async (client, producer) => {
    const [one, two] = [readerOf(producer), readerOf(producer, DELTA)]
    const both = new sdk.MeterProvider({ readers: [one, two] })
    await pair(client)
    assert.equal((await read(one)).get(`${HOLD} released`)?.value, 1)
    await pair(client)
    for (const reader of [one, two, one, two]) assert.equal((await read(reader)).get(`${HOLD} released`)?.value, 2)
    const all = await Promise.all([read(one), read(two)])
    assert.deepEqual([...all[0].keys()].sort(), [...all[1].keys()].sort())
    await both.shutdown()
  }))

test('a reader that changes what it got → the next reading is as if it had not', () =>
  measuring(async (client, producer) => {
    await pair(client)
    const said = async (): Promise<unknown> => {
      const { metrics } = (await producer.collect()).resourceMetrics.scopeMetrics[0] as { metrics: sdk.MetricData[] }
      const plain = JSON.stringify(metrics, (key, value: unknown) => (key === 'endTime' ? 'now' : value))
      for (const { descriptor, dataPoints } of metrics) {
        Object.assign(descriptor, { name: 'mine' })
        for (const point of dataPoints as sdk.DataPoint<number | sdk.Histogram>[]) {
          Object.assign(point.attributes, { kind: 'mine' })
          Object.assign(point.startTime, [0, 0])
          if (typeof point.value === 'number') continue
          point.value.buckets.counts.fill(7)
          point.value.buckets.boundaries.fill(7)
        }
      }
      metrics.length = 0
      return plain
    }
    assert.equal(await said(), await said())
  }))

for (const order of ['the producer stops and then the SDK', 'the SDK is shut down and then the producer'] as const)
  test(`${order} → the last export has everything that was counted`, async () => {
    const receiver = await Receiver.open()
    const producer = metricProducer()
    const exporter = new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics` })
    const reader = new sdk.PeriodicExportingMetricReader({
      ...{ exporter, exportIntervalMillis: 3_600_000, metricProducers: [producer] },
    })
    const meters = new sdk.MeterProvider({ readers: [reader] })
    const client = await connect('memory:')
    await pair(client)
    const hold = await client.lock('a').acquire()
    if (order.startsWith('the producer')) producer.stop()
    await meters.shutdown()
    producer.stop()
    const of = (name: string): number[] =>
      receiver.points.filter(({ metric }) => metric === name).map(({ count, value }) => count ?? value)
    assert.deepEqual([of(WAIT), of(HOLD)], [[2], [1]])
    // What is held is known only while it measures.
    assert.deepEqual(of('holdfast.lock.held'), order.startsWith('the producer') ? [] : [1])
    await hold.release()
    await client.close()
    await receiver.close()
  })

test('stopped, and another one made → the old one stays as it was, and the new one begins at 0', () =>
  measuring(async (client, old) => {
    const reader = readerOf(old)
    const meters = new sdk.MeterProvider({ readers: [reader] })
    await pair(client)
    const between = await client.lock('b').acquire()
    old.stop()
    old.stop()
    const made = Date.now()
    await until(() => Date.now() > made)
    using anew = metricProducer({ kinds: ['lock'] })
    const other = readerOf(anew)
    const others = new sdk.MeterProvider({ readers: [other] })
    const atFirst = await read(other)
    assert.deepEqual([atFirst.get(`${WAIT} granted`), atFirst.get('holdfast.lock.held lock')?.value], [undefined, 0])
    await between.release()
    await pair(client)
    const [then, now] = [await read(reader), await read(other)]
    assert.equal(then.get(`${WAIT} granted`)?.value, 2)
    assert.equal(then.get(`${HOLD} released`)?.value, 1)
    assert.equal(then.has('holdfast.lock.held lock'), false)
    assert.equal(now.get(`${WAIT} granted`)?.value, 1)
    // The old one listened when the hold between them began, so its end is reported.
    assert.equal(now.get(`${HOLD} released`)?.value, 2)
    assert.equal(now.get('holdfast.lock.held lock')?.value, 0)
    for (const [what, { start }] of now) assert.ok(start > made, what)
    await Promise.all([meters.shutdown(), others.shutdown()])
  }))

test('a client that is closed in the middle → nothing waits or is held, and each call has its end', async () => {
  using producer = metricProducer()
  const reader = readerOf(producer)
  const meters = new sdk.MeterProvider({ readers: [reader] })
  for (let i = 0; i < 3; i += 1) {
    const client = await connect('memory:')
    await client.lock('a').acquire()
    const waiting = Array.from({ length: 5 }, () => assert.rejects(client.lock('a').acquire()))
    await until(async () => (await read(reader)).get('holdfast.lock.waiting lock')?.value === 5)
    await client.close()
    await Promise.all(waiting)
  }
  const seen = await read(reader)
  assert.equal(seen.get('holdfast.lock.waiting lock')?.value, 0)
  assert.equal(seen.get('holdfast.lock.held lock')?.value, 0)
  assert.equal(seen.get(`${WAIT} granted`)?.value, 3)
  assert.equal(seen.get(`${WAIT} error`)?.value, 15)
  assert.equal(seen.get(`${HOLD} released`)?.value, 3)
  await meters.shutdown()
})

test('instruments that throw at each measurement → the producer beside them counts on, and so do the calls', async () => {
  const broken = (): never => {
    throw new Error('broken')
  }
  let last = false
  const instrumentOf = () => ({ add: () => last && broken(), record: broken })
  const meter = new Proxy(
    {},
    { get: (_, name) => (String(name).endsWith('Callback') ? () => undefined : instrumentOf) },
  )
  const warned: string[] = []
  const warn = (warning: Error): void => void warned.push(warning.message)
  process.on('warning', warn)
  const stop = instrument({ meterProvider: { getMeter: () => meter } as unknown as Api.MeterProvider, traces: false })
  last = true
  await measuring(async (client, producer) => {
    const reader = readerOf(producer)
    const meters = new sdk.MeterProvider({ readers: [reader] })
    for (let i = 0; i < 3; i += 1) await pair(client)
    assert.equal((await read(reader)).get(`${HOLD} released`)?.value, 3)
    await meters.shutdown()
  })
  stop()
  await until(() => warned.length >= 2)
  process.off('warning', warn)
  // One for grants, and one for releases.
  assert.deepEqual(warned, ['holdfast: telemetry failed: broken', 'holdfast: telemetry failed: broken'])
})

test('two copies of the SDK and its API → one producer serves both, and instrument finds the provider that the other copy set', async () => {
  const require = createRequire(import.meta.url)
  for (const file of Object.keys(require.cache))
    if (file.includes('@opentelemetry')) Reflect.deleteProperty(require.cache, file)
  const copy = require('@opentelemetry/sdk-metrics') as typeof sdk
  const api = require('@opentelemetry/api') as typeof Api
  assert.notEqual(copy.MeterProvider, sdk.MeterProvider)
  class CopiedReader extends copy.MetricReader {
    protected override onForceFlush = (): Promise<void> => Promise.resolve()
    protected override onShutdown = (): Promise<void> => Promise.resolve()
  }
  await measuring(async (client, producer) => {
    const own = readerOf(producer)
    const other = new CopiedReader({ metricProducers: [producer] })
    const meters = new sdk.MeterProvider({ readers: [own] })
    const copied = new copy.MeterProvider({ readers: [other] })
    await pair(client)
    for (const reader of [own, other]) assert.equal((await read(reader)).get(`${HOLD} released`)?.value, 1)
    await copied.shutdown()
    const plain = new CopiedReader()
    const global = new copy.MeterProvider({ readers: [plain] })
    assert.ok(api.metrics.setGlobalMeterProvider(global))
    const stop = instrument({ traces: false })
    await pair(client)
    assert.equal((await read(plain)).get(`${HOLD} released`)?.value, 1)
    stop()
    api.metrics.disable()
    await Promise.all([meters.shutdown(), global.shutdown()])
  })
})

test('names of 1 MB, and a mapper that is async by mistake and rejects → short labels, or none, and the process goes on', async () => {
  const long = 'x'.repeat(1_000_000)
  // The longest that there is.
  const lock = 'x'.repeat(65_536)
  const rejects = (): Promise<string> => Promise.reject(new Error('async'))
  const answers = [() => long, rejects, () => `\u202e${long}`, () => 'plain']
  using producer = metricProducer({ name: () => answers.shift()?.() as string })
  const client = await connect('memory:')
  for (let i = 0; i < 4; i += 1) await client.lock(lock).using(() => undefined)
  await client.close()
  const metrics = (await producer.collect()).resourceMetrics.scopeMetrics.flatMap((scope) => scope.metrics)
  const names = metrics
    .filter(({ descriptor }) => descriptor.name === HOLD)
    .flatMap(({ dataPoints }) => dataPoints.map(({ attributes }) => attributes['name']))
  const cut = '… (1000000 characters)'
  assert.deepEqual(names, [
    `${'x'.repeat(100)}${cut}`,
    undefined,
    String.raw`\u202e${'x'.repeat(99)}… (1000001 characters)`,
    'plain',
  ])
})
