import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, JavaValue } from 'holdfast'
import { arena } from './support/arena.js'
import { NEWEST } from './support/redisson.js'

/** A class of the driver's. */
const FIELDS = 'holdfast.interop.Sample$Fields'

void describe(`values of Java's classes, by JsonJacksonCodec of Redisson ${NEWEST}`, () => {
  const enter = arena(NEWEST)
  const get = "return redis.call('GET', KEYS[1])"
  const set = "return redis.call('SET', KEYS[1], ARGV[1])"

  void test(
    'a field of each type is read and written again here → Java has it as it was',
    { timeout: 60_000 },
    async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const java = await here.java.another({ url: here.url, codec: 'json' })
      const client = await connect({ url: here.url, codec: 'jackson', presence: false })
      try {
        const names = await java.request<string[]>({ op: 'sample', name: 'echo', way: 'write' })
        assert.ok(names.length > 40)
        const [read, write] = [client.script(get, { codec: 'jackson' }), client.script(set, { codec: 'jackson' })]
        for (const name of names) {
          const keys = [`echo:${name}`]
          const value = await read.run({ keys })
          assert.equal((value as Record<string, unknown>)['@class'], FIELDS)
          await write.run({ keys, args: [value], returns: 'status' })
        }
        const outcome = await java.request<Record<string, string>>({ op: 'sample', name: 'echo', way: 'read' })
        assert.deepEqual(outcome, Object.fromEntries(names.map((name) => [name, 'same'])))
      } finally {
        await client.close()
        await java.shutdown()
        await here.redis.flushall()
      }
    },
  )

  void test('values written here with a class of their own → what Java has', { timeout: 60_000 }, async (t) => {
    const here = enter(t)
    if (here === undefined) return
    const java = await here.java.another({ url: here.url, codec: 'json' })
    const client = await connect({ url: here.url, codec: 'jackson', presence: false })
    const id = '00000000-0000-0001-0000-000000000002'
    const values: Record<string, unknown> = {
      text: 'ä "text"',
      wide: new JavaValue(null, 7n),
      wider: new JavaValue(null, 9_007_199_254_740_993n),
      boxedWide: 7n,
      decimal: new JavaValue('java.math.BigDecimal', '1.10'),
      longDecimal: new JavaValue('java.math.BigDecimal', '123456789.12345678901234567890'),
      bigger: 123_456_789_012_345_678_901_234_567_890n,
      atomicLong: new JavaValue('java.util.concurrent.atomic.AtomicLong', 7),
      id: new JavaValue('java.util.UUID', id),
      bytes: Uint8Array.of(0, 255),
      ints: new JavaValue(null, [1, 2]),
      longs: new JavaValue(null, [1n, 9_007_199_254_740_993n]),
      texts: new JavaValue(null, ['a', 'b']),
      listOfLongs: [1n, 2n],
      set: new Set(['a']),
      sorted: new JavaValue('java.util.TreeSet', ['a', 'b']),
      deque: new JavaValue('java.util.ArrayDeque', [1, 2]),
      mapOfLongs: { a: 1n },
      tree: new JavaValue('java.util.TreeMap', { a: 1n, b: 'text' }),
      anyUuid: new JavaValue('java.util.UUID', id),
      anyDecimal: new JavaValue('java.math.BigDecimal', '1.10'),
      anyInts: new JavaValue('[I', [1, 2]),
      anyLong: 7n,
    }
    try {
      const write = client.script(set, { codec: 'jackson' })
      for (const [name, value] of Object.entries(values))
        await write.run({ keys: [`own:${name}`], args: [{ '@class': FIELDS, [name]: value }], returns: 'status' })
      const outcome = await java.request<Record<string, string>>({ op: 'sample', name: 'own', way: 'read' })
      const asked = Object.fromEntries(Object.keys(values).map((name) => [name, outcome[name]]))
      assert.deepEqual(asked, Object.fromEntries(Object.keys(values).map((name) => [name, 'same'])))
    } finally {
      await client.close()
      await java.shutdown()
      await here.redis.flushall()
    }
  })
})
