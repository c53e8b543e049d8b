import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { LockLostError } from 'holdfast'
import { type DriverEvents, NoReply } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { toBytes } from '#src/engine/memory/reply.js'
import { secretOf, wireOwner } from '#src/keys.js'
import { classicFairLockAsk, fairLockConfirm, fairLockEnqueue, fairLockPoll } from '#src/lua/scripts.gen.js'
import { grantTo } from '../../support/grant.js'
import {
  ALLOWANCE,
  AT_ONCE,
  CHANNEL,
  DEADLINES,
  GRANTS,
  HOLDER,
  OURS,
  QUEUE,
  REDISSONS,
  Site,
  TRIAL,
  VOICES,
} from './site.js'
import type { Arg, Reply } from '#src/lua/values.js'

/** A question about joining gets lost with its connection, and is done a little later. */
class LateDriver extends MemoryDriver {
  done = 0
  readonly #clock: Site['clock']

  constructor({ redis, clock }: Site) {
    super(redis, undefined)
    this.#clock = clock
    redis.execute(['SCRIPT', 'LOAD', fairLockEnqueue.text].map(toBytes))
  }

  override send(argv: readonly Arg[]): Promise<Reply> {
    if (argv[1] !== fairLockEnqueue.sha) return super.send(argv)
    this.#clock.setTimer(() => {
      this.done++
      void super.send(argv)
    }, 200)
    return Promise.reject(new NoReply('cut'))
  }
}

/** A confirmation takes its time, and is not done before what was asked after it; then all is as it should be. Or it is lost. */
class OvertakenDriver extends MemoryDriver {
  readonly #clock: Site['clock']
  readonly #lost: boolean

  constructor({ redis, clock }: Site, lost = false) {
    super(redis, undefined)
    this.#clock = clock
    this.#lost = lost
    redis.execute(['SCRIPT', 'LOAD', fairLockConfirm.text].map(toBytes))
  }

  override async send(argv: readonly Arg[]): Promise<Reply> {
    if (argv[1] === fairLockConfirm.sha) {
      await new Promise<void>((resolve) => void this.#clock.setTimer(resolve, this.#lost ? 1 : 300))
      if (this.#lost) throw new NoReply('cut')
    }
    return super.send(argv)
  }
}

/** Messages come late or never, and from some moment on nothing is answered. */
class SlowDriver extends MemoryDriver {
  silent = false
  readonly #clock: Site['clock']
  readonly #delay: number

  constructor({ redis, clock }: Site, delay: number) {
    super(redis, undefined)
    this.#clock = clock
    this.#delay = delay
  }

  override open(events: DriverEvents): Promise<void> {
    const message: DriverEvents['message'] = (told) => {
      if (this.#delay < Infinity) this.#clock.setTimer(() => events.message(told), this.#delay)
    }
    return super.open(Object.assign(Object.create(events) as DriverEvents, { message }))
  }

  override send(argv: readonly Arg[]): Promise<Reply> {
    return this.silent ? new Promise(() => undefined) : super.send(argv)
  }
}

void describe('what the fair lock’s design rules out', () => {
  void test('a copy of a grant’s message comes when the server has said no since → it starts nothing (FG1)', async () => {
    const site = new Site()
    site.run('DEL', 'a')
    await (await site.client()).fairLock('a').acquire()
    const client = await site.client()
    const waiter = await site.waits(client)
    await site.clock.advance(100)
    const message = grantTo(site.line()[0] ?? '', `${site.clock.now()}000`)
    await site.clock.advance(1000)
    site.run('PUBLISH', `${GRANTS}:${client.id}`, message)
    await site.clock.advance(AT_ONCE)
    assert.ok(!waiter.has)
  })

  void test('a grant’s message comes late, and nothing is answered any more → trusted no longer than the server does (FG2)', async () => {
    const site = new Site()
    const driver = new SlowDriver(site, 800)
    // Behind one of Redisson's it would be called by its whole name, and then confirm first.
    site.run('DEL', 'a')
    await (await site.client()).fairLock('a').acquire()
    const waiter = await site.waits(await site.client(driver))
    await (await site.client()).fairLock('a').forceRelease()
    await site.clock.advance(750)
    driver.silent = true
    await site.clock.advance(100)
    assert.ok(waiter.has)
    await site.clock.advance(TRIAL - 850 + 1)
    assert.equal(site.run('EXISTS', 'a'), 0)
    assert.ok((waiter.hold?.remaining() ?? 0) <= 0)
  })

  void test('no message ever comes → who is granted the lock has it within its trial (FG3)', async () => {
    const site = new Site()
    const waiter = await site.waits(await site.client(new SlowDriver(site, Infinity)))
    await (await site.client()).fairLock('a').forceRelease()
    await site.clock.advance(TRIAL / 2)
    assert.ok(waiter.has)
  })

  void test('Redisson waits longer than our allowance → what it takes off the others’ deadlines, they have (FG4)', async () => {
    const site = new Site()
    const client = await site.client()
    const first = await site.waits(client)
    const wait = 4 * ALLOWANCE
    site.redissonAsks(REDISSONS, wait)
    site.redissonUnlocks(HOLDER)
    await site.clock.advance(AT_ONCE)
    assert.ok(first.has)
    await site.waits(await site.client())
    const [, last = ''] = site.line()
    await client.fairLock('a').forceRelease()
    assert.equal(site.redissonAsks(REDISSONS, wait), null)
    assert.ok(site.deadline(last) > site.clock.now())
  })

  void test('a client dies that is heard still, with many waiters → one trial, not one for each (FG5)', async () => {
    const site = new Site()
    site.redis.pubsub.subscribe({ message: () => undefined }, toBytes(`${GRANTS}:${OURS}`), 'plain')
    for (const number of [1, 2, 3, 4]) site.stands(`${OURS}:${number}`)
    const living = await site.waits(await site.client())
    site.run('DEL', 'a')
    await site.clock.advance(TRIAL + 2100)
    assert.ok(living.has)
  })

  void test('a question about joining comes late → nobody joins; a poll never joins anybody (FG6)', () => {
    const site = new Site()
    const owner = `${OURS}:1`
    const late = site.eval(fairLockEnqueue, ALLOWANCE, site.clock.now() - 1, ...VOICES, owner, 1000)
    assert.deepEqual((late as unknown[])[2], [3])
    site.run('DEL', 'a')
    const gone = site.eval(fairLockEnqueue, ALLOWANCE, site.clock.now() - 1, ...VOICES, owner, 1000)
    assert.deepEqual((gone as unknown[])[2], [3])
    assert.deepEqual((site.eval(fairLockPoll, ALLOWANCE, ...VOICES, owner, 1000) as unknown[])[2], [3])
    assert.deepEqual(site.run('KEYS', '*'), [])
  })

  void test('asked again, together with a new one → each stands in the line once, with its own deadline', () => {
    const site = new Site()
    const ask = (...owners: string[]) =>
      site.eval(
        fairLockEnqueue,
        ALLOWANCE,
        site.clock.now() + 60_000,
        ...VOICES,
        ...owners.flatMap((owner) => [owner, 1000]),
      )
    const [one, two, three] = [1, 2, 3].map((number) => `${OURS}:${number}`) as [string, string, string]
    ask(one, two)
    const deadlines = [site.deadline(one), site.deadline(two)]
    assert.deepEqual((ask(two, three, one) as unknown[])[2], [0, 0, 0])
    assert.deepEqual(site.line(), [one, two, three])
    assert.deepEqual([site.deadline(one), site.deadline(two)], deadlines)
    assert.ok(site.deadline(three) > site.deadline(two))
    ask(three)
    assert.equal(site.line().length, 3)
  })

  void test('a question comes late, and its owner has taken the lock again for longer since → no shorter (FG20)', () => {
    const site = new Site()
    const owner = `${OURS}:1`
    site.run('DEL', 'a')
    site.run('HSET', 'a', owner, '2')
    for (const ask of [
      () => site.eval(fairLockPoll, ALLOWANCE, ...VOICES, owner, 1000),
      () => site.eval(fairLockEnqueue, ALLOWANCE, site.clock.now() - 1, ...VOICES, owner, 1000),
      () => site.eval(classicFairLockAsk, 1, 0, 0, owner, 1000, ALLOWANCE),
    ]) {
      site.run('PEXPIRE', 'a', '30000')
      assert.deepEqual((ask() as unknown[])[2], [1])
      assert.equal(site.run('PTTL', 'a'), 30_000)
    }
  })

  void test('a client that was stopped polls, overdue on trial → it and its siblings keep their places (FG8)', async () => {
    const site = new Site()
    const client = await site.client()
    await site.waits(client)
    await site.waits(client)
    await site.waits(await site.client())
    const line = site.line()
    site.run('ZADD', DEADLINES, site.clock.now() - 10.5, line[0] as string)
    const [head = '', sibling = ''] = line
    site.eval(fairLockPoll, ALLOWANCE, ...VOICES, head, 1000, sibling, 1000)
    assert.deepEqual(site.line(), line)
  })

  void test('nobody hears for the head → the next has it, and the head keeps its place for a trial (FG9)', async () => {
    const site = new Site()
    site.stands(`${OURS}:1`)
    const next = await site.waits(await site.client())
    site.run('DEL', 'a')
    await site.clock.advance(1100)
    assert.ok(next.has)
    assert.deepEqual(site.line(), [`${OURS}:1`])
    assert.ok(site.deadline(`${OURS}:1`) <= site.clock.now() + TRIAL)
    await site.clock.advance(TRIAL + 1)
    await site.waits(await site.client())
    assert.ok(!site.line().includes(`${OURS}:1`))
  })

  void test('Redisson unlocks → ours behind it has it at once, not at its next poll (FG10)', async () => {
    const site = new Site()
    const waiter = await site.waits(await site.client())
    site.redissonUnlocks(HOLDER)
    await site.clock.advance(AT_ONCE)
    assert.ok(waiter.has)
  })

  void test('a stranger reads an owner’s name where Redisson would call it, and forges a grant → asked about first', async () => {
    const site = new Site()
    const client = await site.client()
    const waiter = await site.waits(client)
    await site.clock.advance(AT_ONCE)
    const [called = ''] = site.run('PUBSUB', 'CHANNELS', `${CHANNEL}:*`) as string[]
    const owner = called.slice(CHANNEL.length + 1)
    assert.deepEqual(site.line(), [owner])
    site.run('PUBLISH', `${GRANTS}:${client.id}`, grantTo(owner, `${site.clock.now()}000`))
    await site.clock.advance(AT_ONCE)
    assert.ok(!waiter.has)
    site.redissonUnlocks(HOLDER)
    await site.clock.advance(AT_ONCE)
    assert.ok(waiter.has)
  })

  void test('its place was lost → it stands there again by another name: that one may have been told', async () => {
    const site = new Site()
    const client = await site.client()
    await site.waits(client)
    const [before = ''] = site.line()
    site.run('DEL', QUEUE, DEADLINES)
    await site.clock.advance(1200)
    const [after = ''] = site.line()
    assert.ok(after.startsWith(client.id) && after !== before, after)
  })

  void test('a grant comes for who is gone → it ends with its trial, and the next one has it (FG11)', async () => {
    const site = new Site()
    const client = await site.client()
    await site.waits(client)
    const next = await site.waits(await site.client())
    const [owner = ''] = site.line()
    const unknown = wireOwner(client.id, secretOf(1), 999)
    site.run('LREM', QUEUE, 0, owner)
    site.run('ZREM', DEADLINES, owner)
    site.run('DEL', 'a')
    site.run('HSET', 'a', unknown, 1)
    site.run('PEXPIRE', 'a', TRIAL)
    site.run('PUBLISH', `${GRANTS}:${client.id}`, grantTo(unknown, `${site.clock.now()}000`))
    await site.clock.advance(TRIAL - AT_ONCE)
    assert.equal(site.run('HEXISTS', 'a', unknown), 1)
    await site.clock.advance(3 * AT_ONCE)
    assert.ok(next.has)
  })

  void test('a grant’s message comes when its hold has been detached → the ticket is good still', async () => {
    const site = new Site()
    const client = await site.client(new SlowDriver(site, 1200))
    const waiter = await site.waits(client)
    await site.waits(client)
    await (await site.client()).fairLock('a').forceRelease()
    while (!waiter.has) await site.clock.advance(50)
    const ticket = (await waiter.hold?.detach()) ?? ''
    await site.clock.advance(1500)
    const adopted = await (await site.client()).adopt(ticket)
    assert.equal(adopted?.state, 'held')
  })

  void test('a long row of Redisson’s behind one of ours → the deadlines of 64 are put right when it has its turn', async () => {
    const site = new Site()
    const waiter = await site.waits(await site.client())
    const row = Array.from({ length: 100 }, (_, i) => `${REDISSONS}${i}`)
    for (const [i, owner] of row.entries()) site.stands(owner, site.clock.now() + (i + 50) * ALLOWANCE)
    const [near = '', far = ''] = [row[62], row[70]]
    const before = [site.deadline(near), site.deadline(far)]
    await (await site.client()).fairLock('a').forceRelease()
    await site.clock.advance(AT_ONCE)
    assert.ok(waiter.has)
    assert.ok(site.deadline(near) < (before[0] ?? 0))
    assert.equal(site.deadline(far), before[1])
  })

  void test('whoever was ahead of a dead one of Redisson’s was dropped → it is waited for as long as one waits, from its turn on', async () => {
    const site = new Site()
    site.stands(`${OURS}:1`, site.clock.now() - 1)
    site.stands(REDISSONS, site.clock.now() + 20 * ALLOWANCE)
    const living = await site.waits(await site.client())
    site.redissonUnlocks(HOLDER)
    await site.clock.advance(ALLOWANCE - 2000)
    assert.ok(!living.has)
    await site.clock.advance(4500)
    assert.ok(living.has)
  })

  for (const [wait, due] of [
    [1000, ALLOWANCE],
    [ALLOWANCE, ALLOWANCE],
    [ALLOWANCE, 2500],
  ] as const) {
    void test(`Redisson’s, who wait ${wait} ms, have turn upon turn → who is dead ahead of them, due in ${due} ms, goes after one trial (FG23)`, async () => {
      const site = new Site()
      for (const number of [1, 2]) site.stands(`${OURS}:${number}`, site.clock.now() + due)
      const theirs = [1, 2, 3, 4, 5].map((number) => `${REDISSONS}${number}`)
      for (const owner of theirs) site.redissonAsks(owner, wait)
      const living = await site.waits(await site.client())
      const took = (owner: string): void => assert.equal(site.redissonAsks(owner, wait), null)
      let holder = HOLDER
      for (const [turn, owner] of theirs.entries()) {
        site.redissonUnlocks(holder)
        await site.clock.advance(1100)
        if (turn < 3) assert.equal(site.line().length, 8 - turn)
        took(owner)
        holder = owner
      }
      assert.equal(site.line().length, 1)
      site.redissonUnlocks(holder)
      await site.clock.advance(AT_ONCE)
      assert.ok(living.has)
    })
  }

  void test('Redisson takes its long wait off the deadline of who is not heard → that has its trial all the same (FG23)', async () => {
    const site = new Site()
    site.stands(`${OURS}:1`)
    site.redissonAsks(REDISSONS, 4 * ALLOWANCE)
    const living = await site.client()
    await site.waits(living)
    site.redissonUnlocks(HOLDER)
    await site.clock.advance(1100)
    assert.equal(site.redissonAsks(REDISSONS, 4 * ALLOWANCE), null)
    assert.ok(site.deadline(`${OURS}:1`) < site.clock.now())
    await site.clock.advance(1000)
    await site.waits(living)
    assert.equal(site.line()[0], `${OURS}:1`)
    await site.clock.advance(TRIAL)
    assert.ok(!site.line().includes(`${OURS}:1`))
  })

  void test('the lock is free, and the head that should take it leaves → it tells the next (FG13)', async () => {
    const site = new Site()
    const leaving = new AbortController()
    await site.waits(await site.client(), { signal: leaving.signal })
    const next = await site.waits(await site.client())
    site.run('DEL', 'a')
    leaving.abort()
    await site.clock.advance(AT_ONCE)
    assert.ok(next.has)
  })

  void test('one of ours that lives is ahead of an overdue one of Redisson’s → who comes after them is not sent to sleep for ever (FG19)', async () => {
    const site = new Site()
    await site.waits(await site.client())
    site.redissonAsks(REDISSONS, ALLOWANCE)
    await site.held(3 * ALLOWANCE)
    assert.equal(site.line()[1], REDISSONS)
    const pause = site.redissonAsks(`${REDISSONS}3`, ALLOWANCE)
    assert.ok(Number(pause) >= 0, `${String(pause)} ms`)
  })

  void test('a trial lasts longer than the allowance → nobody behind is overdue before it is over (FG19)', async () => {
    const [site, allowance] = [new Site(), 1000]
    site.hears(`${GRANTS}:${OURS}`)
    for (const number of [1, 2]) site.stands(`${OURS}:${number}`, site.clock.now() + allowance * number)
    for (const number of [3, 4]) site.redissonAsks(`${REDISSONS}${number}`, allowance)
    await (await site.client(undefined, allowance)).fairLock('a').forceRelease()
    await site.clock.advance(TRIAL - 1)
    const pause = site.redissonAsks(`${REDISSONS}5`, allowance)
    assert.ok(Number(pause) >= 0, `${String(pause)} ms`)
    await site.clock.advance(2)
    site.run('LREM', QUEUE, 0, `${OURS}:2`)
    site.run('ZREM', DEADLINES, `${OURS}:2`)
    assert.equal(site.redissonAsks(`${REDISSONS}3`, allowance), null)
  })

  void test('one of Redisson’s is overdue and dropped → it is told, and asks again if it lives (FG19)', async () => {
    const site = new Site()
    const client = await site.client()
    const overdue = (owner: string): string[] => {
      site.stands(owner, site.clock.now() - 1)
      return site.hears(`${CHANNEL}:${owner}`)
    }
    const heard = [overdue(`${REDISSONS}3`)]
    const waiter = await site.waits(client)
    site.run('DEL', 'a')
    await site.clock.advance(1100)
    await waiter.hold?.release()
    heard.push(overdue(`${REDISSONS}4`))
    assert.ok(await client.fairLock('a').tryAcquire())
    assert.deepEqual(heard, [['0'], ['0']])
  })

  void test('who has gone joins late → it is out again when no copy can come any more (FG18)', async () => {
    const site = new Site()
    const driver = new LateDriver(site)
    const call = (await site.client(driver)).fairLock('a').acquire({ wait: 100 })
    call.catch(() => undefined)
    while (driver.done === 0) await site.clock.advance(10)
    assert.ok(site.line().length > 0)
    await assert.rejects(call)
    await site.clock.advance(3000)
    assert.deepEqual(site.line(), [])
  })

  void test('extended before the server hears that a grant goes on → trusted no longer than the server does (FG22)', async () => {
    const site = new Site()
    site.run('DEL', 'a')
    const first = await (await site.client()).fairLock('a').acquire()
    const waiter = await site.waits(await site.client(new OvertakenDriver(site)), { lease: 1000 })
    await site.clock.advance(AT_ONCE)
    await first.release()
    await site.clock.advance(1)
    const hold = waiter.hold!
    let done = false
    void hold.extend(5000).then(() => (done = true))
    while (!done) await site.clock.advance(10)
    await site.clock.advance(400)
    assert.ok(hold.remaining() > 3000)
    assert.ok(hold.remaining() <= Number(site.run('PTTL', 'a')), `${hold.remaining()} ms are trusted`)
  })

  void test('two calls of one owner wait, and one is granted → the other has it when the server has heard (FG22)', async () => {
    const site = new Site()
    site.run('DEL', 'a')
    const first = await (await site.client()).fairLock('a').acquire()
    const client = await site.client(new OvertakenDriver(site))
    const owner = client.owner()
    const waiter = await site.waits(client, { owner, lease: 1000 })
    let line: string[] | undefined
    void client
      .fairLock('a')
      .acquire({ owner, lease: 1000 })
      .then(() => (line = site.line()))
    await site.clock.advance(AT_ONCE)
    await first.release()
    await site.clock.advance(1)
    assert.ok(waiter.has)
    while (line === undefined) await site.clock.advance(10)
    assert.deepEqual(line, [])
  })

  void test('extended when nobody answered whether a grant goes on → lost and told, not longer by a word that may be taken back (FG22)', async () => {
    const site = new Site()
    site.run('DEL', 'a')
    const first = await (await site.client()).fairLock('a').acquire()
    const waiter = await site.waits(await site.client(new OvertakenDriver(site, true)), { lease: 1000 })
    await site.clock.advance(AT_ONCE)
    await first.release()
    await site.clock.advance(1)
    const extended = waiter.hold!.extend(5000)
    extended.catch(() => undefined)
    await site.clock.advance(1000)
    await assert.rejects(extended, LockLostError)
    assert.equal(waiter.hold?.state, 'lost')
  })
})
