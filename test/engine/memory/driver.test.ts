import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type DriverEvents, NotSent } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import { FakeClock } from './fake-clock.js'

const open = async (name?: string, clock = new FakeClock()) => {
  const server = openMemoryServer(name, clock)
  const driver = new MemoryDriver(server, name)
  const heard: string[] = []
  const events: DriverEvents = {
    message: ({ kind, name, channel, payload }) => {
      const text = Buffer.from(payload).toString()
      heard.push(kind === 'pattern' ? `${name} ${channel} ${text}` : `${channel} ${text}`)
    },
    up: (again) => void heard.push(`up ${again}`),
    down: () => {},
    moved: () => {},
    outOfStep: () => {},
    gap: () => {},
    unheard: () => undefined,
    error: () => {},
  }
  await driver.open(events)
  return { clock, server, driver, heard }
}

describe('memory driver', () => {
  test('text as UTF-8, bytes where asked for', async () => {
    const { driver } = await open()
    assert.equal(await driver.send(['SET', 'ключ', 'значение 🔒']), 'OK')
    assert.equal(await driver.send(['GET', 'ключ']), 'значение 🔒')
    const bytes = Uint8Array.of(0, 127, 128, 255)
    await driver.send(['HSET', 'h', 'f', bytes])
    assert.deepEqual(await driver.send(['HGETALL', 'h'], { binary: true }), [Uint8Array.of(102), bytes])
    assert.equal(await driver.send(['INCRBY', 'n', 5]), 5)
    assert.equal(await driver.send(['GET', 'none']), null)
    await driver.close()
  })

  test('an error rejects with its text; within an array it is a value', async () => {
    const { driver } = await open()
    await assert.rejects(driver.send(['HGET', 'a']), { message: "ERR wrong number of arguments for 'hget' command" })
    const reply = await driver.send(['EVAL', "return {1, redis.error_reply('MY x')}", 0])
    assert.ok(Array.isArray(reply) && reply[1] instanceof Error)
    assert.equal(reply[1].message, 'MY x')
    await driver.close()
  })

  test('named servers are shared, and dropped when unused and empty', async () => {
    const clock = new FakeClock()
    const one = await open('shared', clock)
    const two = await open('shared', clock)
    assert.equal(one.server, two.server)
    assert.equal(one.driver.address, 'memory:shared')
    assert.notEqual((await open()).server, (await open()).server)
    await one.driver.send(['SET', 'a', 1, 'PX', 1000])
    await one.driver.close()
    await two.driver.close()
    assert.equal(openMemoryServer('shared', clock), one.server)
    closeMemoryServer(one.server)
    clock.pass(1001)
    assert.notEqual(openMemoryServer('shared', clock), one.server)
  })

  test('messages reach the other client later than the call, and none after the end', async () => {
    const one = await open('messages')
    const two = await open('messages')
    await two.driver.subscribe('ch', 'plain')
    await two.driver.subscribe('sh', 'sharded')
    const sent = one.driver.send(['PUBLISH', 'ch', 'a'])
    assert.deepEqual(two.heard, ['up false'])
    assert.equal(await sent, 1)
    assert.equal(await one.driver.send(['SPUBLISH', 'sh', 'b']), 1)
    await Promise.resolve()
    assert.deepEqual(two.heard, ['up false', 'ch a', 'sh b'])
    await two.driver.unsubscribe('ch', 'plain')
    assert.equal(await one.driver.send(['PUBLISH', 'ch', 'c']), 0)
    await two.driver.close()
    assert.equal(await one.driver.send(['SPUBLISH', 'sh', 'd']), 0)
    await one.driver.close()
    await assert.rejects(one.driver.send(['PING']), NotSent)
    assert.equal(one.driver.isUp, false)
    assert.equal(two.heard.length, 3)
  })
})
