const assert = require('node:assert/strict')
const { connect, LockLostError } = require('holdfast')
const { rateLimit } = require('holdfast/express')
const { virtualClock } = require('holdfast/testing')

const main = async () => {
  const modules = await import('holdfast')
  const loadsModules = process.features.require_module === true
  // One copy where that is possible; and where there are two, errors of one are those of the other.
  assert.equal(modules.connect === connect, loadsModules)
  const clock = virtualClock(1)
  const client = await connect({ url: 'memory:', clock })
  const hold = await client.lock('smoke').acquire({ lease: 1000 })
  rateLimit({ client, permits: 1, interval: 1, key: () => 'all' })
  await clock.advance(1001)
  for (const kind of [LockLostError, modules.LockLostError]) assert.ok(hold.signal.reason instanceof kind)
  // Their packages are not installed here: the error says what is missing.
  assert.throws(() => require('holdfast/otel').instrument(), /@opentelemetry\/api/)
  assert.throws(() => require('holdfast/prometheus').instrument(), /prom-client/)
  await client.close()
}

void main()
