import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import type { Script } from '#src/lua/script.js'
import {
  fairLockEnqueue,
  classicFairLockLeave,
  fairLockPoll,
  lockAsk,
  permitSemaphoreCount,
  rateLimiterAsk,
  rateLimiterAvailable,
  rateLimiterRelease,
  rateLimiterSetRate,
  rateLimiterTake,
  readWriteLockAsk,
  readWriteLockInspect,
  readWriteLockReadRenew,
  readWriteLockRelease,
} from '#src/lua/scripts.gen.js'

type Word = string | number

const REDISSONS = '9f1b2c3d-0a1b-4001-8001-0a1b2c3d4e5f'
const OURS = '0a1b2c3d-0a1b-8101-8001-0a1b2c3d4e5f'
/** One of those that are granted the lock directly. */
const clientOf = (number: number): string => `${String(number).padStart(8, '0')}-0a1b-8101-8001-0a1b2c3d4e5f`

const grantOf = (number: number, permits: number): string => {
  const grant = Buffer.alloc(21)
  grant[0] = 16
  grant.writeUInt32LE(number, 1)
  grant.writeUInt32LE(permits, 17)
  return grant.toString('latin1')
}
const LIMITER = ['k', 'v', 'own v', 'p', 'own p']
/** A limiter whose log has 40,000 grants of a permit each: all in the window, or none any more. */
const limiter = (lapsed: boolean, value?: number): readonly (readonly Word[])[] => [
  ['HSET', 'k', 'rate', 41_000, 'interval', 60_000, 'type', 0],
  ...Array.from({ length: 40 }, (_, part) => {
    const first = lapsed ? 1 : Date.now() - 30_000
    const grants = Array.from({ length: 1000 }, (_, i) => [first + part, grantOf(1000 * part + i, 1)])
    return ['ZADD', 'p', ...grants.flat()]
  }),
  ...(value === undefined ? [] : [['SET', 'v', value]]),
]

/** How many commands it calls, how many bytes those answer, and what it leaves: a line, and how long that of a limiter is. */
const outcomeOf = (
  fill: readonly (readonly Word[])[],
  script: Script,
  keys: readonly string[],
  args: readonly Word[],
): { readonly calls: number; readonly bytes: number; readonly left: unknown; readonly order: unknown } => {
  const server = new MemoryServer(systemClock)
  const execute = (...words: readonly Word[]): unknown => server.execute(words.map(String))
  for (const words of fill) execute(...words)
  const counting = `local real, calls, bytes = redis, 0, 0
local redis = setmetatable({}, { __index = real })
local function counted(reply)
  for _, one in ipairs(type(reply) == 'table' and reply or { reply }) do
    bytes = bytes + (type(one) == 'string' and #one or 0)
  end
  return reply
end
redis.call = function(...)
  calls = calls + 1
  return counted(real.call(...))
end
redis.pcall = function(...)
  calls = calls + 1
  return counted(real.pcall(...))
end
local function script()
${script.text}
end
script()
return { calls, bytes }`
  const [calls, bytes] = execute('EVAL', counting, keys.length, ...keys, ...args) as [number, number]
  const left = execute('LRANGE', 'q', 0, -1)
  const order = execute('ZCARD', 'order')
  server.close()
  assert.ok(calls > 0, String(calls))
  return { calls, bytes, left, order }
}
const commandsOf = (...what: Parameters<typeof outcomeOf>): number => outcomeOf(...what).calls

void describe('what a script does is bounded', () => {
  test('readers that read thousands of times each → 2,000 looks in all', () => {
    const readers = Array.from({ length: 5 }, (_, i) => [`${REDISSONS}:${i}`, '9999']).flat()
    const calls = commandsOf(
      [['HSET', 'k', 'mode', 'read', ...readers]],
      readWriteLockInspect,
      ['k', 'q', 'd'],
      ['{k}', '0', 0, ''],
    )
    assert.ok(calls <= 2020, `${calls} commands`)
  })

  test('250 reads, and another program says that each is one of 1000 levels → a thousand keys are looked for in all', () => {
    const reads = Array.from({ length: 250 }, (_, i) => i)
    const calls = commandsOf(
      reads.flatMap((i) => [
        ['HSET', `k${i}`, 'mode', 'read', `${OURS}:${i}`, '1000'],
        ['SET', `l${i}:1`, 1],
      ]),
      readWriteLockReadRenew,
      reads.flatMap((i) => [`k${i}`, `l${i}`]),
      [30_000, ...reads.map((i) => `${OURS}:${i}`)],
    )
    assert.ok(calls <= 3000, `${calls} commands`)
  })

  test('20 reads, and another program gave each 2,000 levels, with their keys → as many are renewed as one owner may have', () => {
    const reads = Array.from({ length: 20 }, (_, i) => i)
    const levels = Array.from({ length: 2000 }, (_, i) => i + 1)
    const calls = commandsOf(
      reads.flatMap((i) => [
        ['HSET', `k${i}`, 'mode', 'read', `${OURS}:${i}`, '2000'],
        ['MSET', ...levels.flatMap((level) => [`l${i}:${level}`, 1])],
      ]),
      readWriteLockReadRenew,
      reads.flatMap((i) => [`k${i}`, `l${i}`]),
      [30_000, ...reads.map((i) => `${OURS}:${i}`)],
    )
    assert.ok(calls <= 11_000, `${calls} commands`)
  })

  test('another program made 40,000 levels of a read, and took its field away → 2,000 of them go with the release', () => {
    const levels = Array.from({ length: 40_000 }, (_, i) => i + 1)
    const parts = Array.from({ length: 40 }, (_, part) => levels.slice(1000 * part, 1000 * part + 1000))
    const calls = commandsOf(
      [
        ['HSET', 'k', 'mode', 'read', `${REDISSONS}:1`, '1'],
        ...parts.map((part) => ['MSET', ...part.flatMap((level) => [`{k}:${OURS}:1:rwlock_timeout:${level}`, 1])]),
      ],
      readWriteLockRelease,
      ['k', 'q', 'd', 't'],
      ['{k}', 'c', 'g', 'PUBLISH', 6, `${OURS}:1`],
    )
    assert.ok(calls <= 2100, `${calls} commands`)
  })

  test('another program made each of 250 that ask read 9,999 times → so many looks in all as for one', () => {
    const readers = Array.from({ length: 250 }, (_, i) => `${clientOf(1)}:${i}`)
    const fill = [
      ['HSET', 'k', 'mode', 'read', ...readers.flatMap((owner) => [owner, '9999'])],
      ['MSET', ...readers.flatMap((owner) => [`{k}:${owner}:rwlock_timeout:1`, 1])],
      ['ZADD', 'd', ...readers.flatMap((owner) => [Date.now() + 300_000, owner])],
      ['RPUSH', 'q', ...readers],
    ]
    const args = [0, 0, '{k}', 'g', 'PUBLISH', '0', ...readers.flatMap((owner) => [owner, 30_000])]
    const calls = commandsOf(fill, readWriteLockAsk, ['k', 'q', 'd', 't'], args)
    assert.ok(calls <= 15_000, `${calls} commands`)
  })

  test('250 who ask stand behind 9,990 of another program → three of them are searched for', () => {
    const readers = Array.from({ length: 250 }, (_, i) => `${clientOf(1)}:${i}`)
    const others = Array.from({ length: 9740 }, (_, i) => `${clientOf(2)}:${i}`)
    const places = [...others, ...readers]
    const part = (i: number): string[] => places.slice(1000 * i, 1000 * i + 1000)
    const fill = [
      ['HSET', 'k', 'mode', 'read', ...readers.flatMap((owner) => [owner, '1'])],
      ['MSET', ...readers.flatMap((owner) => [`{k}:${owner}:rwlock_timeout:1`, 1])],
      ...[...Array(10).keys()].map((i) => ['RPUSH', 'q', ...part(i)]),
      ...[...Array(10).keys()].map((i) => ['ZADD', 'd', ...part(i).flatMap((owner) => [Date.now() + 300_000, owner])]),
    ]
    const args = [0, 0, '{k}', 'g', 'PUBLISH', '0', ...readers.flatMap((owner) => [owner, 30_000])]
    const { left } = outcomeOf(fill, readWriteLockAsk, ['k', 'q', 'd', 't'], args)
    assert.equal((left as unknown[]).length, places.length - 3)
  })

  test('a line of thousands without a deadline → a thousand of them go in one step', () => {
    const line = Array.from({ length: 5000 }, (_, i) => `${REDISSONS}:${i}`)
    const args = [300_000, Date.now() + 60_000, 'channel', 'grants', 'PUBLISH', `${OURS}:1`, 30_000]
    const calls = commandsOf([['RPUSH', 'q', ...line]], fairLockEnqueue, ['k', 'q', 'd'], args)
    assert.ok(calls <= 6000, `${calls} commands`)
  })

  /** Of the fair lock, and of the fair read-write lock: what one asks who stands behind `line`, part of which is overdue on trial. */
  const askBehind = (line: readonly string[], overdue: number) => {
    const now = Date.now()
    const [me, living] = [`${clientOf(1)}:1`, clientOf(9)]
    const counts = { commands: [] as number[], left: [] as number[] }
    for (const [script, mark, words, trial] of [
      // On trial since 4 s ago.
      [fairLockPoll, '', [300_000, 'c', 'g', 'PUBLISH'], ((1 + Math.floor((now - 4000) / 4)) % 4095) / 4096],
      [readWriteLockAsk, ':write', [0, 0, '{k}', 'g', 'PUBLISH', '0'], 0.5],
    ] as const) {
      const places = [...line, `${living}:1`, me].map((owner) => owner + mark)
      const fill = Array.from({ length: Math.ceil(places.length / 1000) }, (_, part) => {
        const some = places.slice(1000 * part, 1000 * part + 1000)
        const deadline = (i: number): number => (i < overdue ? now - 10 + trial : now + 300_000 + i)
        return [
          ['RPUSH', 'q', ...some],
          ['ZADD', 'd', ...some.flatMap((owner, i) => [deadline(1000 * part + i), owner])],
        ]
      }).flat()
      const args = [...words, me + mark, 30_000]
      const { calls, left } = outcomeOf(fill, script, ['k', 'q', 'd', 't'], args)
      counts.commands.push(calls)
      assert.ok(Array.isArray(left))
      counts.left.push(left.length)
      const stay = new Set<unknown>(left)
      assert.deepEqual(
        left,
        places.filter((owner) => stay.has(owner)),
        'in another order',
      )
    }
    return counts
  }
  const each = (count: number, what: (i: number) => string): string[] =>
    Array.from({ length: count }, (_, i) => what(i))

  test('a dead client has 20,000 places → a thousand go in one step, and it takes few commands', () => {
    const { commands, left } = askBehind(
      each(20_000, (i) => `${clientOf(2)}:${i}`),
      1,
    )
    assert.deepEqual(left, [19_002, 19_002])
    assert.ok(Math.max(...commands) <= 700, `${commands.join(' and ')} commands`)
  })

  test('its places stand between those of others → the same, and those keep their order', () => {
    const { commands, left } = askBehind(
      each(6000, (i) => `${clientOf(2 + (i % 2))}:${i}`),
      1,
    )
    assert.deepEqual(left, [5502, 5502])
    assert.ok(Math.max(...commands) <= 2200, `${commands.join(' and ')} commands`)
  })

  test('500 dead clients are overdue → all go in one step', () => {
    const { commands, left } = askBehind(
      each(500, (i) => `${clientOf(10 + i)}:1`),
      500,
    )
    // Nobody hears for who stands behind them either, and who asks has it.
    assert.deepEqual(left, [1, 1])
    assert.ok(Math.max(...commands) <= 850, `${commands.join(' and ')} commands`)
  })

  test('2,000 names of 5 KB stand behind a place that stays → few of them are read at a time', () => {
    const now = Date.now()
    const head = `${clientOf(1)}:1`
    const fill = [
      ['RPUSH', 'q', head, ...each(2000, (i) => `${clientOf(2)}:${i}${'x'.repeat(5000)}`)],
      ['ZADD', 'd', now + 300_000, head],
      ['HSET', 'k', head, 1],
    ]
    const owners = [`${clientOf(3)}:1`, 30_000]
    for (const [script, args] of [
      [fairLockPoll, [300_000, 'c', 'g', 'PUBLISH', ...owners]],
      [classicFairLockLeave, [`${clientOf(3)}:1`, 5000, 1, 'c', 'PUBLISH']],
      [lockAsk, [1, 0, '{k}', 'g', 'PUBLISH', 0, '0', ...owners]],
    ] as const) {
      const { bytes } = outcomeOf(fill, script, ['k', 'q', 'd', 't'].slice(0, script === lockAsk ? 4 : 3), args)
      assert.ok(bytes < 700_000, `${script.name}: ${bytes} bytes`)
    }
  })

  test('2,000 clients hear nothing → some hundreds are asked in one step', () => {
    const { commands } = askBehind(
      each(2000, (i) => `${clientOf(10 + i)}:1`),
      0,
    )
    assert.ok((commands[0] ?? 0) <= 5 * 384 + 60, `${commands[0]} commands`)
  })

  test('a window full of what another program wrote → no more is counted than the rate can be', () => {
    const foreign = Array.from({ length: 50_000 }, (_, i) => [Date.now() + 60_000, `other${i}`]).flat()
    const fill = [
      ['HSET', 'k', 'rate', 10, 'interval', 1000, 'type', 0],
      ['ZADD', 'p', ...foreign],
    ]
    const calls = commandsOf(fill, rateLimiterAvailable, ['k', 'v', 'own v', 'p', 'own p'], [1])
    assert.ok(calls <= 270, `${calls} commands`)
  })

  const ALL = Number.MAX_SAFE_INTEGER
  const all = grantOf(4e9, 41_000)
  const rate = [50_000, 60_000, 0, 0, 1, 1, 'PUBLISH', '1', 'grants']
  const told = ['note', 'channel', 'line', 'places']
  for (const [title, fill, script, keys, args] of [
    ['available(), all have left', limiter(true, 1000), rateLimiterAvailable, [], [ALL]],
    ['available(), the value is gone', limiter(false), rateLimiterAvailable, [], [ALL]],
    ['available(), the value is gone and all have left', limiter(true), rateLimiterAvailable, [], [ALL]],
    ['a take of all, all have left', limiter(true, 1000), rateLimiterTake, ['note', 'line'], [all]],
    ['a take of all, refused', limiter(false, 1000), rateLimiterTake, ['note', 'line'], [all]],
    ['a take, the value is gone', limiter(false), rateLimiterTake, ['note', 'line'], [grantOf(4e9, 1)]],
    [
      'a take, Redisson gave permits back',
      limiter(false, 42_000),
      rateLimiterTake,
      ['note', 'line'],
      [grantOf(4e9, 1)],
    ],
    ['another rate', limiter(false, 1000), rateLimiterSetRate, told, rate],
    ['another rate, all have left', limiter(true, 1000), rateLimiterSetRate, told, rate],
    ['a release, the value is gone', limiter(false), rateLimiterRelease, told, [1, 'PUBLISH', '1', 'grants']],
  ] as const) {
    test(`40,000 grants in a limiter's log; ${title} → a thousand are looked at`, () => {
      const calls = commandsOf(fill, script, [...LIMITER, ...keys], args)
      assert.ok(calls <= 300, `${calls} commands`)
    })
  }

  for (const [title, script, keys, args] of [
    ['a take', rateLimiterTake, ['note', 'line'], [grantOf(4e9, 1)]],
    [
      'an ask',
      rateLimiterAsk,
      ['note', 'order', 'places'],
      [`${OURS}:1`, '1', '1', '1', 'g', 'PUBLISH', grantOf(4e9, 1)],
    ],
  ] as const) {
    test(`long members among the grants of a limiter; ${title} that is refused, twice → they are read once, and go`, () => {
      const grants = [
        ...Array.from({ length: 3 }, (_, i) => [Date.now() - 30_000, `${i}${'x'.repeat(100_000)}`]),
        ...Array.from({ length: 5 }, (_, i) => [Date.now() - 20_000, grantOf(i, 1)]),
      ]
      const there: (readonly Word[])[] = [
        ['HSET', 'k', 'rate', 5, 'interval', 60_000, 'type', 0],
        ['ZADD', 'p', ...grants.flat()],
        ['SET', 'v', 0],
      ]
      const first = [script.text, LIMITER.length + keys.length, ...LIMITER, ...keys, ...args]
      const once = outcomeOf(there, script, [...LIMITER, ...keys], args)
      const twice = outcomeOf([...there, ['EVAL', ...first]], script, [...LIMITER, ...keys], args)
      assert.ok(once.bytes < 310_000, `${once.bytes} bytes`)
      assert.ok(twice.bytes < 1000, `${twice.bytes} bytes`)
    })
  }

  /** What an ask reads behind a line of these: whose each place is, and what it says. */
  const askOfLimiter = (places: readonly (readonly [owner: string, said: string])[]) =>
    outcomeOf(
      [
        ['HSET', 'k', 'rate', 1, 'interval', 60_000, 'type', 0],
        ['ZADD', 'p', Date.now(), grantOf(1, 1)],
        ['SET', 'v', 0],
        ['ZADD', 'order', ...places.flatMap(([owner], i) => [i + 1, owner])],
        ['HSET', 'places', ...places.flat()],
      ],
      rateLimiterAsk,
      [...LIMITER, 'note', 'order', 'places'],
      [`${OURS}:1`, '1', '1', '1', 'g', 'PUBLISH', grantOf(2, 1)],
    )
  const late = (): string => `1 ${Date.now() - 400}`
  const lives = (): string => `1 ${Date.now() + 50_000}`
  const longs = (count: number, said: string) =>
    Array.from({ length: count }, (_, i) => [`${i + 10}${'x'.repeat(10_000)}`, said] as const)
  const shorts = (count: number, said: string) =>
    Array.from({ length: count }, (_, i) => [`${clientOf(i + 10)}:1`, said] as const)

  test('long names in a limiter’s line, late, before 16 whom nobody hears → each is read once, and goes', () => {
    const { bytes, order } = askOfLimiter([...longs(46, late()), ...shorts(16, lives())])
    assert.ok(bytes < 46 * 10_002 + 20_000, `${bytes} bytes`)
    assert.equal(order, 17)
  })

  test('long names in a limiter’s line, behind the first → each is read once, and goes', () => {
    const { bytes, order } = askOfLimiter([...shorts(1, lives()), ...longs(7, lives())])
    assert.ok(bytes < 9 * 10_002 + 2000, `${bytes} bytes`)
    assert.equal(order, 2)
  })

  test('what a place in a limiter’s line says is long → it is not read, and goes', () => {
    const { bytes, order } = askOfLimiter(shorts(40, `1 ${'9'.repeat(10_000)}`))
    assert.ok(bytes < 10_000, `${bytes} bytes`)
    assert.equal(order, 1)
  })

  test('16 whom nobody hears want all permits, after 5,000 grants → a thousand are looked at, once for all who want some', () => {
    const rate = 1_000_000
    const places = shorts(16, `${rate} ${Date.now() + 50_000}`)
    const grants = Array.from({ length: 5000 }, (_, i) => [Date.now() - 30_000 + i, grantOf(i, 1)]).flat()
    const { calls, bytes } = outcomeOf(
      [
        ['HSET', 'k', 'rate', rate, 'interval', 60_000, 'type', 0],
        ['ZADD', 'p', ...grants],
        ['SET', 'v', 0],
        ['ZADD', 'order', ...places.flatMap(([owner], i) => [i + 1, owner])],
        ['HSET', 'places', ...places.flat()],
      ],
      rateLimiterAsk,
      [...LIMITER, 'note', 'order', 'places'],
      [`${OURS}:1`, '01', '1', '1', 'g', 'PUBLISH', grantOf(4e9, rate), grantOf(4e9 + 1, rate)],
    )
    // A grant is 21 bytes, with a time of 13.
    assert.ok(bytes < 1100 * 34 + 10_000, `${bytes} bytes`)
    assert.ok(calls <= 380, `${calls} commands`)
  })

  test('permits whose time is over → 2,000 are taken back in one step, and all are counted', () => {
    const server = new MemoryServer(systemClock)
    const execute = (...words: readonly Word[]): unknown => server.execute(words.map(String))
    execute('SET', 'k', 0)
    execute('ZADD', 't', ...Array.from({ length: 5000 }, (_, i) => [i, `permit${i}`]).flat())
    for (const left of [3000, 1000, 0, 0]) {
      assert.deepEqual(execute('EVAL', permitSemaphoreCount.text, 3, 'k', 't', 'q', 'c', 'g', 'PUBLISH'), [1, 5000, 0])
      assert.equal(execute('ZCARD', 't'), left)
      assert.equal(execute('GET', 'k'), String(5000 - left))
    }
    server.close()
  })
})
