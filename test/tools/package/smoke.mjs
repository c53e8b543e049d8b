import assert from 'node:assert/strict'
import { connect, LockLostError } from 'holdfast'
import { dashboard } from 'holdfast/dashboard'
import { rateLimit as forExpress } from 'holdfast/express'
import { rateLimit as forFastify } from 'holdfast/fastify'
import { rateLimit as forHono } from 'holdfast/hono'
import { expressIdempotency, fastifyIdempotency, honoIdempotency } from 'holdfast/idempotency'
import { log } from 'holdfast/logger'
import { runCoordinator } from 'holdfast/node-cron'
import { schedule } from 'holdfast/schedule'
import { expressRateLimitStore, throttlerStorage } from 'holdfast/stores'
import { virtualClock } from 'holdfast/testing'

const client = await connect('memory:')
const lock = client.lock('smoke')
const hold = await lock.acquire()
assert.equal(await lock.isLocked(), true)
assert.equal(await lock.tryAcquire(), undefined)
assert.equal(await hold.release(), true)
assert.equal(await lock.using(() => 'done'), 'done')
for (const rateLimit of [forExpress, forFastify, forHono])
  rateLimit({ client, permits: 1, interval: 1, key: () => 'all' })
for (const idempotency of [expressIdempotency, fastifyIdempotency, honoIdempotency])
  idempotency({ client, scope: () => 'all' })
for (const store of [expressRateLimitStore, throttlerStorage]) store({ client })
const page = dashboard({ client, authorize: () => 'read' })
assert.match(await (await page(new Request('http://localhost/app.js'))).text(), /EventSource/)
// node-cron is not installed here: nothing imports it.
const coordinator = runCoordinator(client)
assert.equal(await coordinator.shouldRun('smoke:2026-11-27T02:00:00.000Z', 1000), true)
await coordinator.onComplete('smoke:2026-11-27T02:00:00.000Z')
// croner is not installed here: an entry that is not used needs nothing.
await assert.rejects(
  schedule(client, 'smoke', { cron: '* * * * *' }, () => 1),
  /npm install croner/,
)
// Nor are the packages of telemetry: only their own entries need them.
for (const entry of ['otel', 'prometheus'])
  await assert.rejects(import(`holdfast/${entry}`), { code: 'ERR_MODULE_NOT_FOUND' })
const lines = []
const write = (line) => lines.push(line)
log(client, { debug: write, info: write, warn: write, error: write })
await client.close()
await new Promise(setImmediate)
assert.ok(lines.includes('holdfast: closed'))

const clock = virtualClock(1)
const virtual = await connect({ url: 'memory:', clock })
const lost = await virtual.lock('smoke').acquire({ lease: 1000 })
await clock.advance(1000)
assert.ok(lost.signal.reason instanceof LockLostError)
await virtual.close()
