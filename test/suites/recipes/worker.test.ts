import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { count, firstToSay, type Recipe, recipe, soon } from './recipe.js'

const push = async ({ client }: Recipe, ...orders: string[]): Promise<void> => {
  const script = client.script(`return redis.call('LPUSH', KEYS[1], unpack(ARGV))`)
  await script.run({ keys: ['orders'], args: orders, returns: 'integer' })
}

const orderOf = (id: number, customer: string): string => JSON.stringify({ id, customer, amount: 10 })

const listOf = async ({ client }: Recipe, list: string): Promise<unknown[]> =>
  client.script(`return redis.call('LRANGE', KEYS[1], 0, -1)`).run({ keys: [list], args: [], returns: 'list' })

const totalOf = async ({ client }: Recipe, customer: string): Promise<string | undefined> => {
  const script = client.script(`return redis.call('HGET', KEYS[1], 'total')`)
  return script.run({ keys: [`customer:${customer}`], args: [], returns: 'status' })
}

/** Until no worker has an order, and none is in the queue. */
const allDone = (here: Recipe): Promise<void> => {
  const left = here.client.script(`
    local left = redis.call('LLEN', 'orders')
    for _, worker in ipairs(redis.call('SMEMBERS', KEYS[1])) do left = left + redis.call('LLEN', 'orders:at:' .. worker) end
    return left`)
  return soon(async () => (await left.run({ keys: ['orders:workers'], args: [], returns: 'integer' })) === 0)
}

const ENDED = { code: 143, signal: null }

// At the same time, because each waits for the end of a lease.
void describe('the recipe of a worker', { concurrency: true }, () => {
  void test('two workers, orders of two customers, one that cannot be read → each is done once; the bad one is put aside', async (t) => {
    const here = await recipe(t, 'worker.md')
    if (here === undefined) return
    const workers = [1, 2].map(() => here.start('worker.mjs'))
    await push(here, 'not JSON', ...[1, 2, 3, 4, 5, 6].map((id) => orderOf(id, id % 2 === 0 ? 'ada' : 'bob')))
    await soon(async () => (await totalOf(here, 'ada')) === '30' && (await totalOf(here, 'bob')) === '30')
    await soon(async () => (await listOf(here, 'orders:bad')).length === 1)
    await allDone(here)
    for (const worker of workers) worker.kill('SIGTERM')
    assert.deepEqual(await Promise.all(workers.map(({ ended }) => ended)), [ENDED, ENDED])
    assert.equal(count(workers, /: working/), 6)
    assert.deepEqual(await listOf(here, 'orders:bad'), ['not JSON'])
  })

  void test('a worker is killed in the middle of its order → another one does it', async (t) => {
    const here = await recipe(t, 'worker.md')
    if (here === undefined) return
    const workers = [1, 2].map(() => here.start('worker.mjs', [], { PAUSE: '3000' }))
    await push(here, orderOf(1, 'ada'))
    const dead = await firstToSay(workers, /1: working/)
    dead.kill('SIGKILL')
    assert.equal(await totalOf(here, 'ada'), undefined)
    await soon(async () => (await totalOf(here, 'ada')) === '10')
    await allDone(here)
  })

  void test('a worker is paused before its write, and another one claims its customer → the late write is refused', async (t) => {
    const here = await recipe(t, 'worker.md')
    if (here === undefined) return
    const paused = here.start('worker.mjs', [], { PAUSE: '3000' })
    await push(here, orderOf(1, 'ada'))
    await paused.said(/1: working/)
    paused.kill('SIGSTOP')
    assert.equal(await totalOf(here, 'ada'), undefined)
    assert.equal(await here.client.fencedLock('lock:customer:ada').forceRelease(), true)
    const other = here.start('worker.mjs', [], { PAUSE: '4000' })
    await push(here, orderOf(2, 'ada'))
    await other.said(/2: working/)
    paused.kill('SIGCONT')
    await paused.said(/not done: .*LockLostError/)
    await soon(async () => (await totalOf(here, 'ada')) === '20')
    await allDone(here)
  })

  void test('SIGTERM while it waits for its customer → the order goes back; in the middle of its order → it does it', async (t) => {
    const here = await recipe(t, 'worker.md')
    if (here === undefined) return
    const lock = here.client.fencedLock('lock:customer:ada')
    const hold = await lock.acquire()
    const waits = here.start('worker.mjs')
    await push(here, orderOf(1, 'ada'))
    await soon(async () => (await lock.inspect()).waiting.length === 1)
    waits.kill('SIGTERM')
    assert.deepEqual(await waits.ended, ENDED)
    assert.match(waits.text(), /not done: ClosedError/)
    assert.deepEqual(await listOf(here, 'orders'), [orderOf(1, 'ada')])
    await hold.release()

    const works = here.start('worker.mjs', [], { PAUSE: '2000' })
    await works.said(/1: working/)
    works.kill('SIGTERM')
    assert.deepEqual(await works.ended, ENDED)
    assert.equal(await totalOf(here, 'ada'), '10')
    await allDone(here)
  })
})
