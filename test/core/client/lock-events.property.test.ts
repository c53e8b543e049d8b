import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { after, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import {
  AcquireTimeoutError,
  BusyError,
  type Client,
  DeadlockError,
  type DiagnosticEvent,
  type DiagnosticMessage,
  type DiagnosticTrace,
  type Hold,
  type Lock,
  LockLostError,
  type Owner,
  type Permit,
} from 'holdfast'
import type { PartialDriver } from '../../support/partial-driver.js'
import { seeded } from '../../support/random.js'
import { inTown, type Town } from '../../support/town.js'
import {
  AggregationTemporality,
  type DataPoint,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { instrument as forOtel, metricProducer } from 'holdfast/otel'
import { instrument as forPrometheus } from 'holdfast/prometheus'
import { Registry } from 'prom-client'

/** How many steps all programs have together. By hand: HOLDFAST_STEPS=100000. */
const STEPS = Number(process.env['HOLDFAST_STEPS'] ?? 1800)
const STEPS_EACH = 300

const EVENTS: readonly DiagnosticEvent[] = ['acquire', 'wait', 'grant', 'end', 'renew', 'lost', 'release']
const PARTS = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const

type Outcome = 'granted' | 'timeout' | 'aborted' | 'refused' | 'error'

/** A call of the program, and the events that ran in its context. */
interface Call {
  readonly wait: number
  readonly signal: AbortSignal | undefined
  readonly told: (readonly [event: DiagnosticEvent, message: DiagnosticMessage, at: number])[]
  readonly traced: (readonly [channel: string, message: DiagnosticTrace])[]
  readonly holds: Held[]
  readonly startedAt: number
  endedAt?: number
  outcome?: Outcome
  error?: unknown
  /** What was granted, if permits or a rate were. */
  permits?: number
}

/** A hold that the program got. */
interface Held {
  readonly name: string
  readonly hold: Pick<Hold, 'state' | 'release' | 'signal'> & { readonly owner?: Owner }
  readonly from: number
  until?: number
}

const here = new AsyncLocalStorage<Call>()
const seen = new Map<string, number>()
/** Events that ran outside of any call of the program. */
const strays: unknown[] = []
let town: Town

const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1)

const listeners = EVENTS.map((event) => {
  const listener = (message: unknown): void => {
    const call = here.getStore()
    const one = message as DiagnosticMessage
    count(one.outcome === undefined ? event : `${event} ${one.outcome}`)
    // A lock is lost outside of every call; permits without ids are released by themselves.
    if (event === 'lost' || event === 'renew' || one.id === undefined) return
    if (call === undefined) strays.push([event, message])
    else call.told.push([event, one, town.clock.monotonic()])
  }
  return [`holdfast:${event}`, listener] as const
})
const tracers = (['acquire', 'using'] as const).map((what) => {
  const heard = (part: string) => (message: unknown) => {
    count(`${what}:${part}`)
    here.getStore()?.traced.push([`${what}:${part}`, message as DiagnosticTrace])
  }
  const subscribers = Object.fromEntries(PARTS.map((part) => [part, heard(part)]))
  return [tracingChannel(`holdfast:${what}`), subscribers as never] as const
})

/** The metrics of all kinds, which must agree with the program. */
const register = new Registry()
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
const producer = metricProducer()
const reader = new PeriodicExportingMetricReader({
  ...{ exporter, exportIntervalMillis: 3_600_000, metricProducers: [producer] },
})
const meterProvider = new MeterProvider({ readers: [reader] })
const stops = [forPrometheus({ register }), forOtel({ meterProvider, traces: false }), producer.stop]
/** What the program knows of its calls, by outcome; the sum of the times is in ms. */
const known = new Map<string, number>()
const know = (what: string, by = 1): void => void known.set(what, (known.get(what) ?? 0) + by)

/** What a reader gets of the SDK, and what the producer adds to it. */
const collected = async (): Promise<readonly [sdk: MetricData[], own: MetricData[]]> => {
  await reader.forceFlush()
  const [sdk, own] = (exporter.getMetrics().at(-1)?.scopeMetrics ?? []).map(({ metrics }) => metrics)
  return [sdk ?? [], own ?? []]
}

/** The points of both, as `metric outcome`. */
const measured = async (): Promise<Record<'prometheus' | 'otel', Map<string, number>>> => {
  const sums = { prometheus: new Map<string, number>(), otel: new Map<string, number>() }
  const add = (to: Map<string, number>, what: string, value: number): void =>
    void to.set(what, (to.get(what) ?? 0) + value)
  for (const metric of await register.getMetricsAsJSON())
    for (const { labels, value, ...point } of metric.values) {
      const name = (point as { metricName?: string }).metricName ?? metric.name
      add(sums.prometheus, `${name} ${labels['outcome'] ?? ''}`, value)
    }
  for (const { descriptor, dataPoints } of (await collected())[0])
    for (const { attributes, value } of dataPoints) {
      const what = `${descriptor.name} ${String(attributes['outcome'] ?? '')}`
      add(sums.otel, what, typeof value === 'number' ? value : value.count)
    }
  return sums
}

for (const [name, listener] of listeners) subscribe(name, listener)
for (const [channel, subscribers] of tracers) channel.subscribe(subscribers)
after(() => {
  for (const [name, listener] of listeners) unsubscribe(name, listener)
  for (const [channel, subscribers] of tracers) channel.unsubscribe(subscribers)
})

/** A random program, and what it knows about its calls. */
class Program {
  readonly #random: () => number
  readonly #clients: Client[]
  readonly #broken: PartialDriver
  readonly calls: Call[] = []
  readonly live = new Set<Held>()
  readonly #tickets: string[] = []
  readonly #running = new Set<Promise<unknown>>()
  readonly #end = new AbortController()
  /** What was released by force, or deleted. */
  readonly forced = new Set<string>()
  permits = 0

  constructor(random: () => number, clients: Client[], broken: PartialDriver) {
    this.#random = random
    this.#clients = clients
    this.#broken = broken
  }

  below(end: number): number {
    return Math.floor(this.#random() * end)
  }

  pick<T>(some: readonly T[]): T {
    return some[this.below(some.length)] as T
  }

  get client(): Client {
    return this.pick(this.#clients)
  }

  lock(client: Client): Lock {
    const name = (kind: string): string => `${kind}${this.below(2)}`
    switch (this.below(11)) {
      case 0:
        return client.fairLock(name('fair'))
      case 1:
        return client.fencedLock(name('fenced'))
      case 2:
        return client.readWriteLock(name('rw')).read
      case 3:
        return client.readWriteLock(name('rw')).write
      case 4:
        return client.spinLock(name('spin'))
      case 5:
        return client.nonReentrantLock(name('once'))
      case 6:
        return client.keyedLock('keyed', this.pick([['x'], ['y'], ['x', 'y']]))
      case 7:
        return client.multiLock(client.lock(name('lock')), client.fairLock(name('fair')))
      case 8:
        return client.redLock(client.lock('lock0'), client.lock('lock1'), client.fairLock('fair0'))
      default:
        return client.lock(name('lock'))
    }
  }

  /** Some terms, and a signal for a call that would have no end. */
  terms(): { wait: number; lease?: number; signal?: AbortSignal } {
    const dice = this.#random()
    const wait = dice < 0.3 ? 0 : dice < 0.9 ? 1 + this.below(800) : Infinity
    const leased = this.#random() < 0.3
    const abort = new AbortController()
    if (this.#random() < 0.3) town.clock.setTimer(() => abort.abort(new Error('enough')), this.below(600))
    const signal = wait === Infinity ? AbortSignal.any([abort.signal, this.#end.signal]) : abort.signal
    const may = wait === Infinity || this.#random() < 0.4
    return { wait, ...(leased && { lease: 200 + this.below(2000) }), ...(may && { signal }) }
  }

  /** Runs a call in a context of its own. `granted`: what it got; undefined: nothing. */
  async run<T>(
    terms: { wait: number; signal?: AbortSignal | undefined },
    step: () => Promise<T>,
    granted: (result: T) => { holds?: readonly Held['hold'][]; permits?: number } | undefined,
    names: readonly string[] = [],
  ): Promise<Call> {
    const now = (): number => town.clock.monotonic()
    const { wait, signal } = terms
    const call: Call = { wait, signal, told: [], traced: [], holds: [], startedAt: now() }
    this.calls.push(call)
    await here.run(call, async () => {
      try {
        const got = granted(await step())
        call.endedAt ??= now()
        call.outcome ??= got === undefined ? (wait === 0 ? 'refused' : 'timeout') : 'granted'
        if (got?.permits !== undefined) call.permits = got.permits
        for (const hold of got?.holds ?? []) this.#holds(call, hold, names.join())
      } catch (error) {
        // The work of a `using` began: what comes then is no end of the call.
        if (call.outcome !== undefined) return
        call.endedAt = now()
        call.error = error
        call.outcome = this.#why(error, call)
      }
    })
    return call
  }

  #why(error: unknown, { wait, signal }: Call): Outcome {
    if (signal?.aborted === true && error === signal.reason) return 'aborted'
    // A `using` whose hold was lost between the grant and the work.
    if (error instanceof LockLostError && error.message.includes('before the work began')) return 'granted'
    if (error instanceof AcquireTimeoutError) return wait === 0 ? 'refused' : 'timeout'
    return error instanceof DeadlockError || error instanceof BusyError ? 'refused' : 'error'
  }

  #holds(call: Call, hold: Held['hold'], name: string): void {
    const held: Held = { name, hold, from: town.clock.monotonic() }
    call.holds.push(held)
    this.live.add(held)
    const over = (): void => void (held.until ??= town.clock.monotonic())
    if (hold.signal.aborted) over()
    else hold.signal.addEventListener('abort', over)
  }

  ends(held: Held): void {
    held.until ??= town.clock.monotonic()
    this.live.delete(held)
  }

  /** In the background. */
  start(work: Promise<unknown>): void {
    const running = work.catch(() => undefined).finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async acquire(client: Client, lock: Lock, owner?: Owner): Promise<Held | undefined> {
    const terms = { ...this.terms(), ...(owner !== undefined && { owner }) }
    const take = (): Promise<Hold | undefined> => (this.#random() < 0.5 ? lock.acquire(terms) : lock.tryAcquire(terms))
    const call = await this.run(terms, take, (hold) => hold && { holds: [hold] }, [lock.name])
    return call.holds[0]
  }

  async using(client: Client, lock: Lock): Promise<void> {
    const { wait, signal } = this.terms()
    const options = { wait, ...(signal && { signal }) }
    const ms = this.below(100)
    const nested = this.#random() < 0.3
    const call: { held?: Held } = {}
    await this.run(
      options,
      () =>
        lock.using(options, async (hold) => {
          const store = here.getStore() as Call
          store.outcome = 'granted'
          store.endedAt = town.clock.monotonic()
          this.#holds(store, hold, lock.name)
          call.held = store.holds[0] as Held
          this.live.delete(call.held)
          await new Promise<void>((done) => void town.clock.setTimer(done, ms))
          if (nested) await this.acquire(client, client.lock(`inside${this.below(2)}`))
          call.held.until ??= town.clock.monotonic()
        }),
      () => ({}),
    )
  }

  async semaphore(client: Client): Promise<void> {
    const semaphore = client.semaphore('semaphore')
    const terms = { permits: 1 + this.below(2), ...this.terms(), lease: undefined }
    const { permits } = terms
    const options = { permits, wait: terms.wait, ...(terms.signal && { signal: terms.signal }) }
    if (this.#random() < 0.5) {
      const call = await this.run(
        options,
        () => semaphore.tryAcquire(options),
        (got) => (got ? { permits } : undefined),
      )
      if (call.outcome === 'granted') this.permits += permits
    } else if (this.permits >= permits) {
      this.permits -= permits
      await semaphore.release(permits)
    }
  }

  async permitSemaphore(client: Client): Promise<void> {
    const semaphore = client.permitSemaphore('permits')
    const terms = this.terms()
    const many = this.#random() < 0.5 ? 2 : 1
    const took = (got: Permit | readonly Permit[]): { holds: readonly Held['hold'][]; permits: number } => {
      const all = Array.isArray(got) ? (got as Permit[]) : [got as Permit]
      return { holds: all, permits: all.length }
    }
    const take = (): Promise<Permit | Permit[]> =>
      many === 1 ? semaphore.acquire(terms) : semaphore.acquireMany(many, terms)
    await this.run(terms, take, took, ['permits'])
  }

  async limit(client: Client): Promise<void> {
    const { wait, signal } = this.terms()
    const rate = { permits: 3, interval: 500 }
    const options = { wait, rate, ...(signal && { signal }) }
    const limiter = client.rateLimiter('rate')
    await this.run(
      options,
      () => limiter.tryAcquire(options),
      ({ allowed }) => (allowed ? { permits: 1 } : undefined),
    )
  }

  async latch(client: Client): Promise<void> {
    const latch = client.countDownLatch('latch')
    const { wait, signal } = this.terms()
    const options = { wait, ...(signal && { signal }) }
    if (this.#random() < 0.3) await latch.trySetCount(2)
    else if (this.#random() < 0.6) await latch.countDown()
    else
      await this.run(
        options,
        () => latch.wait(options),
        (open) => (open ? {} : undefined),
      )
  }

  async release(): Promise<void> {
    const held = this.pick([...this.live])
    if (held === undefined) return
    this.ends(held)
    await held.hold.release()
  }

  async again(client: Client): Promise<void> {
    const held = this.pick([...this.live])
    if (held?.hold.owner === undefined) return
    const name = held.name
    const lock = name.startsWith('fair') ? client.fairLock(name) : client.lock(name)
    if (/^(?:fair|lock)\d$/.test(name)) await this.acquire(client, lock, held.hold.owner)
  }

  async detach(): Promise<void> {
    const held = this.pick([...this.live])
    const hold = held?.hold as Partial<Hold> | undefined
    if (held === undefined || hold?.detach === undefined) return
    const ticket = await hold.detach()
    this.ends(held)
    this.#tickets.push(ticket)
  }

  async adopt(client: Client): Promise<void> {
    const ticket = this.#tickets.pop()
    if (ticket === undefined) return
    await this.run(
      { wait: Infinity },
      () => client.adopt(ticket),
      (hold) => ({ holds: [hold] }),
      ['adopted'],
    )
  }

  async force(client: Client): Promise<void> {
    const lock = this.lock(client)
    for (const name of lock.name.split(', ')) this.forced.add(name)
    await lock.forceRelease()
  }

  /** The server refuses commands of one of the clients for a while, or is silent. */
  trouble(): void {
    const ms = this.below(400)
    if (this.#random() < 0.5) this.#broken.refuses = (words) => (words[0]?.startsWith('EVAL') ? 'OOM no' : undefined)
    else this.#broken.until = new Promise<void>((done) => void town.clock.setTimer(done, ms))
    town.clock.setTimer(() => (this.#broken.refuses = () => undefined), ms)
  }

  async replace(): Promise<void> {
    const place = 1 + this.below(this.#clients.length - 1)
    const old = this.#clients[place] as Client
    this.#clients[place] = await town.run(town.join())
    this.start(old.close())
  }

  async step(): Promise<void> {
    const { client } = this
    const dice = this.#random()
    if (dice < 0.34) this.start(this.acquire(client, this.lock(client)))
    else if (dice < 0.44) this.start(this.using(client, this.lock(client)))
    else if (dice < 0.66) this.start(this.release())
    else if (dice < 0.7) this.start(this.again(client))
    else if (dice < 0.76) this.start(this.semaphore(client))
    else if (dice < 0.82) this.start(this.permitSemaphore(client))
    else if (dice < 0.86) this.start(this.limit(client))
    else if (dice < 0.9) this.start(this.latch(client))
    else if (dice < 0.93) this.start(this.detach())
    else if (dice < 0.96) this.start(this.adopt(client))
    else if (dice < 0.98) this.start(this.force(client))
    else if (dice < 0.993) this.trouble()
    else await this.replace()
    await (this.#random() < 0.5 ? setImmediate() : town.clock.advance(this.below(120)))
  }

  /** Lets all calls come to their end. */
  async rest(): Promise<void> {
    this.#end.abort(new Error('the end'))
    for (let round = 0; this.#running.size > 0; round++) {
      assert.ok(
        round < 200,
        `${this.#running.size} never end: ${JSON.stringify(this.calls.filter(({ outcome }) => outcome === undefined))}`,
      )
      await town.clock.advance(500)
    }
  }
}

const one = <T>(all: readonly T[], what: string): T => {
  assert.equal(all.length, 1, what)
  return all[0] as T
}

/** Checks all events of one call. */
const checkCall = (call: Call, forced: ReadonlySet<string>): void => {
  const { told, holds, outcome, traced } = call
  const of = (event: DiagnosticEvent): DiagnosticMessage[] => told.filter(([e]) => e === event).map(([, m]) => m)
  const text = JSON.stringify({ told, outcome, error: String(call.error) })
  assert.ok(outcome !== undefined, `a call never ended: ${text}`)
  if (told.length === 0) {
    // It was rejected before it began: it had been aborted, or its client was closed.
    assert.ok(call.error !== undefined && ['aborted', 'error'].includes(outcome), text)
    return
  }
  const { id, client } = one(of('acquire'), text)
  for (const [, message] of told) assert.deepEqual([message.id, message.client], [id, client], text)
  assert.ok(of('wait').length <= 1, text)
  const end = one([...of('grant'), ...of('end')], text)
  assert.equal(end.outcome ?? 'granted', outcome, text)
  assert.equal(end.error, outcome === 'granted' ? undefined : call.error, text)
  assert.ok(Math.abs((end.elapsed as number) - ((call.endedAt as number) - call.startedAt)) <= 1, text)
  if (call.permits !== undefined) assert.equal(end.permits, call.permits, text)
  const trace = traced.filter(([channel]) => channel.startsWith('acquire:'))
  const failed = end.error === undefined ? 0 : 1
  assert.equal(trace.length, 4 + failed, text)
  assert.equal(trace.at(-1)?.[1].outcome, outcome, text)
  checkHolds(call, of('release'), end, forced, text)
  for (const _ of holds) count('holds')
}

const checkHolds = (
  { holds }: Call,
  releases: readonly DiagnosticMessage[],
  grant: DiagnosticMessage,
  forced: ReadonlySet<string>,
  text: string,
): void => {
  const numbers = new Set(releases.map(({ hold }) => hold))
  assert.equal(numbers.size, releases.length, `a hold ended twice: ${text}`)
  holds.forEach((held, i) => {
    const release = releases.find(({ hold }) => hold === (grant.hold as number) + i)
    const { state } = held.hold
    const where = `${state} ${held.name}: ${text}`
    if (state === 'held' || state === 'uncertain') {
      assert.equal(release, undefined, where)
      count('still held')
      return
    }
    const outcome = release?.outcome
    assert.equal(outcome === 'forced' ? 'lost' : outcome, state, where)
    if (outcome === 'forced')
      assert.ok(held.name.split(', ').some((name) => forced.has(name)) || held.name === 'adopted', where)
    assert.ok(
      Math.abs((release?.elapsed as number) - ((held.until as number) - held.from)) <= 1,
      `${held.from}–${held.until} ${where}`,
    )
  })
  assert.ok(releases.length <= Math.max(1, holds.length), text)
}

const PROGRAMS = Math.max(1, Math.round(STEPS / STEPS_EACH))

for (let seed = 1; seed <= PROGRAMS; seed++) {
  inTown(
    `random program ${seed} → each call has one end, each hold its own length, and all sums agree`,
    async (there) => {
      town = there
      const random = seeded(seed)
      const [frail, broken] = await town.joinInPart({ commandTimeout: 300, maxWaiters: 12 })
      const clients = [frail, await town.join(), await town.join({ watchdog: 900 })]
      const [, first] = clients as [Client, Client, Client]
      await town.run(first.semaphore('semaphore').trySetPermits(4))
      await town.run(first.permitSemaphore('permits').trySetPermits(3))
      const program = new Program(random, clients, broken)
      for (let step = 0; step < STEPS_EACH; step++) await program.step()
      await program.rest()
      for (const call of program.calls) checkCall(call, program.forced)
      for (const { told, outcome, startedAt, endedAt } of program.calls)
        if (told.length > 0) {
          know(outcome as string)
          know('ms', (endedAt as number) - startedAt)
        }
      assert.deepEqual(strays, [])
      for (const held of program.live) program.start(held.hold.release())
      await program.rest()
      for (const client of clients) await town.run(client.close())
      await town.clock.advance(5000)
      for (const key of town.raw('KEYS', '*') as unknown[]) town.raw('DEL', String(key))
    },
  )
}

after(() => {
  for (const what of ['end timeout', 'end aborted', 'end refused', 'end error', 'release lost', 'release forced'])
    assert.ok((seen.get(what) ?? 0) > 0, `${what} never came: ${JSON.stringify([...seen])}`)
  const of = (what: string): number => seen.get(what) ?? 0
  assert.equal(of('acquire'), of('grant') + of('end timeout') + of('end aborted') + of('end refused') + of('end error'))
  assert.equal(of('acquire:start'), of('acquire'))
  assert.equal(of('acquire:asyncEnd'), of('acquire'))
})

void test('the metrics of OpenTelemetry and Prometheus → agree with the program', async () => {
  const { prometheus, otel } = await measured()
  const outcomes = ['granted', 'timeout', 'aborted', 'refused', 'error']
  for (const outcome of outcomes) {
    assert.equal(prometheus.get(`holdfast_lock_wait_duration_seconds_count ${outcome}`), known.get(outcome), outcome)
    assert.equal(otel.get(`holdfast.lock.wait.duration ${outcome}`), known.get(outcome), outcome)
  }
  const waited = outcomes.map((outcome) => prometheus.get(`holdfast_lock_wait_duration_seconds_sum ${outcome}`) ?? 0)
  const calls = outcomes.reduce((sum, outcome) => sum + (known.get(outcome) ?? 0), 0)
  const sum = waited.reduce((all, one) => all + one * 1000, 0)
  assert.ok(Math.abs(sum - (known.get('ms') ?? 0)) <= calls, `${sum} ms, not ${known.get('ms')}`)
  for (const name of ['lost', 'renewals']) {
    const event = name === 'lost' ? ['', 'lost'] : ['ok', 'renew']
    assert.equal(prometheus.get(`holdfast_lock_${name}_total ${event[0]}`), seen.get(event[1] as string) ?? 0, name)
    assert.equal(otel.get(`holdfast.lock.${name} ${event[0]}`), seen.get(event[1] as string) ?? 0, name)
  }
  for (const outcome of ['lost', 'forced', 'detached'])
    assert.equal(
      prometheus.get(`holdfast_lock_hold_duration_seconds_count ${outcome}`),
      otel.get(`holdfast.lock.hold.duration ${outcome}`),
      outcome,
    )
  for (const now of ['waiting', 'held']) {
    assert.equal(prometheus.get(`holdfast_lock_${now} `), 0, now)
    assert.equal(otel.get(`holdfast.lock.${now} `), 0, now)
  }
})

/** What a metric says, except for the time at which it was read; in one order. */
const saidBy = ({ descriptor, dataPoints, ...form }: MetricData): unknown => {
  const { name, description, unit, valueType } = descriptor
  const points = (dataPoints as DataPoint<unknown>[]).map(({ attributes, value }) => {
    const sorted = Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1))
    return [JSON.stringify(sorted), name.endsWith('oldest') ? 'now' : value] as const
  })
  return { name, description, unit, valueType, ...form, points: points.sort(([a], [b]) => (a < b ? -1 : 1)) }
}

void test('the metric producer → hands over what the SDK would have made of the same events', async () => {
  const [sdk, own] = await collected()
  assert.equal(sdk.length, 10)
  const order = ({ descriptor: a }: MetricData, { descriptor: b }: MetricData) => (a.name < b.name ? -1 : 1)
  assert.deepEqual(own.sort(order).map(saidBy), sdk.sort(order).map(saidBy))
  for (const stop of stops) stop()
  const [, left] = await collected()
  const present = ['holdfast.lock.waiting', 'holdfast.lock.held', 'holdfast.lock.held.oldest']
  const counted = own.filter(({ descriptor }) => !present.includes(descriptor.name))
  assert.deepEqual(left.sort(order).map(saidBy), counted.map(saidBy))
  await meterProvider.shutdown()
})

inTown(
  'six holds of 50 ms that are handed over within the process → each event has its own 50 ms, in its own context',
  async (there) => {
    town = there
    const client = await town.join()
    const lock = client.lock('handed')
    const calls = await town.run(
      Promise.all(
        Array.from({ length: 6 }, async () => {
          const call: Call = { wait: Infinity, signal: undefined, told: [], traced: [], holds: [], startedAt: 0 }
          await here.run(call, () => lock.using(() => new Promise<void>((done) => void town.clock.setTimer(done, 50))))
          return call
        }),
      ),
    )
    const lengths = calls.map(({ told }) => told.find(([event]) => event === 'release')?.[1].elapsed)
    assert.deepEqual(lengths, [50, 50, 50, 50, 50, 50])
    const local = calls.filter(({ told }) => told.some(([, message]) => message.local === true))
    assert.ok(local.length > 0)
  },
)
