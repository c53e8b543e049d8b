import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MessageThrottle } from '#src/core/waiting/message-throttle.js'

void test('very many messages at one moment → the questions come further and further apart, and none later than a second', () => {
  const throttle = new MessageThrottle()
  const delays = Array.from({ length: 100_000 }, () => throttle.delay(5000))
  assert.deepEqual(delays.slice(0, 52), [...Array.from({ length: 50 }, () => 0), 2, 4])
  assert.equal(Math.max(...delays), 1002)
  assert.equal(throttle.delay(7000), 0)
})

void test('a question about very many waiters → the one after it comes a second later at most', () => {
  const throttle = new MessageThrottle()
  assert.equal(throttle.delay(5000, 1e6), 0)
  assert.equal(throttle.delay(5000), 1002)
})
