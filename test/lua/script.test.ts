import assert from 'node:assert/strict'
import { test } from 'node:test'
import { script, type ArgsOf, type KeysOf, type ReplyOf, type Script } from '#src/lua/script.js'
import { either, integer, many as manyOf, nil, text } from '#src/lua/reply-shape.js'

const acquire: Script<readonly [lock: string], readonly [owner: string, lease: number], null | number> = script(
  'lock/acquire',
  'sha',
  'return nil',
  1,
  either(nil, integer),
)
const many: Script<readonly [...locks: string[]], readonly [], readonly string[]> = script(
  'lock/many',
  'sha',
  '',
  0,
  manyOf(text),
)

const run = <S extends Script>(what: S, keys: KeysOf<S>, args: ArgsOf<S>): ReplyOf<S> | [string, number] => [
  what.name,
  keys.length + args.length,
]

test('a script is a plain value', () => {
  const { fits, ...rest } = acquire
  assert.deepEqual(rest, { name: 'lock/acquire', sha: 'sha', text: 'return nil', keys: 1 })
  assert.ok(fits(1, []))
})

test('its keys, arguments and reply are checked by the compiler', () => {
  const reply: null | number | [string, number] = run(acquire, ['a'], ['me', 30])
  assert.deepEqual(reply, ['lock/acquire', 3])
  assert.deepEqual(run(many, ['a', 'b', 'c'], []), ['lock/many', 3])
  // @ts-expect-error a key is missing
  run(acquire, [], ['me', 30])
  // @ts-expect-error a key too many
  run(acquire, ['a', 'b'], ['me', 30])
  // @ts-expect-error an argument is missing
  run(acquire, ['a'], ['me'])
  // @ts-expect-error a number is due
  run(acquire, ['a'], ['me', '30'])
  // @ts-expect-error the reply is no text
  const words: string = run(acquire, ['a'], ['me', 30])
  assert.ok(words)
})
