const { connect, EngineError, LockLostError } = require('holdfast')
const { virtualClock } = require('holdfast/testing')

test('a lock in a test', async () => {
  const client = await connect('memory:')
  const lock = client.lock('a')
  expect(await lock.using(() => lock.isLocked())).toBe(true)
  expect(await lock.isLocked()).toBe(false)
  await client.close()
})

test('a hold that ends by the clock of the test', async () => {
  const clock = virtualClock(1)
  const client = await connect({ url: 'memory:', clock })
  const hold = await client.lock('a').acquire({ lease: 1000 })
  await clock.advance(1001)
  expect(hold.signal.reason).toBeInstanceOf(LockLostError)
  await client.close()
})

test('a server that is not there', async () => {
  await expect(connect('redis://127.0.0.1:1')).rejects.toThrow(EngineError)
})
