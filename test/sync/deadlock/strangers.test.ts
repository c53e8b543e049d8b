import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { DeadlockError } from 'holdfast'
import { inTown } from '../../support/town.js'
import { namesIn, startRing, toldTo } from './ring.js'

const REDISSON = '11111111-2222-4333-8444-555555555555'

void describe('deadlocks and others on the server', () => {
  inTown('Redisson holds what a call waits for → a leaf, whatever is written for it', async (town) => {
    const client = await town.join()
    const told = toldTo(client)
    town.raw('HSET', 'b', `${REDISSON}:12`, '1')
    town.raw('PEXPIRE', 'b', '30000')
    const { ended } = await startRing(town, [{ holds: [client.lock('a')], wants: client.lock('b'), wait: 8000 }])
    const wait = JSON.stringify({
      k: 'lock',
      l: 'a',
      s: town.clock.now(),
      h: [
        ['b', 12],
        ['b', 0],
        ['b', null],
      ],
    })
    for (let beat = 1; beat < 20; beat++) {
      town.raw('HSET', `holdfast:client:${REDISSON}:waits`, '1', wait, 'beat', String(beat))
      await town.clock.advance(250)
    }
    assert.deepEqual(told, [])
    town.raw('DEL', `holdfast:client:${REDISSON}:waits`, 'b')
    await town.run(ended)
  })

  inTown('a stranger says that a running owner waits → the server’s line says that it does not', async (town) => {
    const [one, two] = [await town.join({ deadlocks: 'break' }), await town.join({ deadlocks: 'off' })]
    const told = toldTo(one)
    const runs = await town.run(two.lock('b').acquire())
    const number = Number(String((town.raw('HKEYS', 'b') as string[])[0]).slice(46))
    const { outcomes, ended } = await startRing(town, [{ holds: [one.lock('a')], wants: one.lock('b'), wait: 8000 }])
    const wait = JSON.stringify({ k: 'lock', l: 'a', s: town.clock.now(), h: [['b', number]] })
    for (let beat = 1; beat < 20; beat++) {
      town.raw('HSET', `holdfast:client:${two.id}:waits`, '1', wait, 'beat', String(beat))
      await town.clock.advance(250)
    }
    assert.deepEqual(told, [])
    assert.deepEqual(outcomes, [undefined])
    await town.run(runs.release())
    await town.run(ended)
    town.raw('DEL', `holdfast:client:${two.id}:waits`)
  })

  inTown(
    'junk in the index, another type, a hostile label and name → found all the same, shown as plain text',
    async (town) => {
      const label = 'bad \u001b[31m\u202elabel'.concat('x'.repeat(50))
      const one = await town.join({ deadlocks: 'break', label })
      const two = await town.join({ deadlocks: 'break', label: 'two' })
      const name = 'b\n\u001b[2Jb'
      const { outcomes, ended } = await startRing(town, [
        { holds: [one.lock('a')], wants: one.lock(name) },
        { holds: [two.lock(name)], wants: two.lock('a'), later: 100 },
      ])
      for (const { id } of [one, two]) town.raw('SET', `holdfast:client:${id}:waits`, 'no hash')
      await town.clock.advance(1150)
      const junk = [
        '{',
        '[]',
        'null',
        '7',
        '{"k":"lock"}',
        '{"k":"noKind","l":"a","s":1,"h":[["b",1]]}',
        '{"k":1,"l":2,"s":"x","h":{}}',
      ]
      for (const { id } of [one, two])
        junk.forEach((text, i) =>
          town.raw('HSET', `holdfast:client:${id}:waits`, String(900_000 + i), text, `f${i}`, text),
        )
      await town.run(ended)
      const error = outcomes[1]
      assert.ok(error instanceof DeadlockError)
      assert.match(error.message, /bad .*label/)
      // eslint-disable-next-line no-control-regex
      assert.doesNotMatch(error.message, /[\u0000-\u001f\u202e]/)
      assert.ok(error.cycle?.some((call) => call.label === label && call.name === name))
    },
  )

  inTown('the hash is deleted, or gets a field → written again, and one look counts once', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    const hold = await town.run(two.lock('b').acquire())
    const { ended } = await startRing(town, [{ holds: [one.lock('a')], wants: one.lock('b') }])
    await town.clock.advance(2100)
    const key = `holdfast:client:${one.id}:waits`
    const beat = (): number => Number(town.raw('HGET', key, 'beat'))
    for (const words of [
      ['DEL', key],
      ['HSET', key, '999999', '{}'],
    ]) {
      const before = beat()
      town.raw(...words)
      await town.clock.advance(250)
      assert.equal(beat(), before + 1)
      assert.equal(town.raw('HLEN', key), 2)
    }
    await town.run(hold.release())
    await town.run(ended)
  })

  inTown('names are mapped → told by their names, and no key is written beside the mapped ones', async (town) => {
    const mapName = (name: string): string => `app:${name}`
    const [one, two] = [await town.join({ mapName }), await town.join({ mapName })]
    const told = toldTo(one)
    const { ended } = await startRing(town, [
      { holds: [one.lock('a')], wants: one.lock('b'), wait: 5000 },
      { holds: [two.lock('b')], wants: two.lock('a'), wait: 9000 },
    ])
    await town.clock.advance(3500)
    assert.deepEqual(told.map(namesIn), [['a', 'b']])
    assert.deepEqual(told[0]?.cycle.map(({ key }) => key).sort(), ['app:a', 'app:b'])
    assert.deepEqual(
      (town.raw('KEYS', 'holdfast*') as string[]).filter((key) => key.includes('client:')),
      [],
    )
    await town.run(ended)
  })

  inTown('two owners of one client → proven by two looks of its own', async (town) => {
    const client = await town.join({ deadlocks: 'break' })
    const told = toldTo(client)
    const [o1, o2] = [client.owner('one'), client.owner('two')]
    const holds = [
      await town.run(client.lock('a').acquire({ owner: o1 })),
      await town.run(client.lock('b').acquire({ owner: o2 })),
    ]
    const first = client.lock('b').acquire({ owner: o1 })
    await town.clock.advance(100)
    await assert.rejects(town.run(client.lock('a').acquire({ owner: o2 })), DeadlockError)
    assert.deepEqual(told.map(namesIn), [['a', 'b']])
    await town.run(holds[1]?.release() ?? Promise.resolve(false))
    for (const hold of [await town.run(first), holds[0]]) await town.run(hold?.release() ?? Promise.resolve(false))
  })
})

void describe('the victim of a deadlock', () => {
  inTown('the youngest is of a client that only reports → the youngest of those that may', async (town) => {
    const modes = ['break', 'break', 'report'] as const
    const clients = []
    for (const deadlocks of modes) clients.push(await town.join({ deadlocks }))
    const told = clients.map(toldTo)
    const names = ['a', 'b', 'c']
    const { outcomes, ended } = await startRing(
      town,
      clients.map((client, i) => ({
        holds: [client.lock(names[i] as string)],
        wants: client.lock(names[(i + 1) % 3] as string),
        later: 200 * i,
      })),
    )
    await town.run(ended)
    assert.deepEqual([outcomes[0], outcomes[2]], ['had', 'had'])
    assert.ok(outcomes[1] instanceof DeadlockError)
    for (const [{ cycle, victim = -1 } = { cycle: [] }] of told) assert.equal(cycle[victim]?.client, clients[1]?.id)
    const claims = (): string[] => town.raw('KEYS', 'holdfast:client:deadlock:*') as string[]
    assert.equal(claims().length, 1)
    assert.equal(town.raw('GET', claims()[0] as string), clients[1]?.id)
    await town.clock.advance(10_500)
    assert.deepEqual(claims(), [])
  })
})
