import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, type Hold } from 'holdfast'
import { checkHistory, type Stay } from '../support/history.js'
import { fieldOf } from '#src/sync/keyed-lock/fields.js'
import { keyed, listened } from './support/actors.js'
import { type Arena, arena } from './support/arena.js'
import { plainListeners } from './support/names.js'
import { type Same, sameStep, type Seen } from './support/programs.js'
import { NEWEST, type Redisson } from './support/redisson.js'
import { stateSuite } from './support/state-suite.js'

/** Ends as what is left at the time of the look, in steps that are wider than a machine is slow. */
const withEnds = (seen: Seen): Seen => ({
  ...seen,
  keys: seen.keys.map((entry) => ({
    ...entry,
    value: (entry.value as [string, string][]).map(([field, value]) =>
      field.endsWith(':expire_time') ? [field, Math.round((Number(value) - seen.at) / 20_000)] : [field, value],
    ),
  })),
})

/** Redisson tells also when nothing is free; ours when something is. */
const same: Same = (expected, actual, before) => {
  const freed = (before?.keys.length ?? 0) > expected.keys.length
  const told = freed || actual.messages.length > 0
  const messages = told ? expected.messages.slice(0, 1) : []
  return sameStep(
    withEnds({ ...expected, messages }),
    withEnds({ ...actual, messages: actual.messages.slice(0, 1) }),
    before,
  )
}

stateSuite(NEWEST, keyed('a', 'b'), {
  same,
  names: ['N', 'a:{N}:b'],
  programs: {
    'taken and given back': 'X lock; X unlock; X lock; X unlock',
    'taken with a lease': 'X lock 10000; X unlock; X lock 50000; X unlock',
    'tried without waiting': 'X tryLock; Y tryLock; X unlock; Y tryLock; X tryLock; Y unlock',
    'tried with a wait and a lease':
      'X tryLock 100 10000; Y tryLock 150 10000; X unlock; Y tryLock 100 50000; Y unlock',
    'taken again by its owner': 'X lock; X lock; X lock; X unlock; Y tryLock; X unlock; X unlock; X unlock',
    'taken again with a longer lease': 'X lock 10000; X lock 50000; X unlock; X unlock',
    'given back by who does not hold it': 'Y unlock; X lock; Y unlock; X unlock; X unlock; Y unlock',
    'run out': 'X lock 400; sleep 600; X unlock; X lock 400; sleep 600; Y lock; X unlock; Y unlock',
    'waited for': 'X lock; Y lock &; X unlock; Y wait; X lock &; Y unlock; X wait; X unlock',
    'asked about': 'X isLocked; X lock 50000; X isLocked; Y isLocked; X unlock; Y isLocked',
  },
})

// Of one key only: of several, Redisson's answer says that none was.
stateSuite(NEWEST, keyed('a'), {
  same,
  programs: { 'taken away by another': 'X lock; Y forceUnlock; X unlock; Y lock; X unlock; Y unlock' },
})

const ROUNDS = 15

void describe(`keys of one group, Redisson ${NEWEST} and ours`, () => {
  const enter = arena(NEWEST)

  const scenario = (title: string, body: (here: Arena, client: Client) => Promise<void>): void => {
    void test(title, { timeout: 120_000 }, async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const client = await connect({ url: here.url, presence: false })
      try {
        await body(here, client)
        for (const end = performance.now() + 3000; (await here.redis.dbsize()) > 0 && performance.now() < end;)
          await sleep(20)
        assert.deepEqual(await here.redis.keys('*'), [])
      } finally {
        await client.close()
        await here.redis.flushall()
      }
    })
  }

  const theirs = (java: Redisson, group: string, keys: string) => java.lock(`keyed:${keys}`, group)

  scenario('values of every length and script → the same fields', async ({ java, redis }) => {
    const values = [
      '',
      'a',
      'student:001',
      'é ü 漢字 🙂',
      'x'.repeat(31),
      'y'.repeat(32),
      'z'.repeat(33),
      'w'.repeat(100),
    ]
    for (const [index, value] of values.entries()) {
      const lock = theirs(java, `hash:${index}`, value)
      await lock.lock('hasher', 20_000)
      const fields = await redis.hkeys(`hash:${index}`)
      assert.ok(fields.includes(fieldOf(value)), `${value}: ${fields.join()}`)
      await lock.unlock('hasher')
    }
  })

  scenario(
    'sets that overlap exclude, sets that do not share the group; each leaves the other’s',
    async (here, client) => {
      const { java, redis } = here
      const [ab, bc] = [theirs(java, 'g', 'a,b'), theirs(java, 'g', 'b,c')]
      assert.equal(await ab.tryLock('t1'), true)
      assert.equal(await client.keyedLock('g', ['b', 'c']).tryAcquire(), undefined)
      assert.equal(await client.keyedLock('g', ['b', 'c']).isLocked(), true)
      const apart = await client.keyedLock('g', ['c', 'd']).tryAcquire({ lease: 60_000 })
      assert.ok(apart !== undefined)
      assert.equal(await bc.tryLock('t2'), false)
      assert.equal(await bc.isLocked(), true)
      const [holder] = (await client.keyedLock('g', ['a']).inspect()).holders
      assert.deepEqual([holder?.client, holder?.count, holder?.keys], [java.id, 1, ['a']])
      await ab.unlock('t1')
      assert.equal((await redis.hkeys('g')).length, 6, 'ours stay')
      assert.equal(await ab.tryLock('t1'), true)
      assert.equal(await apart.release(), true)
      assert.equal((await redis.hkeys('g')).length, 6, 'theirs stay')
      assert.equal(await theirs(java, 'g', 'c').tryLock('t2'), true)
      await theirs(java, 'g', 'c').unlock('t2')
      await ab.unlock('t1')
    },
  )

  for (const [holding, waiting] of [
    ['java', 'node'],
    ['node', 'java'],
  ] as const) {
    scenario(
      `${holding} gives back what ${waiting} waits for → woken, long before the lease’s end`,
      async (here, client) => {
        const [mine, other] = [theirs(here.java, 'w', 'a,b'), client.keyedLock('w', ['b', 'c'])]
        const found: number[] = []
        for (let round = 0; round < ROUNDS; round++) {
          if (holding === 'java') {
            await mine.lock('t1')
            const granted = other.acquire()
            await listened(() => plainListeners(here.redis, 'w'), 1)
            const freed = performance.now()
            await mine.unlock('t1')
            const hold = await granted
            found.push(performance.now() - freed)
            assert.equal(await hold.release(), true)
          } else {
            const hold: Hold = await other.acquire()
            const granted = mine.lock('t1')
            await listened(() => plainListeners(here.redis, 'w'), 1)
            const freed = performance.now()
            assert.equal(await hold.release(), true)
            await granted
            found.push(performance.now() - freed)
            await mine.unlock('t1')
          }
          // A subscription that lingers would be taken for that of who waits next.
          await listened(async () => ((await plainListeners(here.redis, 'w')) === 0 ? 1 : 0), 1)
        }
        found.sort((one, two) => one - two)
        assert.ok((found[Math.floor(ROUNDS / 2)] ?? NaN) < 300 && (found.at(-1) ?? NaN) < 1500, found.join())
      },
    )
  }

  scenario('an overdue hold of either → the other’s when its end is over', async (here, client) => {
    const keeps = await client.keyedLock('o', ['z']).acquire({ lease: 60_000 })
    await theirs(here.java, 'o', 'a').lock('t1', 700)
    const hold = await client.keyedLock('o', ['a', 'b']).acquire({ lease: 900 })
    assert.equal(await theirs(here.java, 'o', 'b,c').tryLock('t2', 5000, 20_000), true)
    assert.equal(hold.state, 'lost')
    await theirs(here.java, 'o', 'b,c').unlock('t2')
    assert.equal(await keeps.release(), true)
    await here.redis.del('o')
  })

  scenario('threads and owners of both on sets that overlap → one inside each key at a time', async (here, client) => {
    const sets = ['a,b', 'b,c', 'c,a', 'a,b,c']
    const stays = new Map('abc'.split('').map((key) => [key, [] as Stay[]]))
    const visit = async (who: string, set: string, work: () => Promise<unknown>): Promise<void> => {
      const from = process.hrtime.bigint()
      await sleep(1)
      const to = process.hrtime.bigint()
      for (const key of set.split(',')) stays.get(key)?.push({ who: `${who}/${from}`, from, to })
      await work()
    }
    const javaWorker = async (index: number): Promise<void> => {
      for (let round = 0; round < 25; round++) {
        const set = sets[(index + round) % sets.length] as string
        const lock = theirs(here.java, 'busy', set)
        await lock.lock(`t${index}`, 20_000)
        await visit(`java${index}`, set, () => lock.unlock(`t${index}`))
      }
    }
    const nodeWorker = async (index: number): Promise<void> => {
      for (let round = 0; round < 25; round++) {
        const set = sets[(index + round) % sets.length] as string
        const hold = await client.keyedLock('busy', set.split(',')).acquire({ lease: 20_000 })
        await visit(`node${index}`, set, () => hold.release())
      }
    }
    await Promise.all([0, 1, 2].flatMap((index) => [javaWorker(index), nodeWorker(index)]))
    for (const some of stays.values()) checkHistory(some)
  })
})
