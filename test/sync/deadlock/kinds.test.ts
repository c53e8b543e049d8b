import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { type Client, DeadlockError, type Lock } from 'holdfast'
import { inTown } from '../../support/town.js'
import { namesIn, startRing, toldTo } from './ring.js'

/** The locks of three units: what each holds, and what the unit before waits for. */
type Chain = Readonly<Record<string, (client: Client) => readonly [holds: Lock, wanted: Lock]>>

const same = (lock: (client: Client) => Lock) => (client: Client) => [lock(client), lock(client)] as const

const CHAINS: Readonly<Record<string, Chain>> = {
  plain: { a: same((c) => c.lock('a')), b: same((c) => c.nonReentrantLock('b')), c: same((c) => c.fencedLock('c')) },
  'fair and spin': {
    a: same((c) => c.fairLock('a')),
    b: same((c) => c.nonReentrantFairLock('b')),
    c: same((c) => c.spinLock('c')),
  },
  'read-write': {
    a: (c) => [c.readWriteLock('a').read, c.readWriteLock('a').write],
    b: (c) => [c.readWriteLock('b').write, c.readWriteLock('b').read],
    c: (c) => [c.readWriteLock('c', { fair: true }).read, c.readWriteLock('c', { fair: true }).write],
  },
  'keyed and several as one': {
    a: (c) => [c.keyedLock('a', ['x', 'y']), c.keyedLock('a', ['y', 'z'])],
    b: (c) => [c.multiLock(c.lock('b'), c.lock('b2')), c.lock('b')],
    c: (c) => [c.lock('c'), c.multiLock(c.lock('c'), c.fairLock('c2'))],
  },
}

void describe('a deadlock of three over', () => {
  for (const [kinds, chain] of Object.entries(CHAINS)) {
    for (const deadlocks of ['report', 'break'] as const)
      inTown(`${kinds}, ${deadlocks}`, async (town) => {
        const clients = [await town.join({ deadlocks }), await town.join({ deadlocks }), await town.join({ deadlocks })]
        const told = clients.map(toldTo)
        const names = Object.keys(chain)
        const locks = (i: number, client: Client) => (chain[names[i % 3] as string] as Chain[string])(client)
        const { outcomes, ended } = await startRing(
          town,
          clients.map((client, i) => ({
            holds: [locks(i, client)[0]],
            wants: locks(i + 1, client)[1],
            later: 100 * i,
            ...(deadlocks === 'report' && { wait: 4000 + 5000 * i }),
          })),
        )
        await town.clock.advance(3200)
        const [first, second, last] = told.map((each) => each.map(namesIn))
        assert.deepEqual(last, [names])
        if (deadlocks === 'report') {
          assert.deepEqual([first, second], [[names], [names]])
          assert.deepEqual(outcomes, [undefined, undefined, undefined])
        }
        await town.run(ended)
        if (deadlocks === 'break') {
          assert.deepEqual(outcomes.slice(0, 2), ['had', 'had'])
          assert.ok(outcomes[2] instanceof DeadlockError)
          assert.deepEqual(outcomes[2].cycle?.map(({ name }) => name).sort(), names)
        }
        town.raw('DEL', 'redisson_lock_token:{c}')
      })
  }

  inTown('a writer that readers wait for in two cycles → both are told', async (town) => {
    const [x, r1, r2] = [await town.join(), await town.join(), await town.join()]
    const told = [x, r1, r2].map(toldTo)
    const { ended } = await startRing(town, [
      { holds: [x.lock('a')], wants: x.readWriteLock('rw').write, wait: 5000 },
      { holds: [r1.readWriteLock('rw').read], wants: r1.lock('a'), later: 100 },
      { holds: [r2.readWriteLock('rw').read], wants: r2.lock('a'), later: 200 },
    ])
    await town.clock.advance(3200)
    const lengths = told.map(({ length }) => length)
    assert.deepEqual(lengths, [2, 1, 1])
    await town.run(ended)
  })

  inTown('the same → the youngest of each ends, and none twice', async (town) => {
    const clients = [await town.join({ deadlocks: 'break' }), await town.join({ deadlocks: 'break' })]
    clients.push(await town.join({ deadlocks: 'break' }))
    const [x, r1, r2] = clients as [Client, Client, Client]
    const told = clients.map(toldTo)
    const { outcomes, ended } = await startRing(town, [
      { holds: [x.lock('a')], wants: x.readWriteLock('rw').write },
      { holds: [r1.readWriteLock('rw').read], wants: r1.lock('a'), later: 100 },
      { holds: [r2.readWriteLock('rw').read], wants: r2.lock('a'), later: 200 },
    ])
    await town.run(ended)
    assert.equal(outcomes[0], 'had')
    assert.ok(outcomes[1] instanceof DeadlockError && outcomes[2] instanceof DeadlockError)
    assert.deepEqual([told[1]?.length, told[2]?.length], [1, 1])
  })

  inTown('the same, and the writer is the youngest → one victim for both', async (town) => {
    const clients = [await town.join({ deadlocks: 'break' }), await town.join({ deadlocks: 'break' })]
    clients.push(await town.join({ deadlocks: 'break' }))
    const [x, r1, r2] = clients as [Client, Client, Client]
    const { outcomes, ended } = await startRing(town, [
      { holds: [x.lock('a')], wants: x.readWriteLock('rw').write, later: 300 },
      { holds: [r1.readWriteLock('rw').read], wants: r1.lock('a') },
      { holds: [r2.readWriteLock('rw').read], wants: r2.lock('a') },
    ])
    await town.run(ended)
    assert.ok(outcomes[0] instanceof DeadlockError)
    assert.deepEqual(outcomes.slice(1), ['had', 'had'])
  })

  inTown('a reader behind a writer in the line → it waits for those who read', async (town) => {
    const clients = [await town.join(), await town.join(), await town.join()]
    const [r1, w, r2] = clients as [Client, Client, Client]
    const told = [toldTo(r1), toldTo(r2)]
    // r1 reads and waits for what r2 holds; a writer waits for r1; r2 waits to read behind the writer.
    const ring = startRing(town, [
      { holds: [r1.readWriteLock('rw').read], wants: r1.lock('b'), wait: 9000 },
      { holds: [], wants: w.readWriteLock('rw').write, wait: 20_000 },
      { holds: [r2.lock('b')], wants: r2.readWriteLock('rw').read, later: 500 },
    ])
    const { ended } = await ring
    await town.clock.advance(4000)
    assert.deepEqual(
      told.map((each) => each.map(namesIn)),
      [[['b', 'rw']], [['b', 'rw']]],
    )
    await town.run(ended)
  })
})
