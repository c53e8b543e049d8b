import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '#src/core/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import type { Script } from '#src/lua/script.js'
import {
  fairLockEnqueue,
  permitSemaphoreCount,
  rateLimiterAvailable,
  readWriteLockInspect,
} from '#src/lua/scripts.gen.js'

type Word = string | number

const REDISSONS = '9f1b2c3d-0a1b-4001-8001-0a1b2c3d4e5f'
const OURS = '0a1b2c3d-0a1b-8001-8001-0a1b2c3d4e5f'

/** How many commands it calls. */
const commandsOf = (
  fill: readonly (readonly Word[])[],
  script: Script,
  keys: readonly string[],
  args: readonly Word[],
): number => {
  const server = new MemoryServer(systemClock)
  const execute = (...words: readonly Word[]): unknown => server.execute(words.map(String))
  for (const words of fill) execute(...words)
  const counting = `local real, calls = redis, 0
local redis = setmetatable({}, { __index = real })
redis.call = function(...)
  calls = calls + 1
  return real.call(...)
end
local function script()
${script.text}
end
script()
return calls`
  const calls = execute('EVAL', counting, keys.length, ...keys, ...args)
  server.close()
  assert.ok(typeof calls === 'number' && calls > 0, String(calls))
  return calls
}

void describe('what a script does is bounded', () => {
  test('readers that read thousands of times each → 2,000 looks in all', () => {
    const readers = Array.from({ length: 5 }, (_, i) => [`${REDISSONS}:${i}`, '9999']).flat()
    const calls = commandsOf([['HSET', 'k', 'mode', 'read', ...readers]], readWriteLockInspect, ['k'], ['{k}', '0'])
    assert.ok(calls <= 2010, `${calls} commands`)
  })

  test('a line of thousands without a deadline → a thousand of them go in one step', () => {
    const line = Array.from({ length: 5000 }, (_, i) => `${REDISSONS}:${i}`)
    const args = [300_000, Date.now() + 60_000, 'channel', 'grants', 'PUBLISH', `${OURS}:1`, 30_000]
    const calls = commandsOf([['RPUSH', 'q', ...line]], fairLockEnqueue, ['k', 'q', 'd'], args)
    assert.ok(calls <= 6000, `${calls} commands`)
  })

  test('a window full of what another program wrote → no more is counted than the rate can be', () => {
    const foreign = Array.from({ length: 50_000 }, (_, i) => [Date.now() + 60_000, `other${i}`]).flat()
    const fill = [
      ['HSET', 'k', 'rate', 10, 'interval', 1000, 'type', 0],
      ['ZADD', 'p', ...foreign],
    ]
    const calls = commandsOf(fill, rateLimiterAvailable, ['k', 'v', 'own v', 'p', 'own p'], [1])
    assert.ok(calls <= 15, `${calls} commands`)
  })

  test('permits whose time is over → 2,000 are taken back in one step, and all are counted', () => {
    const server = new MemoryServer(systemClock)
    const execute = (...words: readonly Word[]): unknown => server.execute(words.map(String))
    execute('SET', 'k', 0)
    execute('ZADD', 't', ...Array.from({ length: 5000 }, (_, i) => [i, `permit${i}`]).flat())
    for (const left of [3000, 1000, 0, 0]) {
      assert.deepEqual(execute('EVAL', permitSemaphoreCount.text, 3, 'k', 't', 'c', 'PUBLISH'), [1, 5000, 0])
      assert.equal(execute('ZCARD', 't'), left)
      assert.equal(execute('GET', 'k'), String(5000 - left))
    }
    server.close()
  })
})
