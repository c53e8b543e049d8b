import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect } from 'holdfast'
import { type Arena, arena } from './support/arena.js'
import { type Actor, type Compared, listened } from './support/actors.js'
import { LATCH, PERMITS, SEMAPHORE } from './support/counts.js'
import type { Entry } from './support/key-space.js'
import { near, type Program, sameEntries, type Same, type Seen } from './support/programs.js'
import { NEWEST, now, type Redisson } from './support/redisson.js'
import { stateSuite } from './support/state-suite.js'

const SEMAPHORES: Readonly<Record<string, Program>> = {
  'made, taken, given back, added, taken away, drained':
    'X trySetPermits 10; Y trySetPermits 5; X acquire 3; Y availablePermits; Y acquire 7; X tryAcquire 1; Y release 4; ' +
    'X tryAcquire 4; X release 10; Y drainPermits; X drainPermits; Y addPermits 5; X addPermits -9; Y availablePermits; ' +
    'X tryAcquire 1; X release 9; Y release 0; X tryAcquire 0; Y availablePermits; X delete; Y delete; Y release 2; X delete',
  'waited for':
    'X trySetPermits 1; X acquire 1; Y acquire 1 &; X release 1; Y wait; X acquire 2 &; Y release 2; X wait; Y delete',
  'waited for in vain': 'X trySetPermits 1; Y tryAcquire 2 300; X tryAcquire 1 300; X availablePermits; Y delete',
  'added for who waits': 'X addPermits 1; Y acquire 3 &; X addPermits 2; Y wait; X availablePermits; X delete',
  'an expiry of the whole':
    'X trySetPermits 5; Y expire 60000; X acquire 2; Y release 1; Y clearExpire; X clearExpire; X expire 60000; Y delete; Y expire 5000',
}

const PERMIT_SEMAPHORES: Readonly<Record<string, Program>> = {
  'taken for a while and for ever, given back by either':
    'X trySetPermits 3; Y trySetPermits 5; X acquire 60000; Y acquire; X availablePermits; Y acquire 30000; X tryAcquire; ' +
    'Y tryRelease 0; X tryRelease 0; X release 1; Y release 2; X release 2; Y availablePermits; X delete',
  'a lease changed by its id':
    'X trySetPermits 2; X acquire; Y acquire 60000; Y extend 0 30000; X extend 1 30000; Y extend 9 1000; Y release 0; ' +
    'X release 1; Y delete',
  'waited for':
    'X trySetPermits 1; X acquire; Y acquire 60000 &; X release 0; Y wait; X acquire &; Y release 1; X wait; Y release 2; X delete',
  'run out': 'X trySetPermits 2; X acquire 400; Y acquire 400; sleep 600; X availablePermits; Y tryRelease 0; X delete',
}

const OF_THE_NEWEST: Readonly<Record<string, Program>> = {
  'how long they last':
    'X trySetPermits 2; X acquire; Y acquire 60000; X leaseTime 0; X leaseTime 1; Y leaseTime 0; Y extend 0 30000; ' +
    'X extend 1 30000; Y leaseTime 1; X leaseTime 0; X leaseTime 9; Y extend 9 1000; Y release 0; X release 1; Y delete',
  'many at once':
    'X trySetPermits 10; Y acquireMany 6 60000; X acquiredPermits; X tryReleaseMany 0 1 9; X tryReleaseMany 0 1; Y getPermits; ' +
    'X acquireMany 2; Y release 2 3; Y acquiredPermits; X release 4 5 6 7; Y availablePermits; Y delete',
  'as many in all':
    'X setPermits 4; Y acquire 60000; Y setPermits 2; X availablePermits; X acquiredPermits; Y getPermits; X addPermits 3; ' +
    'X addPermits -9; Y availablePermits; Y setPermits 1; X getPermits; X release 0; Y delete',
  'an expiry of the whole':
    'X trySetPermits 5; Y expire 60000; X acquire 60000; Y acquire; X clearExpire; Y release 0; Y delete',
  'run out before they are given back':
    'X trySetPermits 5; X acquireMany 2 400; Y acquireMany 2; sleep 600; Y tryReleaseMany 2 3; X availablePermits; X delete',
}

const LATCHES: Readonly<Record<string, Program>> = {
  'counted down':
    'X trySetCount 2; Y trySetCount 3; Y getCount; X countDown; Y getCount; Y countDown; X getCount; X countDown; Y await; X await; ' +
    'Y trySetCount 1; X delete; Y delete; X await',
  'waited for by both': 'X trySetCount 2; Y await &; Z await &; X countDown; X getCount; X countDown; Y wait; Z wait',
  'waited for in vain': 'X trySetCount 1; Y await 300; X getCount; Y delete',
}

const count = (message: string): number => Number(message.split(' ').at(-1))

/** Redisson tells none and debts too, on which its own waiters fail or sleep on. */
const sameCounts: Same = (a, b) => {
  const told = ({ messages }: Seen): string => messages.filter((message) => count(message) > 0).join()
  return near(a.result, b.result) && told(a) === told(b) && sameEntries(a, b)
}

const PERMANENT = 922_337_203_685_477

/** Ids are random: what counts is how long each lasts. */
const withoutIds = (seen: Seen): Seen => {
  const left = ([, score]: readonly [string, string]): number =>
    Number(score) === PERMANENT ? Infinity : Math.round((Number(score) - seen.at) / 5000)
  const keys = seen.keys.map((entry): Entry => {
    if (entry.type !== 'zset') return entry
    return { ...entry, value: (entry.value as [string, string][]).map(left).sort((a, b) => a - b) }
  })
  return { ...seen, keys }
}

const firstOf = (result: unknown): unknown => (Array.isArray(result) ? result.join() : result)

/** What they tell means something else for each step, so it is a hint only; see the wake-ups. */
const samePermits: Same = (a, b) =>
  near(firstOf(a.result), firstOf(b.result)) && sameEntries(withoutIds(a), withoutIds(b))

/** Redisson's waiters wait on when a latch is deleted; after our 0 they look. */
const sameLatches: Same = (a, b) =>
  near(a.result, b.result) &&
  sameEntries(a, b) &&
  (a.messages.join() === b.messages.join() ||
    (a.step.endsWith('delete') && a.messages.every((message) => b.messages.includes(message))))

stateSuite(NEWEST, SEMAPHORE, { programs: SEMAPHORES, same: sameCounts })
stateSuite(NEWEST, PERMITS, { programs: { ...PERMIT_SEMAPHORES, ...OF_THE_NEWEST }, same: samePermits })
stateSuite(NEWEST, LATCH, { programs: LATCHES, same: sameLatches })
stateSuite('3.17.7', PERMITS, { programs: PERMIT_SEMAPHORES, same: samePermits })
stateSuite('3.16.8', PERMITS, { programs: PERMIT_SEMAPHORES, same: samePermits, ours: { redisson: '3.16' } })

// ---- wake-ups ----------------------------------------------------------------------------------------------------

interface Waking {
  readonly both: Compared
  /** On the freeing side: what there is before, and what wakes. */
  readonly before: readonly string[]
  readonly wakes: string
  readonly waits: string
}

const WAKINGS: Readonly<Record<string, Waking>> = {
  'a permit given back': {
    both: SEMAPHORE,
    before: ['trySetPermits 1', 'acquire 1'],
    wakes: 'release 1',
    waits: 'acquire 1',
  },
  'permits added': { both: SEMAPHORE, before: ['trySetPermits 0'], wakes: 'addPermits 2', waits: 'acquire 2' },
  'a permit given back by its id': {
    both: PERMITS,
    before: ['trySetPermits 1', 'acquire'],
    wakes: 'release 0',
    waits: 'acquire',
  },
  'a latch counted down': { both: LATCH, before: ['trySetCount 1'], wakes: 'countDown', waits: 'await' },
}

const run = (actor: Actor, name: string, step: string): Promise<unknown> => {
  const [operation = '', ...args] = step.split(' ')
  return actor.run(name, operation, args.map(Number))
}

const ROUNDS = 10
/** What a message takes is below a millisecond; what a loaded machine takes may be hundreds. A poll takes a second. */
const MOST = 1500

const latencies = async (
  { redis }: Arena,
  waking: Waking,
  [frees, waits]: readonly [Actor, Actor],
): Promise<number[]> => {
  const { both, before, wakes, waits: waiting } = waking
  const found: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const name = `${both.kind} ${frees.side} ${waits.side} ${wakes} ${round}`
    for (const step of before) await run(frees, name, step)
    const had = run(waits, name, waiting).then(() => now())
    await listened(() => both.listeners(redis, name), 1)
    const from = now()
    await run(frees, name, wakes)
    found.push((await had) - from)
    await redis.del(name, `{${name}}:timeout`)
  }
  return found.sort((a, b) => a - b)
}

void describe(`wake-ups of semaphores and latches, beside Redisson ${NEWEST}`, () => {
  const enter = arena(NEWEST)
  for (const [title, waking] of Object.entries(WAKINGS)) {
    void test(`${title} → who waits on the other side goes on`, { timeout: 60_000 }, async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const theirs = waking.both.java(await here.java.another({ url: here.url }))
      const ours = await waking.both.node(here.url)
      try {
        for (const pair of [
          [theirs, ours],
          [ours, theirs],
        ] as const) {
          const found = await latencies(here, waking, pair)
          const [median = NaN, most = NaN] = [found[ROUNDS / 2], found.at(-1)]
          t.diagnostic(
            `${pair[0].side} → ${pair[1].side}: ${median.toFixed(1)} ms (median), ${most.toFixed(1)} ms (most)`,
          )
          assert.ok(median < MOST / 5 && most < MOST, found.join())
        }
      } finally {
        await Promise.all([ours.close(), theirs.close()])
        await here.redis.flushall()
      }
    })
  }

  void test('our latch deleted → Redisson’s waiters go on too', async (t) => {
    const here = enter(t)
    if (here === undefined) return
    const ours = await LATCH.node(here.url)
    const theirs = LATCH.java(await here.java.another({ url: here.url }))
    try {
      await run(ours, 'deleted', 'trySetCount 5')
      const waiting = run(theirs, 'deleted', 'await')
      await listened(() => LATCH.listeners(here.redis, 'deleted'), 1)
      await run(ours, 'deleted', 'delete')
      assert.equal(await waiting, true)
    } finally {
      await Promise.all([ours.close(), theirs.close()])
    }
  })
})

// ---- contention --------------------------------------------------------------------------------------------------

/** From when a permit was surely had until it was about to be given back; ms of the machine's monotonic clock. */
interface Stay {
  readonly side: Actor['side']
  readonly from: number
  readonly to: number
}

const SECONDS = 4
const PERMITS_THERE = 3
const WORKERS = 8

const until = async (end: number, visit: () => Promise<Stay>): Promise<Stay[]> => {
  const stays: Stay[] = []
  while (now() < end) stays.push(await visit())
  return stays
}

const held = async (side: Actor['side'], from: number): Promise<Stay> => {
  await sleep(1 + 3 * Math.random())
  return { side, from, to: now() }
}

const VISITS = {
  semaphore: {
    java: (redisson: Redisson) => async () => {
      const acquiring = redisson.lock('semaphore', 'busy').call('acquireAsync', [])
      await acquiring
      const stay = await held('java', (await acquiring.times()).end)
      await redisson.lock('semaphore', 'busy').call('releaseAsync', [])
      return stay
    },
    node: (client: Client) => async () => {
      let stay: Stay | undefined
      await client.semaphore('busy').using(async () => {
        stay = await held('node', now())
      })
      return stay as unknown as Stay
    },
  },
  permits: {
    java: (redisson: Redisson) => async () => {
      const acquiring = redisson.lock('permits', 'busy').call<string>('acquireAsync', [])
      const id = await acquiring
      const stay = await held('java', (await acquiring.times()).end)
      await redisson.lock('permits', 'busy').call('releaseAsync', [id])
      return stay
    },
    node: (client: Client) => async () => {
      const permit = await client.permitSemaphore('busy').acquire({ renew: true })
      const stay = await held('node', now())
      assert.equal(await permit.release(), true)
      return stay
    },
  },
} as const

const mostAtOnce = (stays: readonly Stay[]): number => {
  const turns = stays.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ])
  // Who leaves in the same instant has left.
  turns.sort((a, b) => a.at - b.at || a.by - b.by)
  let [inside, most] = [0, 0]
  for (const { by } of turns) most = Math.max(most, (inside += by))
  return most
}

void describe(`${PERMITS_THERE} permits, two clients of Redisson ${NEWEST} and two of ours`, () => {
  const enter = arena(NEWEST)
  for (const kind of ['semaphore', 'permits'] as const) {
    void test(
      `${kind}: ${4 * WORKERS} workers → never more inside, nobody forgotten, all back`,
      { timeout: 60_000 },
      async (t) => {
        const here = enter(t)
        if (here === undefined) return
        const theirs = [here.java, await here.java.another({ url: here.url })]
        const ours = [
          await connect({ url: here.url, presence: false }),
          await connect({ url: here.url, presence: false }),
        ]
        try {
          await here.redis.set('busy', PERMITS_THERE)
          const end = now() + 1000 * SECONDS
          const visits = [...theirs.map(VISITS[kind].java), ...ours.map(VISITS[kind].node)]
          const workers = visits.flatMap((visit) => Array.from({ length: WORKERS }, () => until(end, visit)))
          const each = await Promise.all(workers)
          const stays = each.flat()
          const part = stays.filter(({ side }) => side === 'java').length / stays.length
          t.diagnostic(
            `${stays.length} visits, Redisson’s share ${(100 * part).toFixed(0)} %, most inside ${mostAtOnce(stays)}`,
          )
          assert.ok(mostAtOnce(stays) <= PERMITS_THERE, `${mostAtOnce(stays)} were inside`)
          assert.equal(mostAtOnce(stays), PERMITS_THERE, 'never full: it proves nothing')
          assert.ok(
            each.every(({ length }) => length > 0),
            'somebody never came in',
          )
          assert.equal(await here.redis.get('busy'), String(PERMITS_THERE))
          assert.equal(await here.redis.zcard('{busy}:timeout'), 0)
        } finally {
          await Promise.all(ours.map((client) => client.close()))
          await theirs[1]?.shutdown()
          await here.redis.flushall()
        }
      },
    )
  }
})
