import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MAX_SAFE_INTEGER } from '#src/script-times-and-limits.js'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { semaphoreDrain } from '#src/lua/scripts.gen.js'

/** What a script that asked before answers with: the number under its note, 0 where that is none. */
const read = (text: string): unknown => {
  const server = new MemoryServer(systemClock)
  server.execute(['SET', 'note', text])
  const number = server.execute(['EVAL', semaphoreDrain.text, '2', 'permits', 'note'])
  server.close()
  return number
}

void describe('a whole number that somebody wrote', () => {
  for (const number of [1, 999_999_999_999_999, 10 ** 15, 2 ** 52, MAX_SAFE_INTEGER]) {
    test(`${number} and ${-number} are read as they are`, () => {
      assert.equal(read(`${number}`), number)
      assert.equal(read(`${-number}`), -number)
    })
  }

  const none = [
    `${MAX_SAFE_INTEGER + 1}`,
    `${-MAX_SAFE_INTEGER - 1}`,
    `${2 ** 53}`,
    `${-(2 ** 53)}`,
    '9007199254740993',
    '9223372036854775807',
    '1'.repeat(400),
    '1e3',
    '0x1F',
  ]
  for (const text of [...none, '1.0', 'nan', 'inf', '-', '', ' 1', '1\n', '+1']) {
    test(`${JSON.stringify(text.slice(0, 20))} is none`, () => {
      assert.equal(read(text), 0)
    })
  }
})
