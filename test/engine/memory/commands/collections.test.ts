import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { type Plain, fromMemory } from '../replies.js'

type Ask = (...argv: (string | number)[]) => Plain

const open = (): Ask => {
  const server = new MemoryServer(systemClock)
  return (...argv) => fromMemory(server.execute(argv.map(String)))
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)
const bulk = (values: readonly (string | number)[]): string[] => values.map((value) => `$${value}`)
const distinct = (reply: Plain): number => new Set(Array.isArray(reply) ? reply : []).size

describe('lists', () => {
  it('stay quick at both ends when they are long', () => {
    const ask = open()
    const amount = 20_000
    for (let i = 0; i < amount; i += 1000) ask('RPUSH', 'l', ...numbers(1000).map((n) => i + n))
    const started = performance.now()
    for (let i = 0; i < amount; i++) assert.equal(ask('LPOP', 'l'), `$${i}`)
    assert.ok(performance.now() - started < 5000)
    assert.equal(ask('EXISTS', 'l'), ':0')
  })

  it('of one item that moves onto itself keep their expiry', () => {
    const ask = open()
    ask('RPUSH', 'l', 'a')
    ask('EXPIRE', 'l', 100)
    assert.equal(ask('LMOVE', 'l', 'l', 'LEFT', 'RIGHT'), '$a')
    assert.equal(ask('TTL', 'l'), ':100')
  })
})

describe('sets', () => {
  it('of few integers are listed in their order, also at the ends of 64 bits', () => {
    const ask = open()
    ask('SADD', 's', '10', '9223372036854775807', '-9223372036854775808', '9', '9223372036854775806')
    const order = ['-9223372036854775808', '9', '10', '9223372036854775806', '9223372036854775807']
    assert.deepEqual(ask('SMEMBERS', 's'), bulk(order))
    assert.deepEqual(ask('SDIFF', 's'), bulk(order))
  })

  it('give up members at random, each once', () => {
    const ask = open()
    ask('SADD', 's', ...numbers(100))
    const some = ask('SPOP', 's', 30)
    assert.equal(distinct(some), 30)
    assert.equal(ask('SCARD', 's'), ':70')
    const rest = ask('SMEMBERS', 's')
    assert.ok(Array.isArray(some) && Array.isArray(rest))
    assert.equal(distinct([...some, ...rest]), 100)
    assert.equal(typeof ask('SPOP', 's'), 'string')
    assert.equal(distinct(ask('SPOP', 's', 1000)), 69)
    assert.equal(ask('EXISTS', 's'), ':0')
  })

  it('show members at random, with repeats when the count is negative', () => {
    const ask = open()
    ask('SADD', 's', 'a', 'b', 'c')
    assert.equal(distinct(ask('SRANDMEMBER', 's', 10)), 3)
    assert.equal(distinct(ask('SRANDMEMBER', 's', 2)), 2)
    const many = ask('SRANDMEMBER', 's', -200)
    assert.ok(Array.isArray(many) && many.length === 200)
    assert.equal(distinct(many), 3)
  })
})

describe('sorted sets', () => {
  it('keep their order through thousands of changes', () => {
    const ask = open()
    const scores = new Map<string, number>()
    for (let i = 0; i < 20_000; i++) {
      const member = `m${(i * 7919) % 3001}`
      const score = (i * 104_729) % 977
      scores.set(member, score)
      ask('ZADD', 'z', score, member)
      if (i % 5 !== 0) continue
      const gone = `m${(i * 31) % 3001}`
      scores.delete(gone)
      ask('ZREM', 'z', gone)
    }
    const expected = [...scores].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1)).map(([member]) => member)
    assert.deepEqual(ask('ZRANGE', 'z', 0, -1), bulk(expected))
    expected.forEach((member, rank) => assert.equal(ask('ZRANK', 'z', member), `:${rank}`))
  })

  it('give up their lowest and highest', () => {
    const ask = open()
    ask('ZADD', 'z', ...numbers(10).flatMap((n) => [n, `m${n}`]))
    assert.deepEqual(ask('ZPOPMIN', 'z', 2), bulk(['m0', 0, 'm1', 1]))
    assert.deepEqual(ask('ZPOPMAX', 'z'), bulk(['m9', 9]))
    assert.deepEqual(ask('ZMPOP', 2, 'none', 'z', 'MAX', 'COUNT', 2), ['$z', [bulk(['m8', 8]), bulk(['m7', 7])]])
    assert.equal(ask('ZCARD', 'z'), ':5')
  })

  it('show members at random with their scores', () => {
    const ask = open()
    ask('ZADD', 'z', 1, 'a', 2, 'b', 3, 'c')
    assert.deepEqual(ask('ZRANDMEMBER', 'z', 5, 'WITHSCORES'), bulk(['a', 1, 'b', 2, 'c', 3]))
    assert.equal(distinct(ask('ZRANDMEMBER', 'z', 2)), 2)
    assert.equal(distinct(ask('ZRANDMEMBER', 'z', -200)), 3)
  })
})
