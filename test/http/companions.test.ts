import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Client, connect } from 'holdfast'
import { judge } from '#src/http/rate-limit.js'
import {
  limiterChannel,
  limiterGrants,
  limiterOrder,
  limiterPermits,
  limiterPlaces,
  limiterValue,
  noteKey,
} from '#src/keys.js'
import { namedLimit } from './limiter-names.js'

const ID = '04a55172-e6dc-81b3-b33f-02006e47f616'

/** All keys and channels of a limiter. */
const keysOf = (key: string): readonly string[] => [
  key,
  ...[limiterValue, limiterPermits].flatMap((of) => [of(key), of(key, ID)]),
  ...[limiterChannel, limiterOrder, limiterPlaces, limiterGrants].map((of) => of(key)),
  noteKey(key, ID, 1),
]

/** What operators may do to names, with and without braces of their own. */
const SHAPES: Readonly<Record<string, (name: string) => string>> = {
  plain: (name) => name,
  prefix: (name) => `app:${name}`,
  tag: (name) => `{app}:${name}`,
  behind: (name) => `${name}{app}`,
  whole: (name) => `{${name}}`,
  first: (name) => name.replace(/^[^:]*/, '{$&}'),
  open: (name) => `{app:${name}`,
  ended: (name) => `{app}:${name}:value`,
  'ended twice': (name) => `{app}:${name}:value:value`,
  'part of an end': (name) => `{app}:${name}e`,
  'part of another end': (name) => `{app}:${name}mits`,
  'of a client': (name) => `{app}:${name}:permits:${ID}`,
  marked: (name) => `{app}:${name}~`,
  'as a line': (name) => `holdfast_limiter:{app}${name}`,
}

/** Pieces of hostile keys. */
const ENDS = [':value', ':permits', ':timeout', `:value:${ID}`, `:permits:${ID}`, 'e:valu', 'mits:per', ':', '~', '!']
const PIECES = [...ENDS, '{', '}', '%7B', 'bob', '::1', '2001:db8::/64', 'holdfast_limiter:', 'k'.repeat(101)]

const hostile = (): readonly string[] => {
  const keys = new Set(PIECES)
  for (const one of PIECES) {
    for (const two of PIECES) {
      keys.add(one + two)
      for (const end of ENDS) keys.add(one + two + end)
    }
  }
  for (const end of [...ENDS]) for (let i = 1; i < end.length; i++) keys.add(`bob${end.slice(i)}${end.slice(0, i)}`)
  return [...keys]
}

void test('no text of a sender is a key of another’s limiter, whatever mapName makes of names', async () => {
  let named = ''
  const rateLimiter = (name: string) => {
    named = name
    return { tryAcquire: () => Promise.resolve({ allowed: true, remaining: 1, retryAfter: 0 }) }
  }
  const client = { rateLimiter } as unknown as Client
  const judged = judge<string>({ client, permits: 1, interval: 1000, key: (key) => key }, () => undefined)
  const names = new Map<string, string>()
  for (const key of hostile()) {
    await judged(key)
    names.set(key, named)
  }
  for (const [shape, mapName] of Object.entries(SHAPES)) {
    const whose = new Map<string, string>()
    for (const [sender, name] of names) {
      for (const key of keysOf(mapName(name))) {
        const other = whose.get(key)
        assert.ok(other === undefined || other === sender, `${shape}: ${sender} and ${String(other)} share ${key}`)
        whose.set(key, sender)
      }
    }
  }
})

void test('addresses and keys without a colon keep their names', async () => {
  const { names, judged } = namedLimit()
  const kept = ['10.0.0.1', '2001:db8:0:1::/64', '::ffff:10.0.0.1', 'unknown', 'Bob', 'a1-b2_c3.d4@example.org']
  for (const key of kept) await judged(key)
  assert.deepEqual(
    names,
    kept.map((key) => `default:1/1000:${key}`),
  )
})

void test('mapName with braces: a sender who chooses its key switches no limit off', async () => {
  const client = await connect({ url: `memory:companions-${Math.random()}`, mapName: (name) => `{app}:${name}` })
  try {
    for (const whenAway of ['open', 'closed'] as const) {
      const options = { client, name: whenAway, permits: 3, interval: 60_000, whenAway }
      const judged = judge<string>({ ...options, key: (key) => key }, () => undefined)
      const tally = async (key: string) => {
        const refused: (number | undefined)[] = []
        for (let i = 0; i < 5; i++) refused.push((await judged(key)).refusal?.status)
        return refused
      }
      const limited = [undefined, undefined, undefined, 429, 429]
      for (const key of ['bob:value', 'bob:permits', 'bob', 'alice', 'alice:value', 'alice:permits'])
        assert.deepEqual(await tally(key), limited, `${whenAway} ${key}`)
    }
  } finally {
    await client.close()
  }
})
