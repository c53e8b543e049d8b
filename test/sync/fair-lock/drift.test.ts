import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Hold } from 'holdfast'
import { Redis } from 'ioredis'
import { fairLockPoll } from '#src/lua/scripts.gen.js'
import { startRedis } from '../../support/redis-server.js'
import { ALLOWANCE, AT_ONCE, DEADLINES, HOLDER, KEYS, OURS, QUEUE, REDISSONS, Site, VOICES } from './site.js'

const NEW = `${REDISSONS}0`
/** Another client of ours, no more than written down. */
const OTHERS = '33333333-3333-8133-8333-333333333333'
/** The longest that anybody has the lock. */
const LEASE = 60_000

interface Waiter {
  readonly owner: string
  readonly ours?: { has: boolean; hold?: Hold }
}

/** Whoever has had the lock waits again: the line never empties, and no wait is so long that anybody polls. */
class Round {
  readonly site = new Site()
  readonly #wait: number
  readonly #line: Waiter[] = []
  #holder: Waiter = { owner: HOLDER }

  constructor(wait: number) {
    this.#wait = wait
  }

  theirs(owner: string): void {
    this.site.redissonAsks(owner, this.#wait)
    this.#line.push({ owner })
  }

  async ours(): Promise<void> {
    const ours = await this.site.waits(await this.site.client())
    this.#line.push({ owner: this.site.line().at(-1) ?? '', ours })
  }

  async turn(again = true): Promise<void> {
    const { owner, ours } = this.#holder
    if (ours) await ours.hold?.release()
    else this.site.redissonUnlocks(owner)
    await this.site.clock.advance(AT_ONCE)
    this.#holder = this.#line.shift() ?? this.#holder
    if (this.#holder.ours) assert.ok(this.#holder.ours.has)
    else assert.equal(this.site.redissonAsks(this.#holder.owner, this.#wait), null)
    assert.deepEqual(
      this.site.line(),
      this.#line.map((waiter) => waiter.owner),
    )
    if (!again) return
    if (ours) await this.ours()
    else this.theirs(owner)
  }

  /** In how many ms each is due after the lock’s lease is over. */
  due(): number[] {
    const free = this.site.clock.now() + Number(this.site.run('PTTL', 'a'))
    return this.site.line().map((owner) => this.site.deadline(owner) - free)
  }
}

void describe('a line of ours and Redisson’s that never empties', () => {
  for (const wait of [1000, ALLOWANCE, 4 * ALLOWANCE]) {
    void test(`Redisson’s wait ${wait} ms → the last is due no later than twice what all allow, and six allowances (FG24)`, async () => {
      const round = new Round(wait)
      for (const number of [1, 2, 3]) {
        await round.ours()
        round.theirs(`${REDISSONS}${number}`)
      }
      const most = (2 * 7 + 6) * Math.max(wait, ALLOWANCE)
      for (let turn = 0; turn < 48; turn++) {
        await round.turn()
        const due = round.due()
        assert.ok(Math.max(...due) < most, `turn ${turn}: ${due.join(' ')}`)
        assert.deepEqual(
          due,
          [...due].sort((a, b) => a - b),
        )
      }
      assert.ok(Number(round.site.redissonAsks(NEW, wait)) < most + LEASE)
    })
  }

  void test('ours alone wait → nothing is added up (FG24)', async () => {
    const round = new Round(ALLOWANCE)
    for (let number = 0; number < 4; number++) await round.ours()
    await round.turn(false)
    for (let turn = 0; turn < 24; turn++) await round.turn()
    assert.ok(Math.max(...round.due()) < 4 * ALLOWANCE + LEASE)
  })

  void test('Redisson’s wait for longer than we do → each keeps its time, and ours behind it what its turn takes off (FG24)', async () => {
    const round = new Round(8 * ALLOWANCE)
    for (const number of [1, 2]) round.theirs(`${REDISSONS}${number}`)
    const before = round.due()
    await round.ours()
    assert.deepEqual(round.due().slice(0, 2), before)
    await round.turn()
    await round.turn()
    assert.ok((round.due()[0] ?? 0) > 0)
  })

  void test('who is not heard stands in a line that is put right → it is on trial still (FG24)', async () => {
    const { site } = new Round(ALLOWANCE)
    const mark = (1 + (Math.floor(site.clock.now() / 4) % 4095)) / 4096
    site.stands(`${OURS}:1`, site.clock.now() + 3000 + mark)
    site.stands(`${OTHERS}:1`, site.clock.now() + 30 * ALLOWANCE)
    site.redissonAsks(REDISSONS, 2 * ALLOWANCE)
    await site.waits(await site.client())
    assert.equal(site.deadline(`${OURS}:1`) % 1, mark)
    assert.ok(site.deadline(`${OTHERS}:1`) < site.clock.now() + LEASE + 7 * ALLOWANCE)
    assert.equal(site.deadline(REDISSONS) - site.deadline(`${OTHERS}:1`), 2 * ALLOWANCE)
  })

  void test('a long wait of Redisson’s stands between two of ours for longer → its turn costs neither a place (FG24)', async () => {
    const wait = 4 * ALLOWANCE
    const round = new Round(wait)
    await round.ours()
    round.theirs(REDISSONS)
    await round.ours()
    await round.site.held(2 * wait)
    for (let turn = 0; turn < 3; turn++) await round.turn(false)
    assert.deepEqual(round.site.line(), [])
  })

  void test('two that were not heard ask, others have time → nobody else is due later (FG24)', () => {
    const site = new Site()
    const now = site.clock.now()
    const mark = (1 + (Math.floor(now / 4) % 4095)) / 4096
    for (const owner of [`${OURS}:1`, `${OURS}:2`, `${OTHERS}:1`]) site.stands(owner, now + 3000 + mark)
    const others = [`${OTHERS}:2`, REDISSONS]
    for (const [place, owner] of others.entries()) site.stands(owner, now + (10 + place) * ALLOWANCE)
    const before = others.map((owner) => site.deadline(owner))
    site.eval(fairLockPoll, ALLOWANCE, ...VOICES, `${OURS}:1`, LEASE, `${OURS}:2`, LEASE)
    assert.ok(site.deadline(`${OURS}:2`) >= now + 2 * ALLOWANCE)
    assert.ok(site.deadline(`${OTHERS}:1`) >= site.deadline(`${OURS}:2`))
    assert.deepEqual(
      others.map((owner) => site.deadline(owner)),
      before,
    )
  })

  void test('many of one client stand between Redisson’s, each too early → one poll looks at each once (FG24)', async (t) => {
    const server = await startRedis()
    t.after(() => server.stop())
    const redis = new Redis(server.url)
    t.after(() => redis.disconnect())
    const [seconds = 0] = await redis.time()
    const places = Array.from({ length: 200 }, (_, place) => `${place % 2 ? HOLDER : OURS}${place}`)
    await redis.hset('a', HOLDER, 1)
    await redis.rpush(QUEUE, ...places)
    await redis.zadd(DEADLINES, ...places.flatMap((owner, place) => [seconds * 1000 + ALLOWANCE + place, owner]))
    await redis.config('RESETSTAT')
    const ours = places.filter((owner) => owner.startsWith(OURS)).flatMap((owner) => [owner, LEASE])
    await redis.eval(fairLockPoll.text, 3, ...KEYS, ALLOWANCE, ...VOICES, ...ours)
    const calls = /cmdstat_zadd:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]
    assert.ok(Number(calls) <= places.length, `${calls} changes`)
    assert.ok(Number(await redis.zscore(DEADLINES, places.at(-1) ?? '')) > seconds * 1000 + 199 * ALLOWANCE)
  })
})
