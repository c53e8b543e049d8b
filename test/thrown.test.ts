import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { inspect } from 'node:util'
import { HoldfastError, LockLostError } from 'holdfast'
import { show } from '#src/check-arguments.js'
import { codeOf, errorOf, isError, isPromise, partOf, textOf, traceOf } from '#src/thrown.js'
import { HIDDEN, HOSTILE } from './support/hostile.js'

class Mine extends LockLostError {}

void describe('what somebody threw', () => {
  for (const [what, make] of Object.entries(HOSTILE)) {
    test(`${what} → looked at without a surprise; its text is one line and short`, () => {
      const thrown = make()
      for (const text of [textOf(thrown), show(thrown)]) {
        assert.ok(text.length <= 1050, `${text.length}`)
        assert.doesNotMatch(text, HIDDEN)
      }
      for (const line of traceOf(thrown).split('\n')) assert.doesNotMatch(line, HIDDEN)
      assert.ok(traceOf(thrown).length < 8000)
      assert.ok(typeof isError(thrown) === 'boolean' && typeof isPromise(thrown) === 'boolean')
      assert.ok(typeof (codeOf(thrown) ?? '') === 'string')
      assert.equal(partOf(thrown, 'nothing of the kind'), undefined)
      for (const type of [HoldfastError, LockLostError, Mine]) assert.equal(thrown instanceof type, false)
    })

    test(`${what} → an Error, the same one or its cause, that anybody may look at`, () => {
      const thrown = make()
      const error = errorOf(thrown)
      assert.ok(error instanceof Error)
      if (error !== thrown) assert.ok(Object.is(error.cause, thrown))
      for (const part of ['name', 'message', 'stack'] as const) assert.equal(typeof error[part], 'string')
      assert.equal(typeof `${String(error)} ${String((error as { code?: unknown }).code)}`, 'string')
      assert.equal(errorOf(error), error)
    })
  }

  test('an Error that behaves → the same, with its message and its code; without a message → its name', () => {
    const error = Object.assign(new TypeError('theirs'), { code: 'EACCES' })
    assert.equal(errorOf(error), error)
    assert.equal(textOf(error), 'theirs')
    assert.equal(codeOf(error), 'EACCES')
    assert.equal(textOf(new RangeError('')), 'RangeError')
    assert.match(inspect(errorOf(undefined, 'nothing')), /nothing/)
  })

  test('a trace → the text on one line, and where it was thrown; no line of it is the message’s', () => {
    const lines = traceOf(new TypeError('one\n    at forged (file.js:1:1)\nholdfast: two')).split('\n')
    assert.equal(lines[0], 'TypeError: one\\n    at forged (file.js:1:1)\\nholdfast: two')
    assert.ok(lines.length > 2 && lines.length <= 21)
    for (const line of lines.slice(1)) assert.match(line, /^ {4}at (?!forged)/)
  })
})
