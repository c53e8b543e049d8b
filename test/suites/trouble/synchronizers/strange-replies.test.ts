import assert from 'node:assert/strict'
import type { Permit } from 'holdfast'
import { type Part, type Scene, strangeReplies } from '../../../support/strange-replies.js'

const THERE = 5

const count = ({ raw, name }: Scene): number => Number(raw('GET', name))

/** What nobody takes: the calls that make it, ask about it and end it, on a name of their own. */
const keep = (kept: {
  exists(): Promise<boolean>
  remaining(): Promise<number | undefined>
  expire(ms: number): Promise<boolean>
  clearExpire(): Promise<boolean>
  delete(): Promise<boolean>
}): (() => Promise<unknown>)[] => [
  () => kept.exists(),
  () => kept.remaining(),
  () => kept.expire(600_000),
  () => kept.clearExpire(),
  () => kept.delete(),
]

/**
 * What is done with notes, and who leaves a line, goes on behind the callers; of a renewal its permit tells: it is uncertain; and an expiry may be
 * as far away as anybody likes.
 */
const tells = (question: string): boolean =>
  !['DEL', 'PEXPIRE', 'PTTL', 'permit-semaphore/renew', 'rate-limiter/leave'].includes(question)

const semaphore: Part = {
  name: 'semaphore',
  tells,
  async use(scene, attempt) {
    const { one, other, name, raw, pass } = scene
    raw('SET', name, THERE)
    const [mine, theirs] = [one.semaphore(name), other.semaphore(name)]
    let taken = 0
    const check = (): void => assert.ok(count(scene) <= THERE - taken, `${count(scene)} are left, ${taken} are taken`)
    const had = (permits: number): void => {
      taken += permits
      check()
    }
    if ((await attempt(mine.acquire({ permits: 3 }).then(() => true))) === true) had(3)
    if ((await attempt(mine.tryAcquire())) === true) had(1)
    const used = await attempt(mine.using({ wait: 100 }, () => check()).then(() => true))
    assert.ok(used === undefined || count(scene) <= THERE - taken)
    const abort = new AbortController()
    const waiting = attempt(theirs.acquire({ permits: 4, wait: 20_000 }).then(() => true))
    const leaving = attempt(theirs.acquire({ permits: 5, signal: abort.signal }).then(() => true))
    await pass(1500)
    abort.abort(new Error('left'))
    // A release that rejects may have been done, and was: it is asked for until its note answers.
    const before = taken
    taken = 0
    if (before > 0) await attempt(mine.release(before))
    const second = await waiting
    const third = await leaving
    if (second === true) had(4)
    if (third === true) had(5)
    const rest = taken
    taken = 0
    if (rest > 0) await attempt(theirs.releaseIfExists(rest))
    const another = one.semaphore('m')
    const steps = [
      () => another.trySetPermits(3),
      () => another.addPermits(2),
      () => another.available(),
      () => another.drain(),
      ...keep(another),
    ]
    for (const step of steps) await attempt<unknown>(step())
  },
  async after(scene) {
    const { one, name, run, raw } = scene
    assert.equal(count(scene), THERE, 'permits that are left')
    await run(one.semaphore(name).using({ permits: THERE }, () => undefined))
    raw('DEL', name, 'm')
  },
}

const permitSemaphore: Part = {
  name: 'permit semaphore',
  tells,
  async use(scene, attempt) {
    const { one, other, name, raw, pass } = scene
    raw('SET', name, THERE)
    const [mine, theirs] = [one.permitSemaphore(name), other.permitSemaphore(name)]
    const held: Permit[] = []
    const had = (permits: readonly (Permit | undefined)[] | undefined): void => {
      held.push(...(permits ?? []).filter((permit) => permit !== undefined))
      const live = held.filter(({ state }) => state === 'held').length
      assert.ok(Number(raw('ZCARD', `{${name}}:timeout`)) >= live, `${live} are held`)
    }
    had([await attempt(mine.acquire({ lease: 60_000 }))])
    had([await attempt(mine.tryAcquire({ renew: true }))])
    had(await attempt(mine.acquireMany(2)))
    const waiting = attempt(theirs.acquireMany(3, { wait: 20_000 }))
    await pass(12_000)
    for (const { id } of held.slice(0, 1)) {
      await attempt(mine.extend(id, 90_000))
      await attempt(mine.leaseTime(id))
    }
    for (const ask of [() => mine.available(), () => mine.acquired(), () => mine.permits()]) await attempt(ask())
    for (const permit of held.splice(0)) {
      if (held.length === 0) await attempt(permit.release())
      else await attempt(mine.tryRelease(permit.id))
    }
    had(await waiting)
    for (const permit of held.splice(0)) await attempt(permit.release())
    const another = one.permitSemaphore('m')
    const steps = [
      () => another.trySetPermits(3),
      () => another.setPermits(4),
      () => another.addPermits(2),
      ...keep(another),
    ]
    for (const step of steps) await attempt<unknown>(step())
  },
  async after({ one, name, run, raw }) {
    assert.equal(await run(one.permitSemaphore(name).available()), THERE)
    raw('DEL', name, 'm', `{${name}}:timeout`)
  },
}

const latch: Part = {
  name: 'latch',
  tells,
  async use({ one, other, name, raw, pass }, attempt) {
    raw('SET', name, 2)
    const mine = one.countDownLatch(name)
    const waiting = attempt(other.countDownLatch(name).wait({ wait: 20_000 }))
    const opened = await attempt(mine.wait({ wait: 300 }))
    assert.notEqual(opened, true, 'it is closed')
    await attempt(mine.count())
    await attempt(mine.countDown())
    await pass(1500)
    await attempt(mine.countDown())
    if ((await waiting) === true) assert.equal(raw('EXISTS', name), 0)
    await attempt(mine.trySetCount(3))
    for (const step of keep(mine)) await attempt<unknown>(step())
  },
  async after({ one, name, run, raw }) {
    raw('DEL', name)
    assert.equal(await run(one.countDownLatch(name).wait()), true)
  },
}

const RATE = { permits: 4, interval: 3_600_000 }

const rateLimiter: Part = {
  name: 'rate limiter',
  tells,
  async use({ one, other, name, run, raw, pass }, attempt) {
    const [mine, theirs] = [one.rateLimiter(name), other.rateLimiter(name)]
    await attempt(mine.trySetRate(RATE))
    let granted = 0
    const had = (permits: number): void => {
      granted += permits
      assert.ok(granted <= RATE.permits, `${granted} of ${RATE.permits}`)
    }
    if ((await attempt(mine.acquire({ permits: 2, wait: 5000 }).then(() => true))) === true) had(2)
    for (const limiter of [mine, theirs, mine]) {
      const decision = await attempt(limiter.tryAcquire({ rate: RATE }))
      if (decision?.allowed === true) had(1)
      assert.ok(decision === undefined || (decision.allowed ? true : decision.retryAfter > 0))
    }
    const waiting = attempt(theirs.acquire({ permits: 2, wait: 3000 }).then(() => true))
    await pass(500)
    for (const ask of [() => mine.available(), () => mine.rate()]) await attempt<unknown>(ask())
    if ((await run(waiting)) === true) had(2)
    await attempt(mine.release())
    const another = one.rateLimiter('m')
    const steps = [
      () => another.setRate(RATE),
      () => another.updateRate({ ...RATE, keepState: true }),
      ...keep(another),
    ]
    for (const step of steps) await attempt<unknown>(step())
    raw('DEL', 'm')
  },
  async after({ one, name, run, raw }) {
    await run(one.rateLimiter(name).setRate(RATE))
    await run(one.rateLimiter(name).acquire({ permits: RATE.permits }))
    for (const key of raw('KEYS', `*${name}*`) as string[]) raw('DEL', key)
    raw('DEL', 'm')
  },
}

const topics: Part = {
  name: 'topics',
  tells,
  async use({ one, other, name, pass }, attempt) {
    const heard: unknown[] = []
    await attempt(one.topic(name).subscribe((message) => void heard.push(message)))
    await attempt(one.patternTopic(`${name}*`).subscribe((message) => void heard.push(message)))
    for (const message of [1, 2]) {
      const receivers = await attempt(other.topic(name).publish(message))
      assert.ok(receivers === undefined || receivers === 2, `${receivers} receivers`)
    }
    const subscribers = await attempt(other.topic(name).subscribers())
    assert.ok(subscribers === undefined || subscribers === 1, `${subscribers} subscribers`)
    const active = await attempt(other.patternTopic(`${name}*`).activeTopics())
    assert.ok(active === undefined || active.join() === name)
    await pass(10)
    assert.deepEqual(heard, [1, 1, 2, 2])
    await attempt(one.topic(name).unsubscribeAll())
  },
  async after({ one, other, name, run, pass }) {
    const heard: unknown[] = []
    await run(one.topic(name).subscribe((message) => void heard.push(message)))
    await run(other.topic(name).publish('late'))
    await pass(10)
    assert.deepEqual(heard, ['late'])
  },
}

/** What a client asks of the server on its own, and what it shows of others. */
const client: Part = {
  name: 'client',
  options: { presence: true, label: 'mine' },
  async use({ one, other, name, open }, attempt) {
    const hold = await attempt(one.lock(name).acquire())
    const state = await attempt(other.lock(name).inspect())
    const label = state?.holders[0]?.label
    assert.ok(label === undefined || label === 'mine', String(label))
    const health = await attempt(other.health())
    assert.ok(health === undefined || health.state === 'up' || health.latency === undefined)
    const third = await attempt(open())
    for (const warning of third?.warnings ?? []) assert.doesNotMatch(warning, /undefined|NaN ms/)
    if (third !== undefined) await attempt(third.lock('m').using(() => undefined))
    if (hold !== undefined) await attempt(hold.release())
  },
  async after({ other, name, run }) {
    await run(other.lock(name).using(() => undefined))
  },
}

strangeReplies('a strange reply to what many may have', [semaphore, permitSemaphore, latch, rateLimiter], Infinity)
strangeReplies('a strange reply to a plain command', [topics, client], Infinity)
