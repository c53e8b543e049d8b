import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { failuresOf } from '../../scripts/failures.mjs'

const story = (lines: number): string => Array.from({ length: lines }, (_, n) => `      line ${n}`).join('\n')

/** As `scripts/test.mjs` prints them. */
const failing = (title: string): string => `  ✘ ${title}\n      AssertionError: 1 is not 2\n${story(20)}`

const SOME = `
── eslint

core/hold.ts
  3:1  error  no such thing
✘ eslint: eslint is not content
   eslint: FAILED, 3.0 s

── tests
✔ lock.test.ts: 9 passed, 1.0 s
${failing('gate.test.ts: a › b')}
✘ gate.test.ts: 3 passed, 1 failed, 1.2 s
✔ line.test.ts: 3 passed, 1.2 s
✘ gate.test.ts: a › b
   tests: FAILED, 5.0 s
`

describe('what failed in the output of a part of CI', () => {
  test('a test and a tool → each once, with the beginning of what was told', () => {
    assert.deepEqual(failuresOf(SOME), [
      '✘ eslint: eslint is not content',
      '    core/hold.ts',
      '    3:1  error  no such thing',
      '✘ gate.test.ts: a › b',
      '    AssertionError: 1 is not 2',
      ...Array.from({ length: 5 }, (_, n) => `    line ${n}`),
    ])
  })

  test('a message with an empty line in it → what comes after it, too', () => {
    const log = '  ✘ gate.test.ts: a\n      Expected values to be strictly equal:\n      \n      130 !== 7\n\n'
    assert.deepEqual(failuresOf(log), [
      '✘ gate.test.ts: a',
      '    Expected values to be strictly equal:',
      '    130 !== 7',
    ])
  })

  test('violations of the simulator and of the soak → their lines, and nothing of the traces around them', () => {
    const log = `
Seed 7; 3 of its steps and faults are enough:
  1 ms  ! VIOLATION
✘ seed 7: exclusion: two are in
✘ seed 7: history: trust of 'a', at 3 ms
  1  granted
Again: npm run simulate -- --seed 7 --trace

✘ 2 pairs never happened: a × b; c × d
9 histories, 1 violations`
    assert.deepEqual(failuresOf(log).slice(0, 3), [
      '✘ seed 7: exclusion: two are in',
      "✘ seed 7: history: trust of 'a', at 3 ms",
      '    1  granted',
    ])
    assert.ok(failuresOf(log).includes('✘ 2 pairs never happened: a × b; c × d'))
  })

  test('many → fewer lines of each, and how many are left out', () => {
    const some = failuresOf(Array.from({ length: 15 }, (_, n) => failing(`test ${n}`)).join('\n'))
    assert.deepEqual([some.length, some.filter((line) => line.startsWith('✘')).length], [30, 15])
    const many = failuresOf(Array.from({ length: 60 }, (_, n) => failing(`test ${n}`)).join('\n'))
    assert.equal(many.filter((line) => line.startsWith('✘')).length, 40)
    assert.equal(many.at(-1), '… 20 more')
  })

  test('none is named → the end of the log', () => {
    assert.deepEqual(failuresOf(story(30)), story(30).split('\n').slice(-15))
  })
})
