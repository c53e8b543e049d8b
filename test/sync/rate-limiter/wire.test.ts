import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ofScripts, onWire, requests } from '../../support/wire.js'

const MINUTE = 60_000

await onWire('a limiter on the wire', (wire) => {
  const grants = (key: string): Promise<Buffer[]> => wire.redis.zrangeBuffer(key, '0', '-1')

  void test('rate, permits and grants → Redisson’s keys and formats, by the server’s time', async () => {
    const client = await wire.open()
    const r = client.rateLimiter('a')
    await r.trySetRate({ permits: 10, interval: MINUTE })
    assert.deepEqual(await wire.redis.hgetall('a'), { rate: '10', interval: '60000', type: '0', keepAliveTime: '0' })
    const [seconds = 0, micros = 0] = await wire.redis.time()
    await r.acquire({ permits: 3 })
    assert.equal(await wire.redis.get('{a}:value'), '7')
    const [grant] = await grants('{a}:permits')
    assert.equal(grant?.length, 21)
    assert.equal(grant?.[0], 16)
    assert.equal(grant?.readUInt32LE(17), 3)
    const [, score] = await wire.redis.zrange('{a}:permits', '0', '-1', 'WITHSCORES')
    const late = Number(score) - (seconds * 1000 + micros / 1000)
    assert.ok(late > -1 && late < 5000, `${late} ms off`)
    await r.delete()
  })

  void test('each client for itself → keys with its id', async () => {
    const client = await wire.open()
    const r = client.rateLimiter('{t}a')
    await r.setRate({ permits: 10, interval: MINUTE, scope: 'client' })
    await r.acquire({ permits: 3 })
    assert.equal(await wire.redis.hget('{t}a', 'type'), '1')
    assert.equal(await wire.redis.get(`{t}a:value:${client.id}`), '7')
    assert.equal(await wire.redis.zcard(`{t}a:permits:${client.id}`), 1)
    assert.equal((await wire.redis.keys('{t}a*')).length, 3)
    await r.delete()
  })

  void test('with older Redissons → grants as they keep them; not with 3.8', async () => {
    for (const [redisson, length, head] of [
      ['3.17', 21, 1],
      ['3.16', 28, 8],
    ] as const) {
      const client = await wire.open({ redisson })
      const r = client.rateLimiter('a')
      await r.trySetRate({ permits: 10, interval: MINUTE })
      await r.acquire({ permits: 3 })
      const [grant] = await grants('{a}:permits')
      assert.equal(grant?.length, length)
      assert.equal(grant?.readUIntLE(0, Math.min(head, 6)), 16)
      assert.equal(grant?.readUInt32LE(head + 16), 3)
      // What the others have written is read all the same.
      await wire.redis.del('{a}:value')
      assert.equal(await r.available(), 7)
      await r.delete()
    }
    const old = await wire.open({ redisson: '3.8' })
    assert.throws(() => old.rateLimiter('a'), { name: 'ConfigError' })
  })

  void test('a try → one request; as many commands for 10,000 permits in the window as for ten', async () => {
    const client = await wire.open()
    const counts: number[] = []
    for (const permits of [10, 10_000]) {
      const r = client.rateLimiter(`a${permits}`)
      await r.trySetRate({ permits, interval: MINUTE })
      for (let n = 0; n < permits / 2; n += 500)
        await Promise.all(Array.from({ length: Math.min(500, permits / 2) }, () => r.acquire()))
      const had = await wire.monitored(async () => {
        assert.equal((await r.tryAcquire()).allowed, true)
      })
      assert.deepEqual(requests(had), ['evalsha'])
      await r.acquire({ permits: permits / 2 - 1 })
      const refused = await wire.monitored(async () => {
        assert.equal((await r.tryAcquire()).allowed, false)
      })
      assert.deepEqual(requests(refused), ['evalsha'])
      counts.push(ofScripts(had).length, ofScripts(refused).length)
      await r.delete()
    }
    assert.deepEqual(counts.slice(2), counts.slice(0, 2))
    assert.ok(counts[0]! <= 8, String(counts))
  })

  void test('10,000 grants left the window at once → no call pays for all of them', async () => {
    const client = await wire.open()
    const r = client.rateLimiter('a')
    await r.trySetRate({ permits: 10_000, interval: MINUTE })
    await r.acquire()
    const [grant = Buffer.alloc(0)] = await grants('{a}:permits')
    const flood: (string | number | Buffer)[] = []
    for (let n = 0; n < 9000; n += 1) {
      const member = Buffer.from(grant)
      member.writeUInt32LE(n, 1)
      flood.push(n + 1, member)
    }
    await wire.redis.call('ZADD', '{a}:permits', ...flood)
    await wire.redis.set('{a}:value', 999)
    assert.deepEqual(await r.tryAcquire(), { allowed: true, remaining: 9998, retryAfter: 0 })
    assert.equal(await wire.redis.zcard('{a}:permits'), 9000 - 100 + 2)
    // Who wants more than is credited by then has it all the same.
    assert.equal((await r.tryAcquire({ permits: 9000 })).allowed, true)
    assert.equal(await r.available(), 998)
    await r.delete()
  })

  void test('who waits → is told of a rate and of permits that come back, on a channel of ours alone', async () => {
    const client = await wire.open()
    const r = client.rateLimiter('a')
    await r.trySetRate({ permits: 1, interval: MINUTE })
    await r.acquire()
    await r.release()
    await r.updateRate({ permits: 2, interval: MINUTE })
    const end = performance.now() + 5000
    while (wire.heard.length < 3 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.deepEqual(wire.heard, ['holdfast_limiter:{a} 1', 'holdfast_limiter:{a} 1', 'holdfast_limiter:{a} 2'])
    await r.delete()
  })
})
