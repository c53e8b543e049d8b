import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { codecOf } from '#src/codecs/codec-by-name.js'

const text = (data: string | Uint8Array): string => Buffer.from(data).toString()
const bytes = (data: string): Uint8Array => new TextEncoder().encode(data)

describe('the jackson codec', () => {
  const { encode, decode } = codecOf('jackson')

  /** What Java writes, as seen of the real one. */
  const BOTH_WAYS: readonly [value: unknown, json: string][] = [
    ['ä"\n', '"ä\\"\\n"'],
    [true, 'true'],
    [null, 'null'],
    [10, '10'],
    [-2_147_483_649, '-2147483649'],
    [1.5, '1.5'],
    [2n ** 62n, '["java.lang.Long",4611686018427387904]'],
    [2n ** 70n, '["java.math.BigInteger",1180591620717411303424]'],
    [new Date(5), '["java.util.Date",5]'],
    [
      [1, 'a', [2n ** 60n]],
      '["java.util.ArrayList",[1,"a",["java.util.ArrayList",[["java.lang.Long",1152921504606846976]]]]]',
    ],
    [['a.B', 'c'], '["java.util.ArrayList",["a.B","c"]]'],
    [
      { k: 1, l: { m: [] } },
      '{"@class":"java.util.HashMap","k":1,"l":{"@class":"java.util.HashMap","m":["java.util.ArrayList",[]]}}',
    ],
    [{ '@class': 'pkg.Order', id: 7 }, '{"@class":"pkg.Order","id":7}'],
  ]

  for (const [value, json] of BOTH_WAYS) {
    test(`${json} → both ways`, () => {
      assert.equal(text(encode(value)), json)
      assert.deepEqual(decode(bytes(json)), value)
    })
  }

  const FROM_JAVA: readonly [json: string, value: unknown][] = [
    ['["java.lang.Long",5]', 5],
    ['99999999999', 99_999_999_999],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['-9007199254740993', -9_007_199_254_740_993n],
    ['12345678901234567890', 12_345_678_901_234_567_890n],
    [
      '{"@class":"java.util.LinkedHashMap","12345678901234567890":"12345678901234567890"}',
      { '12345678901234567890': '12345678901234567890' },
    ],
    ['["java.math.BigDecimal",1.10]', 1.1],
    ['["java.util.Arrays$ArrayList",["a"]]', ['a']],
    ['["java.util.ImmutableCollections$ListN",[["java.lang.Long",1]]]', [1]],
    ['["java.util.concurrent.ConcurrentHashMap$KeySetView",["a"]]', ['a']],
    ['["java.util.HashSet",["a"]]', ['a']],
    ['["[Ljava.lang.Object;",[1,"a"]]', [1, 'a']],
    ['["java.util.UUID","0-0"]', '0-0'],
    ['["pkg.Color","RED"]', 'RED'],
    ['["one","two"]', ['one', 'two']],
    ['[1,2]', [1, 2]],
    ['{"@class":"java.util.concurrent.ConcurrentHashMap","a":["java.util.ArrayList",[1]]}', { a: [1] }],
    ['{"@class":"java.util.Collections$UnmodifiableMap","a":1}', { a: 1 }],
    [
      '{"@class":"pkg.Order","lines":["java.util.ArrayList",[{"@class":"pkg.Line","n":1}]]}',
      { '@class': 'pkg.Order', lines: [{ '@class': 'pkg.Line', n: 1 }] },
    ],
  ]

  for (const [json, value] of FROM_JAVA) {
    test(`${json} → plain data`, () => {
      assert.deepEqual(decode(bytes(json)), value)
    })
  }

  test('sets, maps, bytes, dates and what has a toJSON → as Java has them', () => {
    assert.equal(text(encode(new Set([1]))), '["java.util.HashSet",[1]]')
    assert.equal(text(encode(new Map([['a', 1]]))), '{"@class":"java.util.HashMap","a":1}')
    assert.equal(text(encode(Uint8Array.of(0, 255))), '"AP8="')
    assert.equal(text(encode({ toJSON: () => [1] })), '["java.util.ArrayList",[1]]')
    assert.equal(
      text(encode({ a: undefined, b: () => 1, c: [undefined] })),
      '{"@class":"java.util.HashMap","c":["java.util.ArrayList",[null]]}',
    )
  })

  test('what has no JSON, or contains itself → TypeError', () => {
    const round: unknown[] = []
    round.push({ round })
    for (const value of [undefined, NaN, Infinity, () => 1, Symbol('s'), round])
      assert.throws(() => encode(value), TypeError)
    const twice = [1]
    assert.equal(
      text(encode([twice, twice])),
      '["java.util.ArrayList",[["java.util.ArrayList",[1]],["java.util.ArrayList",[1]]]]',
    )
  })

  test('a field named __proto__ → a field like any other', () => {
    const read = decode(bytes('{"@class":"java.util.HashMap","__proto__":["java.lang.Long",1]}')) as object
    assert.deepEqual(Object.entries(read), [['__proto__', 1]])
    assert.equal(Object.getPrototypeOf(read), Object.prototype)
  })

  test('what is no JSON → an error', () => {
    for (const json of ['', '{', '[1,', 'x']) assert.throws(() => decode(bytes(json)))
  })
})

describe('the other codecs', () => {
  test('string → text and numbers as they are, bytes untouched; nothing else', () => {
    const { encode, decode } = codecOf('string')
    assert.deepEqual(['a', 1.5, 7n, true].map(encode), ['a', '1.5', '7', 'true'])
    const data = Uint8Array.of(255)
    assert.equal(encode(data), data)
    assert.equal(decode(bytes('ä')), 'ä')
    for (const value of [null, undefined, {}, [], () => 1]) assert.throws(() => encode(value), TypeError)
  })

  test('long → digits; a bigint where a number would be rounded', () => {
    const { encode, decode } = codecOf('long')
    assert.deepEqual([5, -5n, 2n ** 63n - 1n].map(encode), ['5', '-5', '9223372036854775807'])
    assert.deepEqual(
      ['-7', '9007199254740991', '9007199254740992'].map((data) => decode(bytes(data))),
      [-7, Number.MAX_SAFE_INTEGER, 2n ** 53n],
    )
    for (const value of [1.5, 2 ** 53, 2n ** 63n, '5', null]) assert.throws(() => encode(value), TypeError)
    for (const data of ['', '1.5', 'a', '1e3']) assert.throws(() => decode(bytes(data)), TypeError)
  })

  test('bytes → as they are, in memory of their own', () => {
    const { encode, decode } = codecOf('bytes')
    const data = Buffer.from([1, 2, 3])
    assert.equal(encode(data), data)
    const read = decode(data) as Uint8Array
    data[0] = 9
    assert.deepEqual(read, Uint8Array.of(1, 2, 3))
    assert.throws(() => encode('text'), TypeError)
  })

  test('json → plain JSON', () => {
    const { encode, decode } = codecOf('json')
    assert.equal(encode({ a: [1, null] }), '{"a":[1,null]}')
    assert.deepEqual(decode(bytes('{"a":[1,null]}')), { a: [1, null] })
    assert.throws(() => encode(undefined), TypeError)
    assert.throws(() => encode(1n), TypeError)
  })

  test('no codec → TypeError that names them', () => {
    for (const wanted of ['xml', 'toString', 7, null, {}, { encode: () => '' }])
      assert.throws(() => codecOf(wanted), /codec must be 'json'/)
  })
})
