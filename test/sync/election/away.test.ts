import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, LockLostError, type Term } from 'holdfast'
import { redisEngine, started } from '../../support/engines.js'
import { stage } from '../../support/line-stage.js'
import { startProxy } from '../../support/proxy.js'
import { startRedis } from '../../support/redis-server.js'
import { until } from '../../support/until.js'

void test('nothing is answered any more → the signal aborts at the deadline, a third of the lease before another can lead', async () => {
  const { clock, clients, drivers, pause, run } = await stage(2, 'fencedLock')
  const [one, two] = clients as [(typeof clients)[0], (typeof clients)[0]]
  const errors: unknown[] = []
  one.on('error', (error) => errors.push(error))
  let mine: Term | undefined
  let aborted = Infinity
  const stop = new AbortController()
  const led = one.election('x').lead({ lease: 30_000, signal: stop.signal }, async (term) => {
    mine = term
    term.signal.addEventListener('abort', () => (aborted = clock.monotonic()))
    while (!term.signal.aborted) await pause(100)
    await pause(2000)
  })
  let began = Infinity
  await clock.advance(50)
  const next = two.election('x').lead({ lease: 30_000 }, () => (began = clock.monotonic()))
  await clock.advance(60_000)
  assert.equal((await run(one.health())).overdue, 0)
  const renewals = drivers[0]!.scripts
  await clock.advance(10_000)
  assert.ok(drivers[0]!.scripts - renewals <= 5, `${drivers[0]!.scripts - renewals} scripts in a third of a lease`)

  drivers[0]!.mute = true
  const mute = clock.monotonic()
  let unwell = false
  for (let waited = 0; waited < 40_000; waited += 500) {
    const { leading, overdue } = await run(one.health())
    if (aborted === Infinity) unwell ||= leading === 1 && overdue > 0
    await clock.advance(500)
  }
  assert.ok(unwell, 'led and not renewed')
  assert.ok(
    mine?.signal.reason instanceof LockLostError && mine.signal.reason.message.includes('not renewed for 20000 ms'),
  )
  assert.ok(aborted - mute > 9000 && aborted - mute <= 20_000, `${aborted - mute} ms`)
  assert.ok(began - aborted > 9000, `another leads ${began - aborted} ms later`)
  drivers[0]!.mute = false
  stop.abort()
  await run(next)
  await run(led)
  await run(Promise.all(clients.map((client) => client.close())))
})

describe('an election whose server is away', () => {
  void test('longer than the lease → it leads again, in another term, and an observer has seen it', async (t) => {
    const skip = await started(redisEngine)
    await redisEngine.stop?.()
    if (skip !== undefined) return t.skip(skip)
    const server = await startRedis()
    const proxy = await startProxy(server.port)
    const client = await connect({ url: proxy.url, commandTimeout: 300 })
    const beside = await connect({ url: proxy.url, commandTimeout: 300 })
    for (const one of [client, beside]) one.on('error', () => undefined)
    const terms: Term[] = []
    const seen: (bigint | undefined)[] = []
    const stop = new AbortController()
    const led = client.election('e').lead({ lease: 1000, signal: stop.signal }, async (term) => {
      terms.push(term)
      await new Promise<void>((resolve) => term.signal.addEventListener('abort', () => resolve()))
    })
    const loop = (async () => {
      for await (const leader of beside.election('e').observe({ signal: stop.signal })) seen.push(leader?.term)
    })()
    await until(() => terms.length === 1 && seen.at(-1) === terms[0]!.term)
    proxy.deaf = true
    proxy.mute = true
    await until(() => terms[0]!.signal.aborted)
    await new Promise((resolve) => setTimeout(resolve, 1500))
    proxy.cut()
    proxy.deaf = false
    proxy.mute = false
    await until(() => terms.length === 2 && seen.at(-1) === terms[1]!.term)
    assert.ok(terms[1]!.term > terms[0]!.term)
    const known = seen.filter((term) => term !== undefined)
    known.forEach((term, i) => assert.ok(i === 0 || term > known[i - 1]!, known.join()))
    stop.abort()
    await Promise.all([led, assert.rejects(loop)])
    await Promise.all([client.close(), beside.close()])
    await proxy.close()
    await server.stop()
  })
})
