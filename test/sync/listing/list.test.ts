import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { ListedLock, ListOptions } from 'holdfast'
import { inTown } from './town.js'

const brief = (rows: readonly ListedLock[]): string[] =>
  rows.map(({ kind, name, holders, waiting }) => `${kind} ${name}: ${holders.length} held, ${waiting.length} waiting`)

void describe('client.list', () => {
  inTown('held for less than a second → nothing is written; for longer → listed within two', async (town) => {
    const [mine, theirs] = [await town.join({ label: 'mine' }), await town.join()]
    const hold = await town.run(mine.lock('a').acquire())
    await town.clock.advance(900)
    assert.equal(town.raw('EXISTS', `holdfast:client:${mine.id}:locks`), 0)
    assert.deepEqual(await town.list(theirs), [])
    await town.clock.advance(1000)
    const [row, ...others] = await town.list(theirs)
    assert.deepEqual(others, [])
    assert.deepEqual([row?.name, row?.key, row?.kind, row?.holders[0]?.label], ['a', 'a', 'lock', 'mine'])
    assert.ok(Math.abs((row?.holders[0]?.since ?? 0) - (town.clock.now() - 1900)) < 50)
    await town.run(hold.release())
    assert.deepEqual(await town.list(theirs), [], 'the server is asked, whatever the index says')
    await town.clock.advance(1000)
    assert.equal(town.raw('EXISTS', `holdfast:client:${mine.id}:locks`), 0)
  })

  inTown('waited for → with its line; held shortly by many → by its waiters', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    const hold = await town.run(one.fairLock('f').acquire())
    const next = two.fairLock('f').acquire()
    await town.clock.advance(2000)
    assert.deepEqual(brief(await town.list(one)), ['fairLock f: 1 held, 1 waiting'])
    const [row] = await town.list(two)
    assert.equal(row?.waiting[0]?.client, two.id)
    assert.ok(row.waiting[0].since !== undefined)
    await town.run(hold.release())
    await town.run((await town.run(next)).release())
  })

  inTown('each kind of lock → one row with its name', async (town) => {
    const [one, two] = [await town.join({ mapName: (name) => `app:${name}` }), await town.join()]
    const { read } = one.readWriteLock('rw')
    const locks = [
      ...[one.lock('l'), one.nonReentrantLock('n'), one.fairLock('f'), one.spinLock('s')],
      ...[one.fencedLock('t'), read, read, one.keyedLock('g', ['x', 'y']), one.keyedLock('g', ['z'])],
    ]
    const holds = []
    for (const lock of locks) holds.push(await town.run(lock.acquire()))
    await town.clock.advance(2000)
    const rows = await town.list(one)
    assert.deepEqual(brief(rows), [
      ...['fairLock f: 1 held, 0 waiting', 'keyedLock g: 2 held, 0 waiting', 'lock l: 1 held, 0 waiting'],
      ...['nonReentrantLock n: 1 held, 0 waiting', 'readWriteLock rw: 2 held, 0 waiting'],
      ...['spinLock s: 1 held, 0 waiting', 'fencedLock t: 1 held, 0 waiting'],
    ])
    assert.equal(rows.find(({ kind }) => kind === 'fencedLock')?.token, 1n)
    assert.deepEqual(brief(await town.list(one, { pattern: '[ln]', kind: 'lock' })), ['lock l: 1 held, 0 waiting'])
    assert.deepEqual(await town.list(two), [], 'another mapName, another register')
    for (const hold of holds) await town.run(hold.release())
    town.raw('DEL', 'redisson_lock_token:{app:t}')
  })

  inTown('what a stranger writes → is asked about, and never believed', async (town) => {
    const client = await town.join()
    await town.run(client.lock('real').acquire())
    await town.clock.advance(2000)
    const index = `holdfast:client:${client.id}:locks`
    town.raw('SET', 'text', '1')
    town.raw('HSET', 'hash', 'field', 'x')
    for (const [field, value] of [
      ...[
        ['lock free', '{}'],
        ['lock text', '{}'],
        ['lock hash', '{}'],
        ['fairLock hash', '{"n":"real"}'],
      ],
      ...[
        ['noKind real', '{}'],
        ['lock ', '{}'],
        ['lock', '{}'],
        ['lock real', 'no json'],
        ['keyedLock real', '{"k":["x"]}'],
      ],
    ] as const)
      town.raw('HSET', index, field, value)
    const stranger = '00000000-0000-4000-8000-000000000000'
    town.raw('ZADD', 'holdfast:client:register', '9e15', 'no client', 'inf', 'x'.repeat(50), 'inf', stranger)
    town.raw('SET', `holdfast:client:${stranger}:locks`, 'no hash')
    assert.deepEqual(brief(await town.list(client)), [], 'its own entry is no JSON any more')
    // By the next heartbeat, the client has noticed the fields that are not its own.
    await town.clock.advance(12_000)
    assert.deepEqual(brief(await town.list(client)), ['lock real: 1 held, 0 waiting'])
    assert.ok(Number(town.raw('PTTL', 'holdfast:client:register')) <= 45_000, 'whatever score a stranger wrote')
    town.raw('SET', 'holdfast:client:register', 'no sorted set')
    await town.clock.advance(12_000)
    assert.deepEqual(brief(await town.list(client)), ['lock real: 1 held, 0 waiting'])
    town.raw('DEL', 'text', 'hash', `holdfast:client:${stranger}:locks`)
  })

  inTown('a client is killed that held with a long lease → listed until the lease ends', async (town) => {
    const [killed, other] = [await town.join(), await town.join()]
    await town.run(killed.lock('a').acquire({ lease: 600_000 }))
    await town.clock.advance(2000)
    const index = `holdfast:client:${killed.id}:locks`
    assert.ok(Number(town.raw('PTTL', index)) > 590_000)
    // What the server has of it, as if the process were gone: nothing is renewed any more.
    const [entries, score] = [town.raw('HGETALL', index), town.raw('ZSCORE', 'holdfast:client:register', killed.id)]
    assert.ok(Number(score) > town.clock.now() + 590_000)
    assert.equal((entries as unknown[]).length, 2)
    assert.deepEqual(brief(await town.list(other)), ['lock a: 1 held, 0 waiting'])
  })

  inTown('the server forgets the index, or a client is gone → it heals', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    await town.run(one.lock('a').acquire())
    await town.clock.advance(2000)
    town.raw('DEL', `holdfast:client:${one.id}:locks`, 'holdfast:client:register')
    assert.deepEqual(await town.list(two), [])
    await town.clock.advance(12_000)
    assert.deepEqual(brief(await town.list(two)), ['lock a: 1 held, 0 waiting'])
  })

  inTown(
    'closed without releasing → listed, even if held for a moment, until the leases end, and then gone',
    async (town) => {
      const [one, two] = [await town.join(), await town.join()]
      await town.run(one.lock('old').acquire({ lease: 5000 }))
      await town.clock.advance(2000)
      await town.run(one.lock('young').acquire({ lease: 9000 }))
      await town.run(one.lock('renewed').acquire())
      const short = await town.run(one.lock('short').acquire({ lease: 600_000 }))
      await town.run(short.release())
      await town.run(one.close({ release: false }))
      const [index, register] = [`holdfast:client:${one.id}:locks`, 'holdfast:client:register']
      const locks = ['old', 'young', 'renewed']
      assert.deepEqual(
        brief(await town.list(two)),
        [...locks].sort().map((name) => `lock ${name}: 1 held, 0 waiting`),
      )
      const lasts = Math.max(...locks.map((name) => Number(town.raw('PTTL', name))))
      for (const left of [
        Number(town.raw('PTTL', index)),
        Number(town.raw('ZSCORE', register, one.id)) - town.clock.now(),
      ])
        assert.ok(left > lasts - 50 && left <= lasts + 50, `${left} ms, the locks ${lasts}`)
      await town.run(two.close())
      assert.ok(Number(town.raw('PTTL', register)) <= lasts + 50, 'nobody else is in it')
      await town.clock.advance(lasts + 50)
      assert.deepEqual(town.raw('KEYS', '*'), [])
    },
  )

  inTown('closed without releasing, with nothing held → nothing is left', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    const hold = await town.run(one.lock('a').acquire())
    await town.clock.advance(2000)
    await town.run(hold.release())
    await town.run(one.close({ release: false }))
    await town.run(two.close({ release: false }))
    assert.deepEqual(town.raw('KEYS', '*'), [])
  })

  inTown('a lease that was long, and was released → the client counts no longer than others', async (town) => {
    const client = await town.join()
    const hold = await town.run(client.lock('a').acquire({ lease: 600_000 }))
    await town.clock.advance(12_000)
    const counts = (): number => Number(town.raw('ZSCORE', 'holdfast:client:register', client.id)) - town.clock.now()
    assert.ok(counts() > 500_000)
    await town.run(hold.release())
    await town.clock.advance(12_000)
    assert.ok(counts() <= 45_000)
    assert.ok(Number(town.raw('PTTL', 'holdfast:client:register')) <= 45_000)
  })

  inTown(
    'a group that is always held → its entry forgets keys that are free again; of many keys, some are shown',
    async (town) => {
      const client = await town.join()
      const always = await town.run(client.keyedLock('g', ['always']).acquire())
      const index = `holdfast:client:${client.id}:locks`
      for (let round = 0; round < 3; round++) {
        const keys = Array.from({ length: 60 }, (_, i) => `${round}:${i}`)
        const hold = await town.run(client.keyedLock('g', keys).acquire())
        await town.clock.advance(2000)
        const [row, ...others] = await town.list(client)
        assert.deepEqual([row?.holders.length, row?.more, others], [2, undefined, []])
        await town.run(hold.release())
        await town.clock.advance(1000)
        assert.equal(town.raw('HGET', index, 'keyedLock g')?.toString().includes('"k":["always"]'), true)
      }
      const many = await town.run(
        client
          .keyedLock(
            'g',
            Array.from({ length: 200 }, (_, i) => `${i}`),
          )
          .acquire(),
      )
      await town.clock.advance(2000)
      const [row] = await town.list(client)
      assert.deepEqual([row?.holders.length, row?.more], [2, true])
      await town.run(many.release())
      await town.run(always.release())
    },
  )

  inTown('waiters for keys of a group → in one row, also those of other sets', async (town) => {
    const [one, two] = [await town.join(), await town.join()]
    const hold = await town.run(one.keyedLock('g', ['a', 'b']).acquire())
    const waiting = [two.keyedLock('g', ['a']).acquire(), two.keyedLock('g', ['b', 'c']).acquire()]
    await town.clock.advance(2500)
    assert.deepEqual(brief(await town.list(one)), ['keyedLock g: 1 held, 2 waiting'])
    await town.run(hold.release())
    for (const next of waiting) await town.run((await town.run(next)).release())
  })

  inTown('many locks of one client, read at the same time → each row has its label', async (town) => {
    const [one, two] = [await town.join({ label: 'one' }), await town.join()]
    for (let i = 0; i < 10; i++) await town.run(one.lock(`lock:${i}`).acquire())
    await town.clock.advance(2000)
    const rows = await town.list(two)
    assert.deepEqual(
      rows.map(({ holders }) => holders[0]?.label),
      Array.from({ length: 10 }, () => 'one'),
    )
  })

  inTown('more clients than one script reads, names of 400 characters → all are listed', async (town) => {
    const reader = await town.join()
    const [ids, name] = [[] as string[], (i: number): string => `${'x'.repeat(400)}:${i}`]
    const now = town.clock.now()
    for (let i = 0; i < 600; i++) {
      const id = `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`
      ids.push(id)
      // Some end at the same time.
      town.raw('ZADD', 'holdfast:client:register', String(now + 60_000 + Math.floor(i / 7)), id)
    }
    const index = `holdfast:client:${ids[599]}:locks`
    for (let i = 0; i < 600; i++) {
      const owner = `${ids[599]}:${100_000_000 + i}`
      town.raw('HSET', name(i), owner, '1')
      town.raw('HSET', index, `lock ${name(i)}`, JSON.stringify({ n: name(i) }))
    }
    town.raw('HSET', index, 'lock long', JSON.stringify({ n: 'x'.repeat(200_000) }))
    town.raw('HSET', 'long', `${ids[599]}:1`, '1')
    assert.equal((await town.list(reader)).length, 600, 'and none of an entry that is too long')
    for (let i = 0; i < 600; i++) town.raw('DEL', name(i))
    town.raw('DEL', index, 'long', 'holdfast:client:register')
  })

  inTown('a lock of a Redisson client → found by a scan, with progress', async (town) => {
    const client = await town.join()
    const owner = '00000000-0000-4000-8000-000000000000:55'
    town.raw('HSET', 'theirs', owner, '1')
    town.raw('HSET', 'rw', 'mode', 'write', `${owner}:write`, '1')
    town.raw('HSET', 'session', 'user', '7')
    town.raw('HSET', 'counter', 'x', '1')
    for (const key of ['theirs', 'rw']) town.raw('PEXPIRE', key, '30000')
    assert.deepEqual(await town.list(client), [])
    const steps: number[] = []
    const rows = await town.list(client, { scan: true, onProgress: ({ keys }) => void steps.push(keys) })
    assert.deepEqual(brief(rows), ['readWriteLock rw: 1 held, 0 waiting', 'lock theirs: 1 held, 0 waiting'])
    assert.equal(rows[1]?.holders[0]?.owner, owner)
    assert.equal(rows[1].holders[0].since, undefined)
    assert.ok(steps.length > 0)
    town.raw('DEL', 'session', 'counter')
  })

  inTown('by name → also what was just acquired, of every kind, and what a Redisson client holds', async (town) => {
    const [one, two] = [await town.join({ mapName: (name) => `app:${name}` }), await town.join()]
    const { read } = one.readWriteLock('rw')
    const holds = []
    for (const lock of [one.lock('l'), one.fencedLock('t'), one.fairLock('f'), read])
      holds.push(await town.run(lock.acquire()))
    assert.deepEqual(brief(await town.list(one, { name: 'l' })), ['lock l: 1 held, 0 waiting'])
    assert.deepEqual(brief(await town.list(one, { name: 't' })), ['fencedLock t: 1 held, 0 waiting'])
    assert.deepEqual(brief(await town.list(one, { name: 'rw' })), ['readWriteLock rw: 1 held, 0 waiting'])
    assert.deepEqual(brief(await town.list(two, { name: 'app:l' })), ['lock app:l: 1 held, 0 waiting'])
    for (const name of ['l?', 'free']) assert.deepEqual(await town.list(one, { name }), [])
    await town.clock.advance(2000)
    const [fair, ...others] = await town.list(one, { name: 'f' })
    assert.deepEqual([fair?.kind, fair?.holders[0]?.since === undefined, others], ['fairLock', false, []])
    assert.deepEqual(await town.list(one, { name: 'f', kind: 'lock' }), [])
    town.raw('HSET', 'theirs', '00000000-0000-4000-8000-000000000000:55', '1')
    assert.deepEqual(brief(await town.list(two, { name: 'theirs' })), ['lock theirs: 1 held, 0 waiting'])
    for (const hold of holds) await town.run(hold.release())
    town.raw('DEL', 'redisson_lock_token:{app:t}', 'theirs')
  })

  for (const [options, problem] of [
    [{ name: '' }, /name must not be empty/],
    [{ name: 'a', pattern: '*' }, /name excludes pattern/],
    [{ pattern: '' }, /pattern must not be empty/],
    [{ kind: 'mutex' }, /kind must be one that can be listed/],
    [{ patern: 'x' }, /did you mean 'pattern'/],
  ] as const)
    inTown(`${JSON.stringify(options)} → throws at once`, async (town) => {
      const client = await town.join()
      assert.throws(() => client.list(options as unknown as ListOptions), problem)
    })
})
