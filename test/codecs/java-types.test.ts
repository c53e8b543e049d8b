import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { JavaValue } from 'holdfast'
import { codecOf } from '#src/codecs/codec-by-name.js'

const { encode, decode } = codecOf('jackson')
const text = (data: string | Uint8Array): string => (typeof data === 'string' ? data : Buffer.from(data).toString())
const echo = (json: string): string => text(encode(decode(Buffer.from(json))))

void describe('jackson: what Java wrote and is written again', () => {
  for (const field of [
    '["java.lang.Long",5]',
    '["java.lang.Long",9007199254740993]',
    '9007199254740993',
    '5',
    '1.5',
    '["java.lang.Short",5]',
    '["java.lang.Float",1.5]',
    '["java.math.BigDecimal",1.10]',
    '["java.math.BigDecimal",1E+3]',
    '["java.math.BigDecimal",123456789.12345678901234567890]',
    '["java.math.BigInteger",12345678901234567890123]',
    '["java.util.concurrent.atomic.AtomicLong",7]',
    '["java.util.concurrent.atomic.AtomicBoolean",true]',
    '["java.util.UUID","00000000-0000-0001-0000-000000000002"]',
    '"00000000-0000-0001-0000-000000000002"',
    '["pkg.Color","RED"]',
    '["java.util.HashSet",["a"]]',
    '["java.util.TreeSet",["a","b"]]',
    '["java.util.ArrayDeque",[1]]',
    '["java.util.Arrays$ArrayList",["a"]]',
    '["java.util.ArrayList",[["java.lang.Long",1],["java.lang.Long",2]]]',
    '["[J",[1,9007199254740993]]',
    '["[I",[1,2]]',
    '["[Ljava.lang.String;",["a","b"]]',
    '["[Ljava.lang.Long;",[["java.lang.Long",1]]]',
    '[1,2]',
    '[1,9007199254740993]',
    '["a","b"]',
    '["pkg.Looks","like a class"]',
    '[[1,2],[3]]',
    '["pkg.Looks",{"x":1},3]',
    '[[1,2],[3,[4]],{"x":[5]}]',
    '["java.util.ArrayList",[["java.util.TreeSet",[1]]]]',
    '{"@class":"java.util.TreeMap","a":1}',
    '{"@class":"java.util.HashMap","a":["java.lang.Long",1]}',
    '{"@class":"java.util.LinkedHashMap","a":{"@class":"java.util.TreeMap"}}',
    '{"x":1}',
    '["java.util.Date",5]',
    'null',
    '"AP8="',
  ]) {
    void test(`a field ${field} → the same`, () => {
      const json = `{"@class":"pkg.Order","f":${field},"g":true}`
      assert.equal(echo(json), json)
      if (field !== '["pkg.Looks","like a class"]')
        assert.equal(echo(`["java.util.ArrayList",[${field},0]]`), `["java.util.ArrayList",[${field},0]]`)
    })
  }

  void test('a field that is changed → keeps its class, as long as it can', () => {
    const read = (json: string): Record<string, unknown> => decode(Buffer.from(json)) as Record<string, unknown>
    const order = read(
      '{"@class":"pkg.Order","long":["java.lang.Long",5],"big":["java.math.BigDecimal",1.10],"id":["java.util.UUID","a"],"plain":1,"raw":9007199254740993}',
    )
    Object.assign(order, { long: 6, big: 2.5, id: 'b', plain: 2, raw: 9_007_199_254_740_995n })
    assert.equal(
      text(encode(order)),
      '{"@class":"pkg.Order","long":["java.lang.Long",6],"big":["java.math.BigDecimal",2.5],"id":["java.util.UUID","b"],"plain":2,"raw":9007199254740995}',
    )
    Object.assign(order, { long: 'text', big: null, id: 7, raw: [1] })
    assert.equal(
      text(encode(order)),
      '{"@class":"pkg.Order","long":"text","big":null,"id":7,"plain":2,"raw":["java.util.ArrayList",[1]]}',
    )
    const half = read('{"@class":"pkg.Order","long":["java.lang.Long",5]}')
    half['long'] = 5.5
    assert.equal(text(encode(half)), '{"@class":"pkg.Order","long":5.5}')
  })

  void test('a copy → as any object of JavaScript', () => {
    const map = decode(Buffer.from('{"@class":"java.util.TreeMap","a":["java.lang.Long",5]}')) as object
    assert.equal(text(encode({ ...map })), '{"@class":"java.util.HashMap","a":5}')
  })

  void test('what a number cannot hold → a JavaValue with its digits, a bigint where it is whole', () => {
    const read = decode(
      Buffer.from(
        '["java.util.ArrayList",[["java.math.BigDecimal",0.10000000000000000001],["java.math.BigDecimal",0.5],12345678901234567890]]',
      ),
    )
    assert.deepEqual(read, [
      new JavaValue('java.math.BigDecimal', '0.10000000000000000001'),
      0.5,
      12_345_678_901_234_567_890n,
    ])
  })
})

void describe('jackson: values with a class of one’s own choice', () => {
  for (const [value, json] of [
    [new JavaValue('java.util.UUID', 'a'), '["java.util.UUID","a"]'],
    [new JavaValue('java.math.BigDecimal', '1.10'), '["java.math.BigDecimal",1.10]'],
    [new JavaValue('java.math.BigDecimal', 1.5), '["java.math.BigDecimal",1.5]'],
    [new JavaValue('java.math.BigInteger', 5n), '["java.math.BigInteger",5]'],
    [new JavaValue('java.lang.Long', 5), '["java.lang.Long",5]'],
    [new JavaValue('[J', [1, 2n]), '["[J",[1,2]]'],
    [new JavaValue('[Ljava.lang.String;', ['a']), '["[Ljava.lang.String;",["a"]]'],
    [new JavaValue('java.util.TreeSet', new Set(['a'])), '["java.util.TreeSet",["a"]]'],
    [new JavaValue('java.util.TreeMap', { a: 1 }), '{"@class":"java.util.TreeMap","a":1}'],
    [new JavaValue('java.util.TreeMap', new Map([['a', 1]])), '{"@class":"java.util.TreeMap","a":1}'],
    [new JavaValue(null, [1, 2n]), '[1,2]'],
    [new JavaValue(null, 5n), '5'],
    [new JavaValue(null, { a: 1 }), '{"a":1}'],
  ] as const) {
    void test(json, () => {
      assert.equal(text(encode(value)), json)
      assert.equal(text(encode({ '@class': 'pkg.A', f: value })), `{"@class":"pkg.A","f":${json}}`)
    })
  }

  void test('no name of a class → TypeError', () => {
    for (const type of ['', 'a"b', 'a b', 7, undefined]) assert.throws(() => new JavaValue(type as never, 1), TypeError)
  })

  void test('gaps in a list → null, as in JSON; an invalid date → TypeError', () => {
    const sparse: unknown[] = [1]
    sparse[2] = 3
    assert.equal(text(encode(sparse)), '["java.util.ArrayList",[1,null,3]]')
    assert.equal(text(codecOf('json').encode(sparse)), '[1,null,3]')
    assert.throws(() => encode(new Date(NaN)), TypeError)
  })
})
