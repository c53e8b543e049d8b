import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { durationOf } from '#src/cli/run/duration.js'
import { kindOf } from '#src/cli/run/kind-option.js'
import { asksForHelp } from '#src/cli/help.js'
import { readOptions } from '#src/cli/run/run-options.js'
import { UsageError } from '#src/cli/usage-error.js'

const ENV = { HOLDFAST_URL: 'redis://h:1' }
const wrong = (args: string, said: RegExp, env: Record<string, string> = ENV): void => {
  assert.throws(
    () => readOptions(args.split(' '), env),
    (error) => error instanceof UsageError && said.test(error.message),
    args,
  )
}

void describe('holdfast run: its command line', () => {
  for (const [text, ms] of [
    ['0', 0],
    ['500ms', 500],
    ['10s', 10_000],
    ['1.5s', 1500],
    ['2m', 120_000],
    ['1h', 3_600_000],
    ['1d', 86_400_000],
  ] as const)
    test(`duration ${text} → ${ms} ms`, () => assert.equal(durationOf(text, '--wait'), ms))

  for (const text of ['', '10', 's', '-1s', '1e3s', '10 s', '10S', '400d', 'Infinity'])
    test(`duration ${JSON.stringify(text)} → refused`, () => {
      assert.throws(() => durationOf(text, '--wait'), UsageError)
    })

  test('a number without a unit → what to write', () => {
    assert.throws(() => durationOf('10', '--wait'), /--wait must be a duration such as .* so write 10s for seconds/)
  })

  test('kinds', () => {
    for (const kind of ['lock', 'fair', 'read', 'write', 'fenced', 'multi']) assert.deepEqual(kindOf(kind), { kind })
    assert.deepEqual(kindOf('semaphore:3'), { kind: 'semaphore', permits: 3 })
    assert.deepEqual(kindOf('keyed:a,b:c'), { kind: 'keyed', keys: ['a', 'b:c'] })
    for (const text of [
      '',
      'Lock',
      'semaphore',
      'semaphore:0',
      'semaphore:x',
      'semaphore:1e9',
      'keyed',
      'keyed:',
      'keyed:a,,b',
    ])
      assert.throws(() => kindOf(text), UsageError, text)
  })

  test('everything behind -- is the command’s', () => {
    const { names, command, wait, conflict, onLost, client, grace } = readOptions(
      ['n', '-w', '2s', '-E', '0', '--lease', '10s', '--label', 'me', '--', 'cmd', '-n', '--', '--help'],
      ENV,
    )
    assert.deepEqual(
      { names, command, wait, conflict, onLost, client, grace },
      {
        names: ['n'],
        command: ['cmd', '-n', '--', '--help'],
        wait: 2000,
        conflict: 0,
        onLost: 'term',
        client: { label: 'me', watchdog: 10_000 },
        grace: undefined,
      },
    )
    assert.equal(readOptions(['n', '--', 'c'], ENV).wait, undefined)
    assert.equal(readOptions(['-n', 'n', '--', 'c'], ENV).wait, 0)
    assert.equal(readOptions(['n', '--', 'c'], ENV).conflict, 75)
  })

  test('--help in front of the --, and only there', () => {
    assert.ok(asksForHelp(['x', '-h']))
    assert.ok(!asksForHelp(['x', '--', 'cmd', '--help']))
  })

  test('what is wrong → a UsageError that says so', () => {
    wrong('-- cmd', /the name of the lock is missing/)
    wrong('n', /the command is missing/)
    wrong('n --', /the command is missing/)
    wrong('n cmd', /only --kind multi takes more than one name.*write -- before the command/)
    wrong('n -- -x', /must not begin with "-"/)
    wrong('n -n -w 1s -- c', /exclude each other/)
    wrong('n --url redis://h --config f -- c', /exclude each other/)
    wrong('n --url memory: -- c', /must name a server/)
    wrong('n -- c', /must name a server/, { HOLDFAST_URL: 'memory:' })
    wrong('n --lease 999ms -- c', /at least 1s/)
    wrong('n --on-lost x -- c', /term, kill or ignore/)
    wrong('n -E 256 -- c', /from 0 to 255/)
    wrong('n -E -1 -- c', /-E/)
    wrong('n --ticket --kind multi -- c', /has no tickets/)
    wrong('n --bogus -- c', /--bogus/)
    wrong('n --label= -- c', /--label must not be empty/)
  })

  test('several names → only for a multi-lock', () => {
    assert.deepEqual(readOptions(['--kind', 'multi', 'a', 'b', '--', 'c'], ENV).names, ['a', 'b'])
  })
})
