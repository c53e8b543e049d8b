import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Client, ConfigError, connect } from 'holdfast'
import { scenarios, virtualEngine, type World } from '../../support/engines.js'
import { pttl, rejection } from '../../suites/contract/lock/kind.js'
import { PausableClock } from './pausable-clock.js'
import { type Mode, Replay } from './replay.js'

const MODES: readonly Mode[] = ['3.8', '3.16', '3.17', '4']
/** A poll, and a little. */
const TURN = 1500

/** Whose waiters stand in the queue, in order. */
const line = async (client: Client, name: string): Promise<string[]> =>
  (await client.fairLock(name).inspect()).waiting.map((waiter) => waiter.client)

/** For how long from now the first of the queue counts as alive. */
const allowed = async (w: World, client: Client): Promise<number> => {
  const [first] = (await client.fairLock(w.id).inspect()).waiting
  assert.ok(first?.deadline !== undefined)
  return first.deadline - w.now()
}

void describe('the options of the fair lock', () => {
  for (const redisson of ['5', '3', '3.9', '', 'toString', 4, null, {}]) {
    test(`redisson: ${JSON.stringify(redisson)} → ConfigError that lists what there is`, async () => {
      const error = await rejection(connect({ url: 'memory:', redisson: redisson as never }))
      assert.ok(error instanceof ConfigError, String(error))
      assert.match(error.message, /redisson must be one of '3\.8', '3\.16', '3\.17', '4'/)
    })
  }

  for (const fairWaiterTimeout of [0, -1, 1.5, NaN, Infinity, '300000', null]) {
    test(`fairWaiterTimeout: ${String(fairWaiterTimeout)} → refused by its name`, async () => {
      const error = await rejection(connect({ url: 'memory:', fairWaiterTimeout: fairWaiterTimeout as never }))
      assert.ok(error instanceof TypeError || error instanceof RangeError, String(error))
      assert.match(error.message, /fairWaiterTimeout/)
    })
  }
})

void describe('what a waiter of each mode may do', () => {
  const scenario = scenarios(virtualEngine)
  const cases: readonly [Mode, { fairWaiterTimeout?: number | undefined; wait?: number }, ms: number][] = [
    ['3.8', {}, 5000],
    ['3.8', { wait: 60_000 }, 5000],
    ['3.16', {}, 300_000],
    ['3.17', {}, 300_000],
    ['3.17', { wait: 60_000 }, 60_000],
    ['3.17', { fairWaiterTimeout: 20_000 }, 20_000],
    ['4', {}, 300_000],
    ['4', { wait: 60_000 }, 300_000],
    ['4', { fairWaiterTimeout: 20_000 }, 20_000],
    ['4', { fairWaiterTimeout: undefined }, 300_000],
  ]
  for (const [redisson, { wait, ...options }, ms] of cases) {
    scenario(
      `${redisson} ${JSON.stringify({ ...options, wait })} → silent for ${ms} ms beyond the lease`,
      async (w) => {
        const client = await w.connect({ redisson, ...options })
        const lock = client.fairLock(w.id)
        const hold = await lock.acquire({ lease: 200_000 })
        const next = lock.acquire({ wait })
        await w.pass(5)
        const left = (await allowed(w, client)) - (await pttl(w, w.id))
        assert.ok(Math.abs(left - ms) < 10, `${left} ms`)
        await hold.release()
        await (await w.run(next)).release()
      },
    )
  }
})

for (const redisson of MODES) {
  void describe(`a fair lock of mode ${redisson}`, () => {
    const scenario = scenarios(virtualEngine, { redisson })

    scenario('a paused client is silent for longer than it may → dropped, and queues again at the end', async (w) => {
      assert.ok(w.clock !== undefined)
      const clock = new PausableClock(w.clock)
      const [holder, living, paused] = [await w.connect(), await w.connect(), await w.connect({ clock })]
      const hold = await holder.fairLock(w.id).acquire()
      const late = paused.fairLock(w.id).acquire()
      await w.pass(TURN)
      const next = living.fairLock(w.id).acquire()
      await w.pass(TURN)
      assert.deepEqual(await line(holder, w.id), [paused.id, living.id])
      clock.pause()
      const allowance = await allowed(w, holder)
      await w.pass(allowance - 2 * TURN)
      assert.deepEqual(await line(holder, w.id), [paused.id, living.id], 'not before')
      await w.pass(3 * TURN)
      assert.deepEqual(await line(holder, w.id), [living.id])
      clock.resume()
      await w.pass(TURN)
      assert.deepEqual(await line(holder, w.id), [living.id, paused.id])
      await hold.release()
      await (await w.run(next)).release()
      await (await w.run(late)).release()
    })

    const stays = redisson === '3.8' || redisson === '4'
    scenario(`a living waiter during a very long hold → ${stays ? 'keeps its place' : 'loses it'}`, async (w) => {
      const [holder, one, two] = [await w.connect(), await w.connect(), await w.connect()]
      const hold = await holder.fairLock(w.id).acquire()
      const waits = [one.fairLock(w.id).acquire()]
      await w.pass(TURN)
      waits.push(two.fairLock(w.id).acquire())
      await w.pass(TURN)
      const allowance = await allowed(w, holder)
      await w.pass(allowance + TURN)
      // Since 3.11 and before 4 nobody's asking again counts, as long as it waits.
      assert.deepEqual(await line(holder, w.id), stays ? [one.id, two.id] : [two.id, one.id])
      await w.pass(20 * 60_000)
      assert.equal((await line(holder, w.id)).length, 2)
      await hold.release()
      await w.run(Promise.all(waits.map(async (wait) => (await wait).release())))
    })

    if (redisson === '4') return

    scenario('nothing on the server tells it from a Redisson; one of mode 4 calls it by name', async (w) => {
      const [classic, granting] = [await w.connect(), await w.connect({ redisson: '4' })]
      const [mine, theirs] = [classic.fairLock(w.id), granting.fairLock(w.id)]
      const waits: Promise<number>[] = []
      const turns: string[] = []
      const hold = await theirs.acquire()
      for (const [label, lock] of [
        ['classic 1', mine],
        ['granting', theirs],
        ['classic 2', mine],
      ] as const) {
        const turn = lock.acquire().then(async (had) => {
          turns.push(label)
          await had.release()
          return w.now()
        })
        waits.push(turn)
        await w.pass(TURN)
      }
      const channels = (await w.raw('PUBSUB', 'CHANNELS', '*')) as string[]
      assert.deepEqual(
        channels.filter((channel) => channel.includes(classic.id)).map((channel) => channel.split(':')[0]),
        ['redisson_lock__channel', 'redisson_lock__channel'],
      )
      const begun = w.now()
      await hold.release()
      const ends = await w.run(Promise.all(waits))
      assert.deepEqual(turns, ['classic 1', 'granting', 'classic 2'])
      assert.ok(Math.max(...ends) - begun < 200, 'by messages, not by polls')
    })

    scenario('an entry without a deadline at the head → taken out, where their own scripts fail', async (w) => {
      const client = await w.connect()
      await w.raw('RPUSH', `redisson_lock_queue:{${w.id}}`, 'nobody')
      const hold = await w.run(client.fairLock(w.id).acquire({ wait: 1000 }))
      await hold.release()
    })
  })
}

/** What those who ask are told, by the steps of `interop/fixtures`, where the versions differ. */
const TOLD: readonly [
  id: string,
  modes: readonly Mode[],
  script: readonly (readonly [step: string, ms: number | null])[],
][] = [
  [
    'F05: each is told how long the one before it may take; those behind one who leaves move up',
    ['3.16', '3.17'],
    [
      ['A ask 5000', null],
      ['B ask 5000', 30_000],
      ['C ask 5000', 35_000],
      ['D ask 5000', 40_000],
      ['E ask 5000', 45_000],
      ['C leave 5000', null],
      ['B ask 5000', 30_000],
      ['D ask 5000', 35_000],
      ['E ask 5000', 40_000],
      ['A unlock', null],
      ['B ask 5000', null],
      ['D ask 5000', 30_000],
      ['E ask 5000', 35_000],
    ],
  ],
  [
    'F05: each is told how long the head may take; who leaves behind it moves nobody',
    ['3.8'],
    [
      ['A ask', null],
      ['B ask', 30_000],
      ['C ask', 35_000],
      ['D ask', 35_000],
      ['C leave', null],
      ['B ask', 30_000],
      ['D ask', 35_000],
      ['A unlock', null],
      ['B ask', null],
      ['D ask', 30_000],
    ],
  ],
  [
    'F07: after a hand-over the next is told an allowance less, and a new one that much more than it',
    ['3.16', '3.17'],
    [
      ['A ask 5000 300000', null],
      ['B ask 5000 300000', 300_000],
      ['C ask 5000 300000', 305_000],
      ['A unlock', null],
      ['B ask 5000 300000', null],
      ['D ask 5000 300000', 305_000],
      ['C ask 5000 300000', 300_000],
      ['D ask 5000 300000', 305_000],
    ],
  ],
  [
    'F07: after a hand-over the next asks, is told an allowance less, and a new one that much more than it',
    ['3.8'],
    [
      ['A ask -1 300000', null],
      ['B ask -1 300000', 300_000],
      ['C ask -1 300000', 305_000],
      ['A unlock', null],
      ['B ask -1 300000', null],
      ['C ask -1 300000', 300_000],
      ['D ask -1 300000', 305_000],
    ],
  ],
  [
    'F08: who waits behind the dead has it when their allowances are over, one after the other',
    ['3.16', '3.17'],
    [
      ['A ask -1 500', null],
      ['B ask 100', 500],
      ['C ask 100', 600],
      ['D ask 100', 700],
      ['sleep 690', null],
      ['D ask 100', 10],
      ['sleep 100', null],
      ['D ask 100', null],
    ],
  ],
  [
    'F08: who waits behind the dead has it when two allowances are over, however many they are',
    ['3.8'],
    [
      ['A ask -1 500', null],
      ['B ask', 500],
      ['C ask', 5500],
      ['D ask', 5500],
      ['sleep 5490', null],
      ['E ask', 10],
      ['sleep 4900', null],
      ['E ask', 110],
      ['sleep 200', null],
      ['E ask', null],
    ],
  ],
]

void describe('what waiters are told', () => {
  const scenario = scenarios(virtualEngine)
  for (const [title, modes, script] of TOLD) {
    for (const mode of modes) {
      scenario(`${mode}: ${title}`, async (w) => {
        w.leavesKeys = true
        const replay = new Replay(w, mode)
        await replay.listen()
        for (const [step, ms] of script) assert.equal((await replay.step(step)).reply ?? null, ms, step)
      })
    }
  }
})
