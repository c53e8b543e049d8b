import assert from 'node:assert/strict'
import { channel } from 'node:diagnostics_channel'
import { describe, test } from 'node:test'
import { connect } from 'holdfast'
import { instrument } from 'holdfast/prometheus'
import { Redis } from 'ioredis'
import { Gauge, type Metric, Registry } from 'prom-client'
import { ByNumber } from '#src/telemetry/events.js'
import { startRedis } from '../support/redis-server.js'
import { until } from '../support/until.js'

/** The value of one line of what a scrape gets. */
const valueOf = async (register: Registry, line: string): Promise<number | undefined> => {
  const found = (await register.metrics()).split('\n').find((one) => one.startsWith(`${line} `))
  return found === undefined ? undefined : Number(found.slice(line.length + 1))
}

const EVENTS = ['acquire', 'wait', 'grant', 'end', 'release', 'renew', 'uncertain', 'lost', 'reconnect', 'deadlock']
const heard = (): string[] => EVENTS.filter((event) => channel(`holdfast:${event}`).hasSubscribers)

void describe('holdfast/prometheus', () => {
  test('calls of two clients of a real server → each metric says what they did', async () => {
    const redis = await startRedis()
    const register = new Registry()
    const stop = instrument({ register, kinds: ['fairLock'] })
    const [holder, waiter] = [await connect({ url: redis.url, watchdog: 900 }), await connect(redis.url)]
    const of = (line: string): Promise<number | undefined> => valueOf(register, line)
    try {
      assert.equal(await of('holdfast_lock_lost_total{kind="fairLock"}'), 0)
      assert.equal(await of('holdfast_lock_renewals_total{outcome="failed"}'), 0)
      const hold = await holder.lock('a').acquire()
      assert.equal(await waiter.lock('a').tryAcquire(), undefined)
      const waiting = waiter.lock('a').acquire()
      await until(async () => (await of('holdfast_lock_waiting{kind="lock"}')) === 1)
      assert.equal(await of('holdfast_lock_held{kind="lock"}'), 1)
      assert.ok(((await of('holdfast_lock_held_oldest_seconds{kind="lock"}')) ?? 0) > 0)
      await until(async () => ((await of('holdfast_lock_renewals_total{outcome="ok"}')) ?? 0) > 0)
      await hold.release()
      await (await waiting).release()
      const leased = await holder.lock('b').acquire({ lease: 2000 })
      await until(() => leased.signal.aborted)
      const limiter = holder.rateLimiter('rate')
      const rate = { permits: 1, interval: 60_000 }
      assert.equal((await limiter.tryAcquire({ rate })).allowed, true)
      assert.equal((await limiter.tryAcquire({ rate })).allowed, false)

      const waits = 'holdfast_lock_wait_duration_seconds_count'
      assert.equal(await of(`${waits}{kind="lock",outcome="granted",local="false"}`), 3)
      assert.equal(await of(`${waits}{kind="lock",outcome="refused",local="false"}`), 1)
      const holds = 'holdfast_lock_hold_duration_seconds'
      assert.equal(await of(`${holds}_count{kind="lock",outcome="released"}`), 2)
      assert.equal(await of(`${holds}_count{kind="lock",outcome="lost"}`), 1)
      const lasted = (await of(`${holds}_sum{kind="lock",outcome="lost"}`)) ?? 0
      assert.ok(lasted > 0.5 && lasted < 10, String(lasted))
      assert.equal(await of('holdfast_lock_lost_total{kind="lock"}'), 1)
      assert.equal(await of('holdfast_lock_waiting{kind="lock"}'), 0)
      assert.equal(await of('holdfast_lock_held{kind="lock"}'), 0)
      assert.equal(await of('holdfast_lock_held_oldest_seconds{kind="lock"}'), 0)
      assert.equal(await of('holdfast_limiter_decisions_total{outcome="allowed"}'), 1)
      assert.equal(await of('holdfast_limiter_decisions_total{outcome="refused"}'), 1)
      assert.equal(await of('holdfast_client_reconnects_total'), 0)
      assert.equal(await of('holdfast_deadlocks_total'), 0)
    } finally {
      await Promise.all([holder.close(), waiter.close()])
      await redis.stop()
      stop()
    }
  })

  test('a server that goes and comes back → reconnects and failed renewals', async () => {
    const redis = await startRedis()
    const register = new Registry()
    const stop = instrument({ register })
    const client = await connect({ url: redis.url, watchdog: 600, commandTimeout: 200 })
    client.on('error', () => undefined)
    try {
      await client.lock('a').acquire()
      process.kill(redis.pid, 'SIGSTOP')
      const failed = 'holdfast_lock_renewals_total{outcome="failed"}'
      await until(async () => ((await valueOf(register, failed)) ?? 0) > 0)
      process.kill(redis.pid, 'SIGCONT')
      const admin = new Redis(redis.url)
      await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
      admin.disconnect()
      await until(async () => ((await valueOf(register, 'holdfast_client_reconnects_total')) ?? 0) > 0)
    } finally {
      process.kill(redis.pid, 'SIGCONT')
      await client.close()
      await redis.stop()
      stop()
    }
  })

  test('100,000 names → 1,000 of them, and the rest together', async () => {
    const register = new Registry()
    const stop = instrument({ register, name: (name) => name })
    const told = { client: 'c', kind: 'lock', elapsed: 1 }
    for (let i = 0; i < 100_000; i += 1)
      channel('holdfast:grant').publish({ ...told, id: i, name: `user\n${i}`, hold: i })
    const metrics = await register.metrics()
    const held = metrics.split('\n').filter((line) => line.startsWith('holdfast_lock_held{'))
    assert.equal(held.length, 1001)
    assert.equal(held.at(-1), 'holdfast_lock_held{kind="lock",name="other"} 99000')
    assert.equal(held[0], String.raw`holdfast_lock_held{kind="lock",name="user\\n0"} 1`)
    stop()
  })

  test('a mapper that throws, or returns no text → no name, and nothing is lost', async () => {
    const register = new Registry()
    const answers: unknown[] = [undefined, 7, {}]
    const stop = instrument({
      register,
      name: () => {
        if (answers.length === 0) throw new Error('no')
        return answers.shift() as string
      },
    })
    for (let id = 0; id < 4; id += 1)
      channel('holdfast:end').publish({ client: 'c', kind: 'lock', name: 'a', id, elapsed: 1, outcome: 'timeout' })
    const line = 'holdfast_lock_wait_duration_seconds_count{kind="lock",outcome="timeout",local="false"}'
    assert.equal(await valueOf(register, line), 4)
    stop()
  })

  test('stopped → nobody listens, and the registry is as before', async () => {
    const before = heard()
    const register = new Registry()
    const stop = instrument({ register })
    assert.ok(heard().length > before.length)
    assert.throws(() => instrument({ register }), /already been registered/)
    stop()
    stop()
    assert.deepEqual(heard(), before)
    assert.deepEqual(await register.getMetricsAsJSON(), [])
  })

  test('stopped after somebody else took the names → their metrics stay', async () => {
    const register = new Registry()
    const stop = instrument({ register })
    register.clear()
    const second = instrument({ register })
    stop()
    assert.equal((await register.getMetricsAsJSON()).length, 10)
    second()
    assert.deepEqual(await register.getMetricsAsJSON(), [])
  })

  test('a registry that has one of the names, or fails at one of them → nothing is left of the others, and nobody listens', async () => {
    const before = heard()
    const register = new Registry()
    const foreign = new Gauge({ name: 'holdfast_deadlocks_total', help: 'not ours', registers: [register] })
    foreign.set(7)
    assert.throws(() => instrument({ register }), /holdfast_deadlocks_total has already been registered/)
    assert.deepEqual(
      (await register.getMetricsAsJSON()).map(({ name }) => name),
      ['holdfast_deadlocks_total'],
    )
    register.clear()
    const full = new Error('full')
    for (let fails = 1; fails <= 10; fails += 1) {
      let left = fails
      const failing = Object.assign(Object.create(register) as Registry, {
        registerMetric: (metric: Metric) => {
          if (--left === 0) throw full
          register.registerMetric(metric)
        },
      })
      assert.throws(() => instrument({ register: failing }), full)
      assert.deepEqual(await register.getMetricsAsJSON(), [], String(fails))
    }
    assert.deepEqual(heard(), before)
    instrument({ register })()
  })

  test('calls of clients that come and go → no number of theirs is kept', () => {
    const held = new ByNumber<string>()
    for (let i = 0; i < 1000; i += 1) {
      for (const number of [1, 2]) held.set(`client ${i}`, number, 'held')
      assert.equal(held.take(`client ${i}`, 1), 'held')
      assert.equal(held.take(`client ${i}`, 1), undefined)
      assert.equal(held.get(`client ${i}`, 2), 'held')
      if (i > 0) assert.equal(held.take(`client ${i - 1}`, 2), 'held')
    }
    assert.equal(held.clients, 1)
    assert.deepEqual(held.takeAll(), ['held'])
    assert.equal(held.clients, 0)
  })

  test('wrong options → an error that names them, and nobody listens', () => {
    const before = heard()
    for (const [options, text] of [
      [{ buckets: { wait: [1, 1] } }, /buckets\.wait/],
      [{ buckets: { hold: [] } }, /buckets\.hold/],
      [{ maxNames: 0 }, /maxNames/],
      [{ kinds: ['a b'] }, /kinds/],
      [{ name: 'x' }, /name must be a function/],
      [{ register: {} }, /register must have/],
    ] as const)
      assert.throws(() => instrument(options as never), text)
    assert.deepEqual(heard(), before)
  })
})
