import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { LockEvent, WatchOptions } from 'holdfast'
import { inTown } from '../../support/town.js'
import { told, watched } from '../../support/watched.js'

void describe('client.watch', () => {
  inTown('one lock → who holds it and waits for it at first, and then each change', async (town) => {
    const [one, two, three] = [
      await town.join({ label: 'one' }),
      await town.join({ label: 'two' }),
      await town.join({ label: 'three' }),
    ]
    const hold = await town.run(one.lock('a').acquire())
    await town.clock.advance(3000)
    const watch = watched(three, 'a')
    await town.clock.advance(2000)
    const next = two.lock('a').acquire()
    await town.clock.advance(2000)
    await town.run(hold.release())
    const second = await town.run(next)
    await town.clock.advance(2000)
    await town.run(second.release())
    await town.clock.advance(3000)
    assert.deepEqual(await told(town, watch), [
      ...['initial granted a one', 'waiting a two', 'released a one', 'granted a two', 'released a two'],
    ])
    const [first, waiting, released] = watch.events
    assert.deepEqual([first?.kind, first?.client, first?.key, first?.mode], ['lock', one.id, 'a', 'exclusive'])
    assert.equal(first?.within, undefined)
    assert.equal(waiting?.within, 250)
    assert.ok(Math.abs((released?.since ?? 0) - (town.clock.now() - 12_000)) < 2000)
  })

  inTown('a call gives up while another holds on → gave up; a hold shorter than a second → perhaps', async (town) => {
    const [one, two] = [await town.join({ label: 'one' }), await town.join({ label: 'two' })]
    const hold = await town.run(one.lock('a').acquire())
    const watch = watched(one, 'a')
    await town.clock.advance(2000)
    const attempt = two.lock('a').tryAcquire({ wait: 1000 })
    assert.equal(await town.run(attempt), undefined)
    await town.clock.advance(500)
    await town.run(hold.release())
    await town.clock.advance(3000)
    const short = await town.run(two.lock('a').acquire())
    await town.clock.advance(400)
    await town.run(short.release())
    await town.clock.advance(1000)
    assert.deepEqual(await told(town, watch), [
      ...['initial granted a one', 'waiting a two', 'gave up a two', 'released a one'],
      ...['granted a two', 'perhaps released a two'],
    ])
  })

  inTown('a lease ends → expired; of readers, each at its time', async (town) => {
    const [one, two] = [await town.join({ label: 'one' }), await town.join({ label: 'two' })]
    const watch = watched(one, 'a')
    const book = watched(one, 'book')
    await town.clock.advance(300)
    await town.run(two.lock('a').acquire({ lease: 3000 }))
    await town.run(one.readWriteLock('book').read.acquire({ lease: 2000 }))
    await town.run(two.readWriteLock('book').read.acquire({ lease: 4000 }))
    await town.clock.advance(6000)
    assert.deepEqual(await told(town, watch), ['granted a two', 'expired a two'])
    assert.deepEqual(await told(town, book), [
      ...['granted book one', 'granted book two', 'expired book one', 'expired book two'],
    ])
    assert.deepEqual([book.events[0]?.kind, book.events[0]?.mode], ['readWriteLock', 'read'])
    const [, , first, second] = book.events
    assert.ok(Math.abs((second?.at ?? 0) - (first?.at ?? 0) - 2000) <= 250)
  })

  inTown('the key is deleted → deleted; certain if its client learns of it', async (town) => {
    const [one, two] = [await town.join({ label: 'one' }), await town.join({ label: 'two' })]
    for (const learns of [false, true]) {
      const hold = await town.run(two.lock('a').acquire({ lease: 60_000 }))
      await town.clock.advance(2500)
      const watch = watched(one, 'a')
      await town.clock.advance(500)
      town.raw('DEL', 'a')
      if (learns) {
        await town.clock.advance(300)
        await assert.rejects(town.run(hold.extend(20_000)), { code: 'LOCK_LOST' })
      }
      await town.clock.advance(4000)
      assert.deepEqual(await told(town, watch), ['initial granted a two', `${learns ? '' : 'perhaps '}deleted a two`])
      await town.clock.advance(15_000)
    }
  })

  inTown('released by force → forced, and by whom, also in the first second of the hold', async (town) => {
    const [one, two, three] = [
      await town.join(),
      await town.join({ label: 'two' }),
      await town.join({ label: 'three' }),
    ]
    for (const age of [300, 3000]) {
      await town.run(two.lock('a').acquire())
      await town.clock.advance(age)
      const watch = watched(one, 'a')
      await town.clock.advance(500)
      const next = three.lock('a').acquire()
      await town.clock.advance(500)
      assert.equal(await town.run(one.lock('a').forceRelease()), true)
      const hold = await town.run(next)
      await town.clock.advance(500)
      await town.run(hold.release())
      await town.clock.advance(4000)
      assert.deepEqual(await told(town, watch), [
        ...['initial granted a two', 'waiting a three', 'forced a two', 'granted a three', 'perhaps released a three'],
      ])
      const forced = watch.events.find(({ type }) => type === 'forced')
      assert.equal(forced?.by, one.id)
      // The note of it is gone by then, and says nothing about the next hold.
      await town.clock.advance(15_000)
    }
  })

  inTown('an earlier release by force → not the cause of a later end', async (town) => {
    const [one, two] = [await town.join(), await town.join({ label: 'two' })]
    await town.run(two.lock('a').acquire())
    await town.clock.advance(500)
    await town.run(one.lock('a').forceRelease())
    const watch = watched(one, 'a')
    await town.clock.advance(1000)
    const hold = await town.run(two.lock('a').acquire())
    await town.clock.advance(3000)
    await town.run(hold.release())
    await town.clock.advance(3000)
    assert.deepEqual(await told(town, watch), ['granted a two', 'released a two'])
  })

  inTown('locks of a pattern, with mapName, of each kind → their names; a new one is found', async (town) => {
    const [one, two] = [
      await town.join({ label: 'one', mapName: (name) => `app:${name}` }),
      await town.join({ label: 'two', mapName: (name) => `app:${name}` }),
    ]
    const locks = [
      ...[two.lock('x:l'), two.fairLock('x:f'), two.fencedLock('x:t'), two.readWriteLock('x:rw').write],
      ...[two.keyedLock('x:g', ['a', 'b']), two.lock('y')],
    ]
    const holds = []
    for (const lock of locks) holds.push(await town.run(lock.acquire()))
    await town.clock.advance(2000)
    const watch = watched(one, { pattern: 'x:*' })
    await town.clock.advance(1500)
    holds.push(await town.run(two.lock('x:new').acquire()))
    const waiter = one.fairLock('x:f').acquire()
    await town.clock.advance(4000)
    for (const hold of holds) await town.run(hold.release())
    await town.run((await town.run(waiter)).release())
    await town.clock.advance(4000)
    const lines = await told(town, watch)
    assert.deepEqual(lines.slice(0, 5), [
      ...['initial granted x:f two', 'initial granted x:g two', 'initial granted x:l two', 'initial granted x:rw two'],
      'initial granted x:t two',
    ])
    // Waited for, granted and released between two looks: the line says no more.
    assert.deepEqual(lines.slice(5).sort(), [
      ...['granted x:new two', 'perhaps gave up x:f one', 'released x:f two', 'released x:g two', 'released x:l two'],
      ...['released x:new two', 'released x:rw two', 'released x:t two', 'waiting x:f one'],
    ])
    const of = (name: string): LockEvent | undefined => watch.events.find((event) => event.name === name)
    assert.deepEqual([of('x:g')?.keys, of('x:g')?.kind, of('x:g')?.key], [['a', 'b'], 'keyedLock', 'app:x:g'])
    assert.deepEqual([of('x:rw')?.mode, of('x:t')?.kind, of('x:f')?.kind], ['write', 'fencedLock', 'fairLock'])
    assert.equal(of('x:new')?.within, undefined)
    town.raw('DEL', 'redisson_lock_token:{app:x:t}')
  })

  inTown('--kind, by name and by pattern → only that kind', async (town) => {
    const client = await town.join({ label: 'one' })
    await town.run(client.lock('a').acquire())
    await town.run(client.fairLock('f').acquire())
    await town.clock.advance(2000)
    const watches = [
      watched(client, { pattern: '*' }, { kind: 'fairLock' }),
      watched(client, 'a', { kind: 'readWriteLock' }),
      watched(client, 'a', { kind: 'lock' }),
    ] as const
    await town.clock.advance(1500)
    assert.deepEqual(await told(town, watches[0]), ['initial granted f one'])
    assert.deepEqual(await told(town, watches[1]), [])
    assert.deepEqual(await told(town, watches[2]), ['initial granted a one'])
  })

  inTown('strangers publish on each channel, thousands of messages → no event, and few looks', async (town) => {
    const [one, two] = [await town.join({ label: 'one' }), await town.join({ label: 'two' })]
    await town.run(two.lock('a').acquire())
    const watch = watched(one, 'a')
    await town.clock.advance(1000)
    const before = Number(/cmdstat_time:calls=(\d+)/.exec(String(town.raw('INFO', 'commandstats')))?.[1] ?? 0)
    for (let i = 0; i < 100; i++) {
      for (const channel of [
        'holdfast_line_grant:{a}',
        'holdfast_grant:{a}',
        'holdfast_rwlock_grant:{a}',
        'holdfast_keyed_grant:{a}',
      ])
        for (const end of [`:${two.id}`, `:${one.id}`, ':x', ''])
          town.raw('PUBLISH', channel + end, i % 2 === 0 ? '0' : `${two.id}:1000000001 released`)
      town.raw('PUBLISH', 'redisson_lock__channel:{a}', '0')
      await town.clock.advance(10)
    }
    const looks = Number(/cmdstat_time:calls=(\d+)/.exec(String(town.raw('INFO', 'commandstats')))?.[1] ?? 0) - before
    assert.deepEqual(await told(town, watch), ['initial granted a two'])
    assert.ok(looks <= 50, `${looks} looks in a second`)
  })

  inTown('a message of a grant → a look before the interval is over', async (town) => {
    const [one, two, three] = [
      await town.join(),
      await town.join({ label: 'two' }),
      await town.join({ label: 'three' }),
    ]
    const hold = await town.run(two.lock('a').acquire())
    const next = three.lock('a').acquire()
    await town.clock.advance(3000)
    const watch = watched(one, 'a')
    await town.clock.advance(1010)
    await town.run(hold.release())
    const second = await town.run(next)
    await town.clock.advance(2000)
    const granted = watch.events.find(({ type, initial }) => type === 'granted' && initial !== true)
    assert.ok((granted?.within ?? 250) < 100, `within ${granted?.within} ms`)
    await town.run(second.release())
    await told(town, watch)
  })

  inTown('the loop ends by its signal, by break or by close → as the others; nothing goes on', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    await town.run(two.lock('a').acquire())
    await town.clock.advance(1500)
    for (const moment of [0, 1, 5, 100, 260, 600]) {
      for (const what of ['a', { pattern: '*' }]) {
        const abort = new AbortController()
        const watch = watched(one, what, { signal: abort.signal })
        await town.clock.advance(moment)
        abort.abort(new Error('enough'))
        assert.equal(((await town.run(watch.ended)) as Error).message, 'enough')
        const other = watched(one, what)
        await town.clock.advance(moment)
        await told(town, other)
      }
    }
    const late = AbortSignal.abort(new Error('before'))
    assert.equal(((await town.run(watched(one, 'a', { signal: late }).ended)) as Error).message, 'before')
    await town.clock.advance(3000)
    assert.equal(Number(town.raw('PUBSUB', 'NUMPAT')), 0)
    for await (const event of one.watch('a')) {
      assert.equal(event.type, 'granted')
      break
    }
    const open = watched(one, 'a')
    await town.clock.advance(100)
    await town.run(one.close())
    assert.equal(((await town.run(open.ended)) as { code?: string }).code, 'CLOSED')
    assert.equal(((await town.run(watched(one, 'a').ended)) as { code?: string }).code, 'CLOSED')
  })

  for (const [what, options, problem] of [
    ['', undefined, /name must not be empty/],
    [{}, undefined, /pattern must be a string/],
    [{ pattern: '' }, undefined, /pattern must not be empty/],
    [{ patern: 'x' }, undefined, /did you mean 'pattern'/],
    [7, undefined, /must be/],
    ['a', { kind: 'mutex' }, /kind must be one that can be listed/],
    ['a', { signal: 1 }, /signal/],
    ['a', { name: 'b' }, /there is no option/],
  ] as const)
    inTown(`watch(${JSON.stringify(what)}, ${JSON.stringify(options)}) → throws at once`, async (town) => {
      const client = await town.join()
      assert.throws(() => client.watch(what as string, options as unknown as WatchOptions), problem)
    })
})
