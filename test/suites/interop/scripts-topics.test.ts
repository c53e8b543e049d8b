import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect } from 'holdfast'
import { type Arena, arena } from './support/arena.js'
import { NEWEST, type Redisson } from './support/redisson.js'

type CodecOfBoth = readonly [ours: 'jackson' | 'string', theirs: 'json' | 'string']

/** More than an int can hold. */
const LONG = 99_999_999_999

/** Values as JSON has them: what Java gets of them, and what it sends. */
const VALUES: Readonly<Record<CodecOfBoth[0], readonly unknown[]>> = {
  jackson: ['ä "text"', 7, -1.5, true, LONG, ['a', 1, [true]], { k: 'v', list: [1, { deep: 'x' }] }],
  string: ['ä "text"', '7', ''],
}

const until = async (condition: () => boolean): Promise<void> => {
  for (const end = performance.now() + 10_000; !condition(); await sleep(10))
    assert.ok(performance.now() < end, 'not so within 10 s')
}

describe(`scripts and topics beside Redisson ${NEWEST}`, () => {
  const enter = arena(NEWEST)

  for (const [ours, theirs] of [
    ['jackson', 'json'],
    ['string', 'string'],
  ] as const satisfies readonly CodecOfBoth[]) {
    const scenario = (name: string, body: (here: Arena, java: Redisson, client: Client) => Promise<void>): void => {
      void test(`${theirs}: ${name}`, { timeout: 40_000 }, async (t) => {
        const here = enter(t)
        if (here === undefined) return
        const java = await here.java.another({ url: here.url, codec: theirs })
        const client = await connect({ url: here.url, codec: ours, presence: false })
        try {
          await body(here, java, client)
        } finally {
          await client.close()
          await java.shutdown()
          await here.redis.flushall()
        }
      })
    }

    scenario('what Java publishes → heard here as it was', async (_here, java, client) => {
      const heard: unknown[] = []
      await client.topic('news').subscribe((message) => void heard.push(message))
      for (const value of VALUES[ours])
        assert.equal(
          await java.request({ op: 'call', kind: 'topic', name: 'news', method: 'publish', args: [value] }),
          1,
        )
      await until(() => heard.length === VALUES[ours].length)
      assert.deepEqual(heard, VALUES[ours])
    })

    scenario(
      'what is published here → heard in Java as it was, by name and by pattern',
      async (_here, java, client) => {
        const listen = (kind: string, name: string): { heard: unknown[]; over: Promise<unknown> } => {
          const heard: unknown[] = []
          const told = (line: unknown): void => void heard.push((line as { message: unknown }).message)
          return { heard, over: java.request({ op: 'hear', kind, name, messages: VALUES[ours].length }, told) }
        }
        const all = [listen('topic', 'news'), listen('patternTopic', 'ne*')]
        // The first line says that it listens.
        await until(() => all.every(({ heard }) => heard.length === 1))
        assert.equal(await client.topic('news').subscribers(), 1)
        // It reaches Redisson, which passes no null on to its listeners.
        if (ours === 'jackson') assert.equal(await client.topic('news').publish(null), 2)
        for (const value of VALUES[ours]) assert.equal(await client.topic('news').publish(value), 2)
        await Promise.all(all.map(({ over }) => over))
        for (const { heard } of all) assert.deepEqual(heard.slice(1), VALUES[ours])
        assert.equal(await client.topic('news').subscribers(), 0)
      },
    )

    scenario(
      'a value that a script is given → stored alike, and read by the other side',
      async (here, java, client) => {
        const set = "redis.call('SET', KEYS[1], ARGV[1]) return ARGV[1]"
        const get = "return redis.call('GET', KEYS[1])"
        const script = (method: string, ...args: unknown[]): Promise<unknown> =>
          java.request({ op: 'call', kind: 'script', name: theirs, method, args })
        for (const value of VALUES[ours]) {
          assert.deepEqual(await script('eval', 'READ_WRITE', set, 'VALUE', ['k'], [value]), value)
          const stored = await here.redis.get('k')
          assert.deepEqual(await client.script(get, { codec: ours, readOnly: true }).run({ keys: ['k'] }), value)
          assert.deepEqual(await client.script(set, { codec: ours }).run({ keys: ['k'], args: [value] }), value)
          // The order of a map's fields is Java's own, and a number does not say that it is a Long: a bigint does.
          const exact = value === LONG && ours === 'jackson' ? BigInt(LONG) : value
          await client.script(set, { codec: ours }).run({ keys: ['k'], args: [exact] })
          if (typeof value !== 'object') assert.equal(await here.redis.get('k'), stored)
          assert.deepEqual(await script('eval', 'READ_ONLY', get, 'VALUE', ['k'], []), value)
        }
        const sha = await client.scripts.load(get)
        assert.equal(await script('scriptLoad', get), sha)
        assert.deepEqual(await script('scriptExists', [sha]), await client.scripts.exists(sha))
      },
    )
  }

  void test('the limit of three in ten seconds → one window for both', { timeout: 40_000 }, async (t) => {
    const here = enter(t)
    if (here === undefined) return
    const java = await here.java.another({ url: here.url, codec: 'json' })
    const client = await connect({ url: here.url, codec: 'jackson', presence: false })
    const lua = `
      local count = redis.call('INCR', KEYS[1])
      if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
      return count <= tonumber(ARGV[2]) and 1 or 0
    `
    try {
      const theirs = (): Promise<unknown> =>
        java.request({
          op: 'call',
          kind: 'script',
          name: 'limit',
          method: 'eval',
          args: ['READ_WRITE', lua, 'LONG', ['LIMIT:7'], [10, 3]],
        })
      const mine = (): Promise<unknown> =>
        client.script(lua, { codec: 'jackson' }).run({ keys: ['LIMIT:7'], args: [10, 3], returns: 'integer' })
      assert.deepEqual([await theirs(), await mine(), await theirs(), await mine(), await theirs()], [1, 1, 1, 0, 0])
    } finally {
      await client.close()
      await java.shutdown()
      await here.redis.flushall()
    }
  })
})
