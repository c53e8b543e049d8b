import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import type { Client } from 'holdfast'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'

const DAY = 86_400_000
const QUEUE = 'redisson_lock_queue:{a}'
const DEADLINES = 'redisson_lock_timeout:{a}'
const OURS = '11111111-1111-8111-8111-111111111111'
const REDISSONS = '22222222-2222-4222-8222-222222222222'

/** A server, a client of it with a clock of its own, and a lock that somebody holds. */
class Site {
  readonly serverClock = virtualClock(1)
  readonly clientClock = virtualClock(2)
  readonly redis = new MemoryServer(this.serverClock)
  readonly client: Promise<Client>
  call: Promise<unknown> | undefined

  constructor() {
    const settings = settle({ url: 'memory:', clock: this.clientClock }, {})
    this.client = start(settings, new MemoryDriver(this.redis, undefined))
    this.run('HSET', 'a', `${REDISSONS}:1`, '1')
    this.run('PEXPIRE', 'a', '60000')
  }

  run(...argv: readonly string[]): unknown {
    return this.redis.execute(argv)
  }

  /** How long the line stays, ms; its two keys always go together. */
  stays(): number {
    const left = this.run('PTTL', QUEUE)
    assert.equal(this.run('PTTL', DEADLINES), left)
    return left as number
  }

  /** The client joins the line. */
  async waits(): Promise<void> {
    const client = await this.client
    this.call = client.fairLock('a').acquire()
    this.call.catch(() => undefined)
    const joined = (owner: string): boolean => owner.startsWith(client.id)
    while (!(this.run('LRANGE', QUEUE, '0', '-1') as string[]).some(joined)) await this.clientClock.advance(1)
  }

  async both(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 100) {
      await this.serverClock.advance(100)
      await this.clientClock.advance(100)
    }
  }
}

void describe('the expiry of a fair lock’s line', () => {
  void test('who waits dies, and nobody ever comes → the line goes a day after the last deadline', async () => {
    const site = new Site()
    await site.waits()
    const deadline = Number(site.run('ZSCORE', DEADLINES, String((site.run('LRANGE', QUEUE, '0', '0') as string[])[0])))
    assert.equal(site.stays(), deadline + DAY - site.serverClock.now())
    // The client's clock stands still: it is as good as dead.
    await site.serverClock.advance(site.stays() - 1)
    assert.equal(site.run('EXISTS', QUEUE, DEADLINES), 2)
    await site.serverClock.advance(2)
    assert.equal(site.run('EXISTS', QUEUE, DEADLINES), 0)
  })

  void test('a multi-lock of Redisson’s leaves a short expiry on it → who lives keeps its place (FG7)', async () => {
    const site = new Site()
    await site.waits()
    await site.both(200)
    const line = site.run('LRANGE', QUEUE, '0', '-1')
    site.run('PEXPIRE', QUEUE, '2500')
    site.run('PEXPIRE', DEADLINES, '2500')
    await site.both(4000)
    assert.deepEqual(site.run('LRANGE', QUEUE, '0', '-1'), line)
    assert.ok(site.stays() > DAY)
    site.run('DEL', 'a')
    await site.both(1100)
    await site.call
    assert.equal(site.run('EXISTS', QUEUE, DEADLINES), 0)
  })

  void test('a short expiry is there when somebody joins → it is gone at once', async () => {
    const site = new Site()
    site.run('RPUSH', QUEUE, `${REDISSONS}:2`)
    site.run('ZADD', DEADLINES, String(site.serverClock.now() + 60_000), `${REDISSONS}:2`)
    site.run('PEXPIRE', QUEUE, '10')
    site.run('PEXPIRE', DEADLINES, '10')
    await site.waits()
    assert.ok(site.stays() > DAY)
  })

  void test('the places of a dead client go → the rest of the line stays, and both of its keys as long', async () => {
    const site = new Site()
    const silentSince = site.serverClock.now() - 3100
    const overdue = silentSince + 3000 + (1 + (Math.floor(silentSince / 4) % 4095)) / 4096
    site.run('RPUSH', QUEUE, `${OURS}:1`, `${REDISSONS}:2`, `${OURS}:2`)
    site.run('ZADD', DEADLINES, String(overdue), `${OURS}:1`, '9e15', `${REDISSONS}:2`, '9e15', `${OURS}:2`)
    await site.waits()
    assert.equal(site.run('ZSCORE', DEADLINES, `${OURS}:2`), null)
    assert.equal((site.run('LRANGE', QUEUE, '0', '-1') as string[])[0], `${REDISSONS}:2`)
    assert.ok(site.stays() > DAY)
  })

  void test('Redisson waits for ever → a deadline beyond all numbers is no error, and no expiry in the past', async () => {
    const site = new Site()
    site.run('RPUSH', QUEUE, `${REDISSONS}:2`)
    site.run('ZADD', DEADLINES, '9223372036854775807', `${REDISSONS}:2`)
    await site.waits()
    assert.ok(site.stays() > 300 * DAY)
  })
})
