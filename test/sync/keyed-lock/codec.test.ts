import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { type Codec, type CodecName, ConfigError, connect, DeadlockError } from 'holdfast'
import { fieldOf } from '#src/sync/keyed-lock/field-of-key.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'

let folder = ''
let server: RedisServer | undefined
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-codec-'))
  server = await startRedis().catch(() => undefined)
})
after(async () => {
  await rm(folder, { recursive: true })
  await server?.stop()
})

const fieldsOf = async (codec: CodecName | Codec | undefined, key: string): Promise<unknown[]> => {
  const name = `memory:keyed-codec-${Math.random()}`
  const client = await connect({ url: name, codec })
  try {
    await using hold = await client.keyedLock('g', [key]).acquire({ lease: 5000 })
    assert.equal(hold.state, 'held')
    const adopted = await client.adopt(await hold.detach())
    const fields = await client.script("return redis.call('HKEYS', KEYS[1])").run({ keys: ['g'], returns: 'list' })
    await adopted.release()
    return fields
  } finally {
    await client.close()
  }
}

void test('keys of a group → hashed as the codec writes them, so that Java’s keys are the same', async () => {
  for (const key of ['a', 'ä "b"']) {
    for (const codec of [undefined, 'json', 'string', 'long', 'bytes'] as const)
      assert.ok((await fieldsOf(codec, key)).includes(fieldOf(key)), codec)
    assert.ok((await fieldsOf('jackson', key)).includes(fieldOf(JSON.stringify(key))))
    const own: Codec = { encode: (value) => Buffer.from(`<${String(value)}>`), decode: String }
    assert.ok((await fieldsOf(own, key)).includes(fieldOf(`<${key}>`)))
  }
})

void test('a codec that writes no key twice alike → ConfigError', async () => {
  let count = 0
  await assert.rejects(fieldsOf({ encode: (value) => `${count++}${String(value)}`, decode: String }, 'a'), ConfigError)
})

void test('a codec that writes two keys alike → they are one key, in one set and in two', async () => {
  const codec: Codec = { encode: (value) => String(value).toLowerCase(), decode: String }
  const client = await connect({ url: `memory:keyed-alike-${Math.random()}`, codec })
  try {
    const lock = client.keyedLock('g', ['a', 'A', 'b'])
    assert.equal(await lock.using(() => Promise.resolve('done')), 'done')
    const hold = await lock.acquire({ lease: 5000 })
    const [holder] = (await client.keyedLock('g', ['a', 'c']).inspect()).holders
    assert.deepEqual([holder?.keys, holder?.count], [['a'], 1])
    await hold.extend(6000)
    const adopted = await client.adopt(await hold.detach())
    assert.equal(await adopted.release(), true)
    assert.equal(await lock.isLocked(), false)
    const owner = client.owner()
    await using one = await client.keyedLock('g', ['a']).acquire({ owner })
    assert.equal(one.state, 'held')
    await assert.rejects(client.keyedLock('g', ['A', 'x']).acquire({ owner, wait: 1000 }), DeadlockError)
    await using again = await client.keyedLock('g', ['A']).acquire({ owner, wait: 1000 })
    assert.equal(again.state, 'held')
  } finally {
    await client.close()
  }
})

const filed = async (codec: string, given?: CodecName | Codec): ReturnType<typeof connect> => {
  const file = join(folder, 'redisson.yml')
  await writeFile(file, `singleServerConfig:\n  address: "${server!.url}"\n${codec}\n`)
  return connect({ file, presence: false, codec: given })
}

void test('Redisson’s file names a codec → keyedLock goes by it, or is refused by its name; one that is passed replaces it', async (t) => {
  if (server === undefined) {
    t.skip('no redis-server')
    return
  }
  for (const [line, given, outcome] of [
    ['codec: !<org.redisson.codec.JsonJacksonCodec> {}', undefined, '"a"'],
    ['codec: !<org.redisson.client.codec.StringCodec> {}', undefined, 'a'],
    ['codec: !<org.redisson.codec.Kryo5Codec> {}', undefined, /redisson\.yml:3.*Kryo5Codec/],
    ['codec: !<org.redisson.codec.MarshallingCodec> {}', undefined, /MarshallingCodec/],
    ['', undefined, /names no codec/],
    ['codec: !<org.redisson.codec.Kryo5Codec> {}', 'string', 'a'],
    ['', 'jackson', '"a"'],
  ] as const) {
    const client = await filed(line, given)
    try {
      if (typeof outcome === 'string') {
        await using hold = await client.keyedLock('g', ['a']).acquire({ lease: 5000 })
        assert.equal(hold.state, 'held')
        const fields = await client.script("return redis.call('HKEYS', KEYS[1])").run({ keys: ['g'], returns: 'list' })
        assert.ok(fields.includes(fieldOf(outcome)), line)
      } else {
        assert.throws(
          () => client.keyedLock('g', ['a']),
          (error) => error instanceof ConfigError && outcome.test(error.message),
        )
      }
    } finally {
      await client.close()
    }
  }
})

void test('a topic is written otherwise than Java reads by the file → one warning', async (t) => {
  if (server === undefined) {
    t.skip('no redis-server')
    return
  }
  const own: Codec = { encode: String, decode: String }
  for (const [line, given, warned] of [
    ['', undefined, /names no codec/],
    ['codec: !<org.redisson.codec.Kryo5Codec> {}', 'json', /Kryo5Codec/],
    ['codec: !<org.redisson.codec.JsonJacksonCodec> {}', 'json', /JsonJacksonCodec/],
    ['codec: !<org.redisson.codec.JsonJacksonCodec> {}', undefined, undefined],
    ['codec: !<org.redisson.codec.Kryo5Codec> {}', own, undefined],
  ] as const) {
    const client = await filed(line, given)
    try {
      const before = client.warnings.length
      for (const name of ['a', 'a', 'b']) await client.topic(name).publish('x')
      const added = client.warnings.slice(before)
      assert.equal(added.length, warned === undefined ? 0 : 1, line)
      if (warned !== undefined) assert.match(added[0]!, warned)
    } finally {
      await client.close()
    }
  }
  await using plain = await connect(server.url)
  const before = plain.warnings.length
  await plain.topic('a').publish('x')
  assert.equal(plain.warnings.length, before)
})
