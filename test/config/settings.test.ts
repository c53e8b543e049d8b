import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { settle } from '#src/config/settings.js'
import { read } from './files.js'

describe('TLS verification is what the file says', () => {
  const ALL = 'all'
  const NOT_THE_NAME = 'not the name'
  const NOTHING = 'nothing'
  /** sslVerificationMode goes before sslEnableEndpointIdentification, whichever stands first. */
  const EXPECTED: readonly (readonly [mode: string | undefined, old: boolean | undefined, expected: string])[] = [
    [undefined, undefined, ALL],
    [undefined, true, ALL],
    [undefined, false, NOTHING],
    ['STRICT', undefined, ALL],
    ['STRICT', true, ALL],
    ['STRICT', false, ALL],
    ['CA_ONLY', undefined, NOT_THE_NAME],
    ['CA_ONLY', true, NOT_THE_NAME],
    ['CA_ONLY', false, NOT_THE_NAME],
    ['NONE', undefined, NOTHING],
    ['NONE', true, NOTHING],
    ['NONE', false, NOTHING],
  ]
  for (const [mode, old, expected] of EXPECTED) {
    test(`sslVerificationMode ${mode ?? 'left out'}, sslEnableEndpointIdentification ${old ?? 'left out'}`, async () => {
      const before = mode === undefined ? '' : `sslVerificationMode: ${mode}\n`
      const section = `singleServerConfig:\n  address: rediss://h:1\n`
      const inside = old === undefined ? '' : `  sslEnableEndpointIdentification: ${old}\n`
      for (const text of [before + section + inside, section + inside + before]) {
        const { tls } = await read(text)
        const checked = tls.rejectUnauthorized === false ? NOTHING : tls.checkServerIdentity ? NOT_THE_NAME : ALL
        assert.equal(checked, expected)
      }
    })
  }
})

describe('how long replicas are waited for', () => {
  for (const [commandTimeout, expected] of [
    [undefined, 1000],
    [10_000, 1000],
    [2000, 1000],
    [1999, 1000],
    [1000, 500],
    [101, 51],
    [2, 1],
  ] as const) {
    test(`commandTimeout ${commandTimeout ?? 'left out'}: ${expected} ms, within the time for an answer`, () => {
      const { replicas, commandTimeout: limit } = settle({ url: 'redis://h:1', commandTimeout }, {})
      assert.deepEqual(replicas, { sync: true, timeout: expected })
      assert.ok(replicas.timeout < limit)
    })
  }

  test('what is said is taken, below commandTimeout only', () => {
    const of = (timeout: number, commandTimeout: number) =>
      settle({ url: 'redis://h:1', commandTimeout, replicas: { timeout } }, {}).replicas.timeout
    assert.equal(of(999, 1000), 999)
    for (const timeout of [1000, 1001]) assert.throws(() => of(timeout, 1000), /must be below commandTimeout \(1000\)/)
  })

  test('commandTimeout of a file counts, too', async () => {
    const filed = await read('singleServerConfig:\n  address: redis://h:1\n  timeout: 600\n')
    assert.equal(settle(filed.options, {}, filed).replicas.timeout, 300)
  })
})

describe('options that there are not', () => {
  for (const name of ['watchdgo', 'Watchdog', 'password', '0'])
    test(`'${name}' → TypeError that names it`, () => {
      assert.throws(() => settle({ url: 'redis://h:1', [name]: 1 }, {}), {
        name: 'TypeError',
        message: new RegExp(`^there is no option '${name}'.*; the options are url, `),
      })
    })
})

describe('the longest time that an option may be', () => {
  const most = 2 ** 31 - 1
  for (const option of ['fairWaiterTimeout', 'connectTimeout', 'commandTimeout'] as const) {
    test(`${option}: ${most} ms; more is a RangeError that names it and the bound`, () => {
      assert.equal(settle({ url: 'memory:', [option]: most }, {})[option], most)
      for (const ms of [most + 1, 2 ** 52]) {
        const error = new RegExp(`^RangeError: ${option} must be at most ${most} milliseconds`)
        assert.throws(
          () => settle({ url: 'memory:', [option]: ms }, {}),
          (thrown) => error.test(String(thrown)),
        )
      }
    })
  }

  test('replicas.timeout: the same', () => {
    const of = (timeout: number) => settle({ url: 'memory:', commandTimeout: most, replicas: { timeout } }, {})
    assert.equal(of(most - 1).replicas.timeout, most - 1)
    assert.throws(() => of(2 ** 52), /replicas\.timeout must be at most 2147483647 milliseconds/)
  })

  test('watchdog: as long as any lease, 2 ** 52 ms', () => {
    assert.equal(settle({ url: 'memory:', watchdog: 2 ** 52 }, {}).watchdog, 2 ** 52)
    assert.throws(
      () => settle({ url: 'memory:', watchdog: 2 ** 52 + 1 }, {}),
      /watchdog must be at most 4503599627370496 /,
    )
  })
})
