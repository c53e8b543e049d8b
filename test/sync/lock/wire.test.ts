import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { rejection, times } from '../../suites/contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { channelOf, RedissonActor } from '../../support/redisson-actor.js'
import type { Wire } from '../../support/wire.js'
import { ofScripts, onWire, requests } from '../../support/wire.js'

const actors: RedissonActor[] = []

const closeActors = (): void => {
  for (const actor of actors.splice(0)) actor.close()
}

const onThisWire = (wire: Wire): void => {
  const open = (options?: Partial<Options>): Promise<Client> => wire.open(options)

  const actor = (name: string, thread = 1, id?: string): RedissonActor => {
    const made = new RedissonActor(wire.url, name, thread, id)
    actors.push(made)
    return made
  }

  void test('held → a hash of one field `<uuid v8>:<number>` → 1, with the lease as its TTL, and nothing else', async () => {
    const client = await open()
    for (const [name, lease] of [
      ['orders', undefined],
      ['orders:1', 5000],
      ['{orders}', 3_600_000],
    ] as const) {
      const hold = await client.lock(name).acquire({ lease })
      assert.deepEqual(await wire.redis.keys('*'), [name])
      assert.equal(await wire.redis.type(name), 'hash')
      const fields = Object.entries(await wire.redis.hgetall(name))
      assert.equal(fields.length, 1)
      const [field, count] = fields[0] ?? []
      assert.match(String(field), /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}:\d+$/)
      assert.ok(String(field).startsWith(`${client.id}:`))
      assert.equal(count, '1')
      const left = await wire.redis.pttl(name)
      assert.ok(left <= (lease ?? 30_000) && left > (lease ?? 30_000) - 2000, String(left))
      assert.equal(await hold.release(), true)
      assert.equal(await wire.redis.exists(name), 0)
    }
  })

  void test('two owners of one client, one after the other → two numbers under one uuid', async () => {
    const client = await open()
    const fields: (string | undefined)[] = []
    for (let round = 0; round < 2; round += 1) {
      const hold = await client.lock('orders').acquire()
      fields.push((await wire.redis.hkeys('orders'))[0])
      assert.equal(await hold.release(), true)
    }
    assert.notEqual(fields[0], fields[1])
    assert.deepEqual(
      fields.map((field) => field?.slice(0, 37)),
      [`${client.id}:`, `${client.id}:`],
    )
  })

  void test('re-entered → the same field counts, PEXPIRE anew; one level less → count 1, no message; freed → the key gone and `0`', async () => {
    const client = await open()
    const me = client.lock('orders').for(client.owner())
    const seen = await wire.monitored(async () => {
      await me.lock(20_000)
      await me.lock(10_000)
      assert.deepEqual(Object.values(await wire.redis.hgetall('orders')), ['2'])
      await me.unlock()
      assert.deepEqual(Object.values(await wire.redis.hgetall('orders')), ['1'])
      assert.deepEqual(wire.heard, [])
      const left = await wire.redis.pttl('orders')
      assert.ok(left > 8000 && left <= 20_000, String(left))
      await me.unlock()
    })
    const commands = ofScripts(seen)
    assert.ok(
      commands.some((command) => command.startsWith('pexpire orders 20000')),
      commands.join('\n'),
    )
    assert.ok(
      commands.some((command) => /^h?del orders\b/.test(command)),
      commands.join('\n'),
    )
    assert.ok(commands.includes('publish redisson_lock__channel:{orders} 0'), commands.join('\n'))
    for (const command of commands.filter((one) => !/^(time$|pubsub )/.test(one))) {
      assert.match(
        command,
        /^\w+ ('?orders|redisson_lock__channel:\{orders\}|redisson_unlock_latch:\{orders\}:|holdfast)/,
      )
    }
    await wire.told()
    assert.deepEqual(wire.heard, ['redisson_lock__channel:{orders} 0'])
  })

  void test('one lock and unlock → one request each, one message', async () => {
    const client = await open()
    const lock = client.lock('orders')
    await lock.using(() => undefined)
    await wire.told()
    wire.heard = []
    const seen = await wire.monitored(async () => {
      for (let round = 0; round < 10; round += 1) await lock.using(() => undefined)
    })
    assert.deepEqual(
      requests(seen),
      times(20, () => 'evalsha'),
    )
    // Somebody listens, who may be a Redisson that waits.
    assert.ok(ofScripts(seen).length <= 140, `${ofScripts(seen).length} commands in scripts`)
    await wire.told()
    assert.deepEqual(
      wire.heard,
      times(10, () => 'redisson_lock__channel:{orders} 0'),
    )
  })

  void test('many waiters of one client → handed on in the process with next to no request', async () => {
    const client = await open()
    const seen = await wire.monitored(async () => {
      await Promise.all(times(100, () => client.lock('orders').using(() => undefined)))
    })
    assert.ok(requests(seen).length <= 40, requests(seen).join())
  })

  void test('an aborted signal, a bad argument, a bad name → nothing is sent', async () => {
    const client = await open()
    const lock = client.lock('orders')
    const seen = await wire.monitored(async () => {
      await rejection(lock.acquire({ signal: AbortSignal.abort() }))
      await rejection(lock.tryAcquire({ signal: AbortSignal.abort(), wait: 100 }))
      await rejection(lock.using({ signal: AbortSignal.abort() }, () => undefined))
      await rejection(lock.acquire({ lease: -1 }))
      await rejection(lock.acquire({ wait: NaN }))
      await rejection(lock.for(client.owner()).lock(0))
      assert.throws(() => client.lock(''))
    })
    assert.deepEqual(requests(seen), [])
  })

  void test('a wait behind a Redisson → SUBSCRIBE to its channel, also for names with braces; none before, none behind ours', async () => {
    const [one, two] = [await open(), await open()]
    const waits = async (count: number, client: Client, name: string): Promise<void> => {
      while ((await client.lock(name).inspect()).waiting?.length !== count) await sleep(5)
    }
    for (const [name, channel] of [
      ['x', 'redisson_lock__channel:{x}'],
      ['a:{b}:c', 'redisson_lock__channel:a:{b}:c'],
      ['{x}', 'redisson_lock__channel:{x}'],
      ['a{b', 'redisson_lock__channel:a{b'],
      ['a:b', 'redisson_lock__channel:{a:b}'],
      ['a}b', 'redisson_lock__channel:{a}b}'],
    ] as const) {
      assert.equal(channelOf(name), channel)
      wire.heard = []
      const ours = await one.lock(name).acquire()
      const behind = two.lock(name).acquire()
      await waits(1, one, name)
      assert.deepEqual(await wire.redis.pubsub('CHANNELS', 'redisson_*'), [])
      assert.equal(await ours.release(), true)
      assert.equal(await (await behind).release(), true)
      const redisson = actor(name)
      assert.equal(await redisson.try(), null)
      const waiting = two.lock(name).acquire()
      while (((await wire.redis.pubsub('CHANNELS', channel)) as string[]).length === 0) await sleep(5)
      assert.equal(await redisson.release(), 1)
      assert.equal(await (await waiting).release(), true)
      // What is not needed any more is not kept.
      while (((await wire.redis.pubsub('CHANNELS', channel)) as string[]).length > 0) await sleep(5)
      await wire.told()
      const told = wire.heard.filter((message) => message.startsWith('redisson'))
      assert.ok(told.length >= 1)
      for (const message of told) assert.equal(message, `${channel} 0`)
    }
  })

  void test('L08: forced open → the key gone and `0`; of a free lock → no message', async () => {
    const client = await open()
    const lock = client.lock('orders')
    await lock.acquire()
    assert.equal(await lock.forceRelease(), true)
    assert.equal(await lock.forceRelease(), false)
    await wire.told()
    assert.deepEqual(wire.heard, ['redisson_lock__channel:{orders} 0'])
  })

  void test('G-12: a refused unlock → no message, no change', async () => {
    const client = await open()
    const redisson = actor('orders')
    assert.equal(await redisson.try(), null)
    const before = [await wire.redis.hgetall('orders'), await wire.redis.pttl('orders')] as const
    await rejection(client.lock('orders').for(client.owner()).unlock())
    assert.deepEqual(await wire.redis.hgetall('orders'), before[0])
    assert.ok((await wire.redis.pttl('orders')) <= before[1])
    await wire.told()
    assert.deepEqual(wire.heard, [])
    assert.equal(await redisson.release(), 1)
  })

  void test('held by holdfast → a Redisson’s try is told the TTL, its lock is woken well before it', async () => {
    const client = await open()
    for (const name of ['x', 'a:{b}:c', '{x}', 'a{b']) {
      const redisson = actor(name)
      const hold = await client.lock(name).acquire()
      const left = await redisson.try()
      assert.ok(left !== null && left > 25_000 && left <= 30_000, String(left))
      assert.equal(await redisson.release(), null)
      const locking = redisson.lock()
      await sleep(100)
      const begun = performance.now()
      assert.equal(await hold.release(), true)
      await locking
      assert.ok(performance.now() - begun < 3000)
      assert.deepEqual(redisson.heard, ['0'])
      assert.deepEqual(Object.keys(await wire.redis.hgetall(name)), [redisson.owner])
      assert.equal(await client.lock(name).tryAcquire(), undefined)
      assert.equal(await redisson.release(), 1)
    }
  })

  void test('held twice by a Redisson → holdfast waits for both unlocks, and is woken well before the TTL', async () => {
    const client = await open()
    const redisson = actor('orders')
    await redisson.try()
    await redisson.try()
    const [holder] = (await client.lock('orders').inspect()).holders
    assert.equal(holder?.count, 2)
    assert.equal(holder.client, redisson.id)
    let had = false
    const waiting = client
      .lock('orders')
      .acquire()
      .finally(() => (had = true))
    await sleep(150)
    assert.equal(await redisson.release(), 0)
    await sleep(150)
    assert.equal(had, false)
    const begun = performance.now()
    assert.equal(await redisson.release(), 1)
    const hold = await waiting
    assert.ok(performance.now() - begun < 3000)
    assert.equal(await redisson.release(), null)
    assert.equal(hold.state, 'held')
    assert.equal(await hold.release(), true)
  })

  void test('a Redisson whose process died → holdfast is in at the end of its lease', async () => {
    const client = await open()
    await actor('orders').try(800)
    const begun = performance.now()
    const hold = await client.lock('orders').acquire()
    const ms = performance.now() - begun
    assert.ok(ms > 600 && ms < 4000, String(ms))
    assert.equal(await hold.release(), true)
  })

  void test('G-01: Redissons and holdfast on one lock → one inside at a time, every one gets its turns', async () => {
    const holdfasts = [await open(), await open()]
    const redissons = times(3, (index) => actor('orders', index))
    let inside = 0
    let most = 0
    const turns = new Map<string, number>()
    const visit = async (who: string): Promise<void> => {
      inside += 1
      most = Math.max(most, inside)
      const seen = Number((await wire.redis.get('counter')) ?? 0)
      await sleep(1)
      await wire.redis.set('counter', seen + 1)
      turns.set(who, (turns.get(who) ?? 0) + 1)
      inside -= 1
    }
    const ours = holdfasts.flatMap((client, index) =>
      times(3, async (task) => {
        for (let round = 0; round < 12; round += 1) await client.lock('orders').using(() => visit(`h${index}.${task}`))
      }),
    )
    const theirs = redissons.map(async (redisson, index) => {
      for (let round = 0; round < 12; round += 1) {
        await redisson.lock()
        await visit(`r${index}`)
        assert.equal(await redisson.release(), 1)
      }
    })
    await Promise.all([...ours, ...theirs])
    assert.equal(most, 1)
    assert.equal(await wire.redis.get('counter'), String(9 * 12))
    assert.deepEqual(
      [...turns.values()],
      times(9, () => 12),
    )
    await wire.redis.del('counter')
  })

  void test('L26 X03: keyspace events → exactly one del or expired event per hold', async () => {
    await wire.redis.config('SET', 'notify-keyspace-events', 'Egx')
    const events: string[] = []
    const spy = new Redis(wire.url)
    spy.on('message', (channel: string, key: string) => {
      if (key === 'orders') events.push(channel.replace('__keyevent@0__:', ''))
    })
    await spy.subscribe('__keyevent@0__:del', '__keyevent@0__:expired')
    try {
      const client = await open()
      const me = client.lock('orders').for(client.owner())
      const told = async (expected: string[]): Promise<void> => {
        for (let wait = 0; wait < 300 && events.length < expected.length; wait += 1) await sleep(10)
        await sleep(50)
        assert.deepEqual(events, expected)
      }
      await me.lock(5000)
      await me.unlock()
      await told(['del'])
      const dying = await open()
      await dying.lock('orders').acquire({ lease: 300 })
      await dying.close({ release: false })
      await told(['del', 'expired'])
      await me.lock()
      await me.unlock()
      await told(['del', 'expired', 'del'])
      await client.lock('orders').using(() => undefined)
      await told(['del', 'expired', 'del', 'del'])
      await client.lock('orders').acquire({ lease: 200 })
      await sleep(400)
      assert.equal(events.length, 5)
      await client.lock('orders').acquire()
      assert.equal(await client.lock('orders').forceRelease(), true)
      await sleep(50)
      assert.equal(events.length, 6)
    } finally {
      spy.disconnect()
      await wire.redis.config('SET', 'notify-keyspace-events', '')
    }
    await wire.close()
    for (let wait = 0; wait < 100 && ((await wire.redis.pubsub('CHANNELS', '*')) as string[]).length > 0; wait += 1)
      await sleep(10)
  })

  void test('renewal → PEXPIRE of the watchdog time on its own keys, each third, none after the release', async () => {
    const client = await open({ watchdog: 2400 })
    const seen = await wire.monitored(async () => {
      const holds = await Promise.all(times(3, (index) => client.lock(`{o}${index}`).acquire()))
      await sleep(4000)
      for (const hold of holds) assert.equal(await hold.release(), true)
      await sleep(1000)
    })
    const commands = ofScripts(seen)
    for (const index of [0, 1, 2]) {
      const renewals = commands.filter((command) => command.startsWith(`pexpire {o}${index} `))
      assert.ok(renewals.length >= 4 && renewals.length <= 9, renewals.join())
      for (const renewal of renewals) assert.match(renewal, / 2400( |$)/)
    }
    for (const index of [0, 1, 2]) {
      const own = commands.filter((command) => command.includes(`{o}${index}`))
      const freed = own.findIndex((command) => /^h?del /.test(command))
      assert.ok(freed > 0)
      assert.ok(!own.slice(freed).some((command) => command.startsWith('pexpire')), own.join('\n'))
    }
    assert.ok(requests(seen).length <= 14, requests(seen).join())
  })

  void test('presence → `holdfast:client:<uuid>` and the register with a TTL, the only other keys', async () => {
    const client = await open({ presence: true, label: 'me' })
    const hold = await client.lock('orders').acquire()
    const about = [`holdfast:client:${client.id}`, 'holdfast:client:register']
    for (let wait = 0; wait < 200 && (await wire.redis.exists(...about)) < 2; wait += 1) await sleep(10)
    assert.deepEqual((await wire.redis.keys('*')).sort(), [...about, 'orders'])
    for (const key of about) assert.ok((await wire.redis.pttl(key)) > 0)
    assert.equal(await hold.release(), true)
  })
}

await onWire('the plain lock on the wire', onThisWire, closeActors)
