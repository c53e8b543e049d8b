import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { type Meter, type MeterProvider as Meters, type Span, type Tracer, context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { type Client, connect } from 'holdfast'
import { type OtelOptions, instrument, metricProducer } from 'holdfast/otel'
import { startRedis } from '../support/redis-server.js'
import { until } from '../support/until.js'
import { type ReceivedSpan, Receiver } from './otlp.js'

interface Request {
  readonly path: string
  readonly params: { readonly id: string }
}
interface Response {
  send(text: string): void
  on(event: 'finish', listener: () => void): void
}
interface ExpressApp {
  use(handler: (request: Request, response: Response, next: () => void) => void): void
  get(path: string, handler: (request: Request, response: Response) => Promise<void>): void
  listen(port: number, host: string): Server
}
const express = createRequire(import.meta.url)('express') as () => ExpressApp

/** What a program sets up for OpenTelemetry, with a receiver behind it. */
interface Observed {
  readonly receiver: Receiver
  readonly tracer: Tracer
  readonly traces: BasicTracerProvider
  readonly meters: MeterProvider
}

const open = async (): Promise<Observed> => {
  const receiver = await Receiver.open()
  const traces = new BasicTracerProvider({
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${receiver.url}/v1/traces` }))],
  })
  const exporter = new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics` })
  const meters = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
  })
  return { receiver, traces, meters, tracer: traces.getTracer('test') }
}

const observing = async (options: OtelOptions, body: (observed: Observed) => Promise<void>): Promise<void> => {
  const observed = await open()
  const { traces: tracerProvider, meters: meterProvider, receiver } = observed
  const stop = instrument({ tracerProvider, meterProvider, ...options })
  try {
    await body(observed)
  } finally {
    stop()
    await tracerProvider.shutdown()
    await meterProvider.shutdown()
    await receiver.close()
  }
}

const only = <T>(all: readonly T[]): T => {
  assert.equal(all.length, 1, JSON.stringify(all))
  return all[0] as T
}

/** An app whose requests hold the lock until they are told to end. */
class App {
  readonly server: Server
  readonly holding = new Map<string, () => void>()
  readonly #lock

  constructor(client: Client, tracer: Tracer) {
    this.#lock = client.lock('stock')
    const app = express()
    app.use((request, response, next) => {
      tracer.startActiveSpan(`GET ${request.path}`, (span) => {
        response.on('finish', () => span.end())
        next()
      })
    })
    app.get('/orders/:id', async (request, response) => {
      await this.#lock.using(() => new Promise<void>((done) => this.holding.set(request.params.id, done)))
      response.send('done')
    })
    this.server = app.listen(0, '127.0.0.1')
  }

  get(id: string): Promise<globalThis.Response> {
    return fetch(`http://127.0.0.1:${(this.server.address() as AddressInfo).port}/orders/${id}`)
  }

  async close(): Promise<void> {
    this.server.closeAllConnections()
    this.server.close()
    await once(this.server, 'close')
  }
}

void describe('holdfast/otel', () => {
  let redis: Awaited<ReturnType<typeof startRedis>>
  before(async () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    redis = await startRedis()
  })
  after(async () => {
    context.disable()
    await redis.stop()
  })

  test('an Express app under contention → the span of the request that waited links to that of the holder', () =>
    observing({}, async ({ tracer, traces, receiver }) => {
      const client = await connect(redis.url)
      const app = new App(client, tracer)
      await once(app.server, 'listening')
      const first = app.get('first')
      await until(() => app.holding.has('first'))
      const second = app.get('second')
      await until(async () => (await client.health()).waiting === 1)
      const third = app.get('third')
      await until(async () => (await client.health()).waiting === 2)
      app.holding.get('first')?.()
      await until(() => app.holding.has('second'))
      app.holding.get('second')?.()
      await until(() => app.holding.has('third'))
      app.holding.get('third')?.()
      for (const response of await Promise.all([first, second, third])) assert.equal(response.status, 200)
      await app.close()
      await client.close()
      await traces.forceFlush()

      const requestOf = (id: string): ReceivedSpan =>
        only(receiver.spans.filter(({ name }) => name === `GET /orders/${id}`))
      const acquireOf = (id: string): ReceivedSpan =>
        only(receiver.spans.filter(({ name, parent }) => name === 'acquire lock' && parent === requestOf(id).id))
      const [one, two, three] = [acquireOf('first'), acquireOf('second'), acquireOf('third')]
      assert.equal(one.trace, requestOf('first').trace)
      assert.notEqual(one.trace, two.trace)
      assert.deepEqual(one.links, [])
      const linkTo = ({ trace, id }: ReceivedSpan) => ({ trace, id, attributes: { 'holdfast.link': 'waited for' } })
      assert.deepEqual(two.links, [linkTo(one)])
      assert.deepEqual(three.links, [linkTo(one), linkTo(two)])
      assert.deepEqual(
        two.events.map(({ name }) => name),
        ['wait', 'grant'],
      )
      assert.deepEqual(two.attributes, {
        'holdfast.client': client.id,
        'holdfast.kind': 'lock',
        'holdfast.outcome': 'granted',
      })
      assert.ok(one.end < two.end && two.end < three.end, `${one.end}, ${two.end}, ${three.end}`)
    }))

  test('calls that get nothing → their outcome; an error only if something went wrong', () =>
    observing({ name: (name) => name.split(':')[0] }, async ({ traces, receiver }) => {
      const [client, other] = [await connect(redis.url), await connect(redis.url)]
      const hold = await client.lock('orders:1').acquire()
      assert.equal(await other.lock('orders:1').tryAcquire(), undefined)
      await assert.rejects(other.lock('orders:1').acquire({ wait: 50 }))
      const abort = new AbortController()
      const aborted = other.lock('orders:1').acquire({ signal: abort.signal })
      abort.abort()
      await assert.rejects(aborted)
      const closed = assert.rejects(other.lock('orders:1').acquire())
      await other.close()
      await closed
      await hold.release()
      await client.close()
      await traces.forceFlush()
      const spans = receiver.spans.filter(({ attributes }) => attributes['holdfast.client'] === other.id)
      assert.ok(spans.every(({ name }) => name === 'acquire orders'))
      const told = spans.map(({ attributes, status }) => [
        attributes['holdfast.outcome'],
        attributes['error.type'],
        status,
      ])
      assert.deepEqual(told, [
        ['refused', undefined, 0],
        ['timeout', 'ACQUIRE_TIMEOUT', 0],
        ['aborted', '_OTHER', 0],
        ['error', 'CLOSED', 2],
      ])
    }))

  test('a hold that is lost → an exception on the span of its request; after that, in a span of its own', () =>
    observing({}, async ({ tracer, traces, receiver }) => {
      const client = await connect(redis.url)
      await tracer.startActiveSpan('request', async (span) => {
        const hold = await client.lock('lost').acquire({ lease: 1500 })
        await until(() => hold.signal.aborted)
        const late = await client.lock('late').acquire()
        span.end()
        await client.lock('late').forceRelease()
        await until(() => late.signal.aborted)
      })
      await client.close()
      await traces.forceFlush()
      const request = only(receiver.spans.filter(({ name }) => name === 'request'))
      const { attributes } = only(request.events)
      assert.equal(attributes['exception.message'], 'a lock was lost: its lease ended')
      const own = only(receiver.spans.filter(({ name }) => name === 'lost lock'))
      assert.equal(own.parent, request.id)
      assert.match(String(only(own.events).attributes['exception.message']), /released by force/)
    }))

  test('metrics → arrive with their units, and agree with the program', () =>
    observing({ kinds: ['fairLock'], traces: false }, async ({ meters, receiver }) => {
      const client = await connect(redis.url)
      const hold = await client.lock('m').acquire()
      await assert.rejects(client.lock('m').acquire({ wait: 20 }))
      const waiting = client.lock('m').acquire()
      await until(async () => (await client.health()).waiting === 1)
      await meters.forceFlush()
      const of = (metric: string, attributes: object = { kind: 'lock' }) => {
        const found = receiver.points.filter(
          (point) => point.metric === metric && JSON.stringify(point.attributes) === JSON.stringify(attributes),
        )
        const { unit, value, count } = only(found)
        return { unit, value: count ?? value }
      }
      assert.deepEqual(of('holdfast.lock.waiting'), { unit: '{request}', value: 1 })
      assert.deepEqual(of('holdfast.lock.held'), { unit: '{hold}', value: 1 })
      assert.equal(of('holdfast.lock.held.oldest').unit, 's')
      assert.ok(of('holdfast.lock.held.oldest').value > 0)
      await hold.release()
      await (await waiting).release()
      await client.close()
      await meters.forceFlush()
      const granted = { kind: 'lock', outcome: 'granted', local: false }
      assert.equal(of('holdfast.lock.wait.duration', granted).unit, 's')
      const timeout = of('holdfast.lock.wait.duration', { ...granted, outcome: 'timeout' })
      assert.equal(timeout.value, 1)
      const released = of('holdfast.lock.hold.duration', { kind: 'lock', outcome: 'released' })
      assert.deepEqual(released, { unit: 's', value: 2 })
      assert.equal(of('holdfast.lock.waiting').value, 0)
      assert.equal(of('holdfast.lock.held').value, 0)
      for (const kind of ['lock', 'fairLock'])
        assert.deepEqual(of('holdfast.lock.lost', { kind }), { unit: '{hold}', value: 0 })
      for (const outcome of ['ok', 'failed'])
        assert.deepEqual(of('holdfast.lock.renewals', { outcome }), { unit: '{renewal}', value: 0 })
      for (const outcome of ['allowed', 'refused'])
        assert.deepEqual(of('holdfast.limiter.decisions', { outcome }), { unit: '{decision}', value: 0 })
      assert.deepEqual(of('holdfast.client.reconnects', {}), { unit: '{reconnect}', value: 0 })
      assert.deepEqual(of('holdfast.deadlocks', {}), { unit: '{deadlock}', value: 0 })
      assert.deepEqual(receiver.spans, [])
    }))

  test('a metric producer → its metrics arrive beside those of the program, with names and buckets of their own', async () => {
    const receiver = await Receiver.open()
    const exporter = new OTLPMetricExporter({ url: `${receiver.url}/v1/metrics` })
    const producer = metricProducer({ kinds: ['fairLock'], name: (name) => name[0], buckets: { hold: [1, 3600] } })
    const metricProducers = [producer]
    const meters = new MeterProvider({
      readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000, metricProducers })],
    })
    meters.getMeter('program').createCounter('mine').add(7)
    const of = async (metric: string, attributes: object) => {
      await meters.forceFlush()
      const { unit, value, count, buckets } = only(
        receiver.points.filter((point) => point.metric === metric && isDeepStrictEqual(point.attributes, attributes)),
      )
      return { unit, value: count ?? value, ...(buckets !== undefined && { buckets }) }
    }
    const client = await connect(redis.url)
    const hold = await client.lock('m1').acquire()
    await assert.rejects(client.lock('m1').acquire({ wait: 20 }))
    const lock = { kind: 'lock', name: 'm' }
    assert.deepEqual(await of('mine', {}), { unit: '', value: 7 })
    assert.deepEqual(await of('holdfast.lock.held', lock), { unit: '{hold}', value: 1 })
    assert.ok((await of('holdfast.lock.held.oldest', lock)).value > 0)
    await hold.release()
    await client.close()
    const { buckets, ...timeout } = await of('holdfast.lock.wait.duration', {
      ...lock,
      ...{ outcome: 'timeout', local: false },
    })
    assert.deepEqual(timeout, { unit: 's', value: 1 })
    assert.equal(buckets?.bounds.length, 13)
    const released = await of('holdfast.lock.hold.duration', { ...lock, outcome: 'released' })
    assert.deepEqual(released.buckets, { bounds: [1, 3600], counts: [1, 0, 0] })
    assert.deepEqual(await of('holdfast.lock.held', lock), { unit: '{hold}', value: 0 })
    assert.deepEqual(await of('holdfast.lock.lost', { kind: 'fairLock' }), { unit: '{hold}', value: 0 })
    producer.stop()
    producer[Symbol.dispose]()
    assert.deepEqual(await of('holdfast.lock.hold.duration', { ...lock, outcome: 'released' }), released)
    const present = ['holdfast.lock.waiting', 'holdfast.lock.held', 'holdfast.lock.held.oldest']
    assert.deepEqual(
      receiver.points.filter(({ metric }) => present.includes(metric)),
      [],
    )
    await meters.shutdown()
    await receiver.close()
  })

  test('stopped while a call waits → its span ends, and nothing is sent after that', async () => {
    const observed = await open()
    const stop = instrument({ tracerProvider: observed.traces, metrics: false })
    const client = await connect(redis.url)
    const hold = await client.lock('s').acquire()
    const waiting = client.lock('s').acquire()
    await until(async () => (await client.health()).waiting === 1)
    stop()
    await hold.release()
    await (await waiting).release()
    await client.close()
    await observed.traces.forceFlush()
    const outcomes = observed.receiver.spans.map(({ attributes }) => attributes['holdfast.outcome'])
    assert.deepEqual(outcomes, ['granted', undefined])
    await observed.traces.shutdown()
    await observed.meters.shutdown()
    await observed.receiver.close()
  })

  test('a span that throws → it ends all the same, and the calls go on', async () => {
    const ended: string[] = []
    const broken = (): never => {
      throw new Error('broken')
    }
    const spanNamed = (name: string): Span =>
      ({
        ...{ addEvent: broken, addLink: broken, setAttribute: broken, setStatus: broken, recordException: broken },
        spanContext: () => ({ traceId: '1'.repeat(32), spanId: '1'.repeat(16), traceFlags: 1 }),
        isRecording: () => false,
        end: () => void ended.push(name),
      }) as never
    const tracer = { startSpan: spanNamed } as unknown as Tracer
    const stop = instrument({ tracerProvider: { getTracer: () => tracer }, metrics: false })
    const client = await connect(redis.url)
    const hold = await client.lock('h').acquire()
    const second = client.lock('h').acquire()
    await until(async () => (await client.health()).waiting === 1)
    assert.equal(await client.lock('h').tryAcquire(), undefined)
    await hold.release()
    await (await second).release()
    const lost = await client.lock('lost').acquire({ lease: 1500 })
    await until(() => lost.signal.aborted)
    await client.close()
    stop()
    assert.deepEqual(ended, [...Array.from({ length: 4 }, () => 'acquire lock'), 'lost lock'])
  })

  test('a meter or tracer that throws at any step → instrument throws, and nobody listens', () => {
    const channels = [
      'acquire',
      'wait',
      'grant',
      'end',
      'release',
      'lost',
      'renew',
      'uncertain',
      'reconnect',
      'deadlock',
    ]
    const heard = (): boolean => channels.some((name) => channel(`holdfast:${name}`).hasSubscribers)
    const full = new Error('full')
    let steps = 0
    const meterThatFailsAt = (step: number): Meter => {
      let left = step
      const take = (): object => {
        steps += 1
        if (--left === 0) throw full
        return { add: take, record: take }
      }
      const removed = { removeBatchObservableCallback: () => undefined }
      return new Proxy(removed, { get: (_, name) => (Reflect.get(removed, name) as unknown) ?? take }) as never
    }
    const provider = (step: number): Meters => ({ getMeter: () => meterThatFailsAt(step) })
    instrument({ meterProvider: provider(0), traces: false, kinds: ['lock'] })()
    const all = steps
    assert.ok(all >= 14, String(all))
    for (let step = 1; step <= all; step += 1) {
      assert.throws(() => instrument({ meterProvider: provider(step), kinds: ['lock'] }), full, String(step))
      assert.equal(heard(), false, String(step))
    }
    const getTracer = (): never => {
      throw full
    }
    assert.throws(() => instrument({ meterProvider: provider(0), tracerProvider: { getTracer } }), full)
    assert.equal(heard(), false)
  })

  test('an election → a kind of its own, so that no alert for locks goes off', () =>
    observing({}, async ({ meters, receiver }) => {
      const client = await connect(redis.url)
      await client.election('chief').lead(() => undefined)
      await client.fencedLock('chief').using(() => undefined)
      await meters.forceFlush()
      const kinds = receiver.points
        .filter(({ metric }) => metric === 'holdfast.lock.hold.duration')
        .map(({ attributes, count }) => [attributes['kind'], count])
      assert.deepEqual(kinds.sort(), [
        ['election', 1],
        ['fencedLock', 1],
      ])
      await client.close()
    }))

  test('nothing set up → it counts for the global providers, which do nothing', async () => {
    assert.equal(trace.getActiveSpan(), undefined)
    const stop = instrument()
    const client = await connect(redis.url)
    assert.equal(await client.lock('g').using(() => 'done'), 'done')
    await client.close()
    stop()
  })
})
