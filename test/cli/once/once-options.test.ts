import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readOptions } from '#src/cli/once/once-options.js'
import { slottedOf } from '#src/cli/once/slot-name.js'
import { UsageError } from '#src/cli/usage-error.js'

const ENV = { HOLDFAST_URL: 'redis://h:1' }
const DAY = 86_400_000
const read = (...args: string[]): ReturnType<typeof readOptions> => readOptions([...args, '--', 'cmd'], ENV)
const wrong = (said: RegExp, ...args: string[]): void =>
  assert.throws(
    () => read(...args),
    (error) => error instanceof UsageError && said.test(error.message),
    args.join(' '),
  )

/** The slot at this time, of the server's clock. */
const at = (wanted: Parameters<typeof slottedOf>[0], time: string): string =>
  slottedOf(wanted).slotAt(Date.parse(`${time}Z`))

void describe('holdfast once: its command line', () => {
  test('what is omitted', () => {
    const { name, slotAt, retry, retention, skipped, quiet, grace, onLost, client, command } = read('n', '--slot', 's')
    assert.deepEqual([name, slotAt(0), retry, retention, skipped, quiet], ['n', 's', 0, 7 * DAY, 0, false])
    assert.deepEqual([grace, onLost, client, command], [undefined, 'term', {}, ['cmd']])
  })

  test('what is given', () => {
    const more = ['--retry', '3', '--retention', '400m', '-E', '9', '-q', '--lease', '5s', '--label', 'me']
    const { retry, retention, skipped, quiet, client } = read('n', '--every', '5m', ...more)
    assert.deepEqual([retry, retention, skipped, quiet], [3, 24_000_000, 9, true])
    assert.deepEqual(client, { label: 'me', watchdog: 5000 })
  })

  test('what is wrong → says what', () => {
    wrong(/the name of the slots is missing/, '--slot', 's')
    wrong(/takes one name, not also "m"/, 'n', 'm', '--slot', 's')
    wrong(/the slot is missing/, 'n')
    wrong(/the slot is missing/, 'n', '--slot', '')
    wrong(/exclude each other/, 'n', '--slot', 's', '--every', '5m')
    for (const every of ['0', '30s', '90s', '100ms']) wrong(/--every must be whole minutes/, 'n', '--every', every)
    wrong(/--every must be a duration/, 'n', '--every', '5')
    wrong(/--timezone is for --slot day only/, 'n', '--slot', 'hour', '--timezone', 'UTC')
    wrong(/--slot day needs --timezone/, 'n', '--slot', 'day')
    for (const slot of ['daily', 'Day', 'days', '1d', '5m', 'weekly', 'night'])
      wrong(/would be the same slot for ever/, 'n', '--slot', slot)
    wrong(/--timezone must be a time zone .* not "Mars\/One"/, 'n', '--slot', 'day', '--timezone', 'Mars/One')
    for (const retry of ['-1', '1.5', '1001', '', 'x']) wrong(/--retry/, 'n', '--slot', 's', `--retry=${retry}`)
    wrong(/--retention must be longer than the slot/, 'n', '--every', '2h', '--retention', '2h')
    wrong(/--retention must be longer than the slot/, 'n', '--every', '7d')
    wrong(/--retention must be longer than the slot/, 'n', '--slot', 's', '--retention', '0')
    wrong(/-E must be an exit code/, 'n', '--slot', 's', '-E', '256')
    wrong(/--lease must be at least 1s/, 'n', '--slot', 's', '--lease', '10ms')
    wrong(/Unknown option '--kind'/, 'n', '--slot', 's', '--kind', 'fair')
    assert.throws(() => readOptions(['n', '--slot', 's'], ENV), /the command is missing/)
  })
})

void describe('holdfast once: the names of slots', () => {
  for (const [wanted, time, name] of [
    [{ slot: 'minute' }, '2026-11-27T02:05:00', '2026-11-27T02:05Z'],
    [{ slot: 'minute' }, '2026-11-27T02:05:29.999', '2026-11-27T02:05Z'],
    [{ slot: 'minute' }, '2026-11-27T02:04:30', '2026-11-27T02:05Z'],
    [{ slot: 'minute' }, '2026-11-27T02:04:29.999', '2026-11-27T02:04Z'],
    [{ slot: 'hour' }, '2026-11-27T01:59:30', '2026-11-27T02:00Z'],
    [{ slot: 'hour' }, '2026-11-27T01:59:29', '2026-11-27T01:00Z'],
    [{ slot: 'hour' }, '2026-11-27T02:59:29', '2026-11-27T02:00Z'],
    [{ every: '1h' }, '2026-11-27T02:20:00', '2026-11-27T02:00Z'],
    [{ every: '5m' }, '2026-11-27T02:09:59', '2026-11-27T02:10Z'],
    [{ every: '12h' }, '2026-11-27T13:00:00', '2026-11-27T12:00Z'],
    [{ slot: 'day', timezone: 'UTC' }, '2026-11-26T23:59:30', '2026-11-27'],
    [{ slot: 'day', timezone: 'UTC' }, '2026-11-26T23:59:29', '2026-11-26'],
    [{ slot: 'day', timezone: 'Europe/Berlin' }, '2026-11-26T22:59:30', '2026-11-27'],
    [{ slot: 'day', timezone: 'Asia/Kolkata' }, '2026-11-26T18:30:00', '2026-11-27'],
    [{ slot: 'v42' }, '2026-11-27T02:05:00', 'v42'],
  ] as const)
    test(`${Object.values(wanted).join(' ')}, ${time} → ${name}`, () => assert.equal(at(wanted, time), name))

  test('the days on which the clock changes → one slot each, from midnight to midnight of the zone', () => {
    const slots = (timezone: string, first: string, hours: number): readonly string[] => {
      const { slotAt } = slottedOf({ slot: 'day', timezone })
      return Array.from({ length: hours * 60 }, (_, minute) => slotAt(Date.parse(first) + minute * 60_000))
    }
    // 23 hours in spring, 25 in autumn: the hour that exists twice belongs to the same day.
    const berlin = 'Europe/Berlin'
    assert.deepEqual(new Set(slots(berlin, '2026-03-28T23:00Z', 23)), new Set(['2026-03-29']))
    assert.equal(at({ slot: 'day', timezone: berlin }, '2026-03-29T22:00:00'), '2026-03-30')
    assert.deepEqual(new Set(slots(berlin, '2026-10-24T22:00Z', 25)), new Set(['2026-10-25']))
    assert.equal(at({ slot: 'day', timezone: berlin }, '2026-10-25T23:00:00'), '2026-10-26')
    assert.deepEqual(new Set(slots('Australia/Lord_Howe', '2026-10-03T13:30Z', 23.5)), new Set(['2026-10-04']))
  })

  test('machines whose clocks are off by half a minute, started at the same minute of theirs → the same slot', () => {
    for (const slot of ['minute', 'hour', 'day'])
      for (const seconds of [-29, -1, 0, 1, 29]) {
        const time = new Date(Date.parse('2026-11-27T00:00Z') + seconds * 1000).toISOString().slice(0, -1)
        const wanted = { slot, ...(slot === 'day' && { timezone: 'UTC' }) }
        assert.equal(at(wanted, time), at(wanted, '2026-11-27T00:00:00'), `${slot}, ${seconds} s`)
      }
  })
})
