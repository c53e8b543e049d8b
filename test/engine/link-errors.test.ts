import assert from 'node:assert/strict'
import { test } from 'node:test'
import { badReply, shown } from '#src/engine/link-errors.js'

const SECRET = 'a customer’s data'

void test('a reply of the wrong kind → its kind and length, and nothing of a value', () => {
  const replies: [unknown, string][] = [
    [SECRET, `a text of ${SECRET.length} characters`],
    [Buffer.from(SECRET), `${Buffer.byteLength(SECRET)} bytes`],
    [
      [SECRET, 5, [SECRET], Buffer.from('x'), SECRET],
      'a list of 5, [a text of 17 characters, 5, a list of 1, 1 bytes, …]',
    ],
    [{ [SECRET]: SECRET }, 'a map'],
    [new Map([[SECRET, SECRET]]), 'a map'],
    ['OK', '"OK"'],
    ['', '""'],
    ['QUEUED', '"QUEUED"'],
    [null, 'null'],
    [-3, '-3'],
    [12n, '12'],
    [true, 'true'],
  ]
  for (const [reply, words] of replies) {
    assert.equal(shown(reply), words)
    const { message } = badReply('127.0.0.1:6379', 'lock/acquire', reply)
    assert.ok(message.includes(words) && !message.includes('customer'), message)
  }
})
