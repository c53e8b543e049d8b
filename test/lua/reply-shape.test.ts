import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  digits,
  either,
  integer,
  just,
  list,
  many,
  nil,
  oneFor,
  pairs,
  type Shape,
  text,
  tuple,
} from '#src/lua/reply-shape.js'

const ALL: readonly unknown[] = [
  ...[null, undefined, true, NaN, 1.5, 0, -2, 2 ** 53, 7n, '', '7', '-7', 'NaN', 'QUEUED', Buffer.from('7')],
  ...[[], [1], ['1'], [1, 2], ['a', '1'], ['a', '1', 'b'], [[1]], { a: 1 }, new Map(), new Error('ERR'), [null]],
]

void describe('a reply is what its script declares, or it is refused', () => {
  const cases: readonly (readonly [string, Shape<unknown>, accepted: readonly unknown[]])[] = [
    ['integer', integer, [0, -2]],
    ['text', text, ['', '7', '-7', 'NaN', 'QUEUED']],
    ['digits', digits, ['7']],
    ['nil', nil, [null]],
    ['just', just(0), [0]],
    ['either', either(nil, integer), [null, 0, -2]],
    ['pairs', pairs, [[], ['a', '1']]],
    ['many', many(integer), [[], [1], [1, 2]]],
    ['tuple', tuple(integer), [[1]]],
    ['tuple of two', tuple(text, digits), [['a', '1']]],
    ['list', list, ALL.filter((one) => Array.isArray(one))],
  ]
  for (const [name, fits, accepted] of cases) {
    test(name, () => {
      assert.deepEqual(
        ALL.filter((reply) => fits(reply, [])),
        accepted,
      )
    })
  }

  test('one for each of the arguments that it is about, whatever stands before them', () => {
    const sent = ['EVALSHA', 'sha', 2, 'key', 'key', 'lease', 'a', '1', 'b', '2']
    const each = oneFor(integer, 2, 2)
    assert.ok(each([1, 2], sent))
    for (const reply of [[], [1], [1, 2, 3], ['1', '2'], [1, null], null, 2]) assert.ok(!each(reply, sent))
  })
})
