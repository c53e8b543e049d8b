import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hold } from 'holdfast'
import { connect } from 'holdfast'
import { Redis } from 'ioredis'
import { parseUrl } from '#src/config/url.js'
import { systemClock } from '#src/base/clock.js'
import { IoredisDriver } from '#src/engine/ioredis/driver.js'
import { Link } from '#src/engine/link.js'
import { slotOf } from '#src/keys.js'
import { lockAcquire, lockRenew } from '#src/lua/scripts.gen.js'
import { anything } from '#src/lua/reply-shape.js'
import { times } from '../../suites/contract/lock/kind.js'
import type { Client, Options } from '../../support/engines.js'
import { redisEngine, started } from '../../support/engines.js'
import type { RedisCluster } from '../../support/redis-cluster.js'
import { startCluster } from '../../support/redis-cluster.js'
import { channelOf } from '../../support/redisson-actor.js'
import { until } from '../../support/until.js'

interface Seen {
  readonly words: string[]
  readonly source: string
  readonly node: number
}

const openSockets = (): Socket[] => {
  const { _getActiveHandles: handles } = process as unknown as { _getActiveHandles(): unknown[] }
  return handles.call(process).filter((handle) => handle instanceof Socket)
}

void describe('the plain lock on a cluster of three nodes', () => {
  let cluster: RedisCluster
  let reason: string | undefined
  const clients: Client[] = []

  before(async () => {
    const start = async (): Promise<void> => {
      cluster = await startCluster()
    }
    reason = await started({ ...redisEngine, start })
  })

  after(async () => {
    if (reason === undefined) await cluster.stop()
  })

  const onEach = <T>(ask: (redis: Redis) => Promise<T>): Promise<T[]> =>
    Promise.all(cluster.nodes.map(({ redis }) => ask(redis)))

  const list = (redis: Redis, ...words: [string, ...string[]]): Promise<string[]> =>
    redis.call(...words) as Promise<string[]>

  const keys = async (): Promise<string[]> => {
    // Whose turn it is beside others who listen goes by itself.
    const all = (await onEach((redis) => redis.keys('*')))
      .flat()
      .filter((key) => !/^holdfast_(?:line|keyed|rwlock)_turn:/.test(key))
    return all.filter((key) => !key.startsWith('holdfast:client:')).sort()
  }

  afterEach(async () => {
    if (reason !== undefined) return
    await Promise.all(clients.splice(0).map((client) => client.close()))
    assert.deepEqual(await keys(), [])
    assert.deepEqual(await onEach((redis) => list(redis, 'PUBSUB', 'CHANNELS')), [[], [], []])
    assert.deepEqual(await onEach((redis) => list(redis, 'PUBSUB', 'SHARDCHANNELS')), [[], [], []])
    for (const { redis } of cluster.nodes) {
      await until(
        async () =>
          String(await redis.client('LIST'))
            .trim()
            .split('\n').length === 1,
      )
    }
  })

  const on = (name: string, body: () => Promise<void>): void => {
    test(name, { timeout: 120_000 }, async (t) => {
      if (reason === undefined) await body()
      else t.skip(reason)
    })
  }

  const open = async (options: Partial<Options> = {}): Promise<Client> => {
    const client = await connect({ url: cluster.url, ...options })
    clients.push(client)
    return client
  }

  /** What all nodes saw meanwhile. */
  const monitored = async (work: () => Promise<void>): Promise<Seen[]> => {
    const seen: Seen[] = []
    const monitors = await onEach((redis) => redis.monitor())
    monitors.forEach((monitor, node) => {
      monitor.on('monitor', (_time: string, words: string[], source: string) => seen.push({ words, source, node }))
    })
    try {
      await work()
      const isEnd = ({ words }: Seen): boolean => words[1] === 'end of the work'
      await onEach((redis) => redis.ping('end of the work'))
      await until(() => seen.filter(isEnd).length === cluster.nodes.length)
    } finally {
      for (const monitor of monitors) monitor.disconnect()
    }
    return seen
  }

  on('a lock taken, tried by another client, given back → excluded, then had', async () => {
    const [one, other] = [await open(), await open()]
    const hold = await one.lock('a').acquire()
    assert.deepEqual(await keys(), ['a'])
    assert.equal(await other.lock('a').tryAcquire(), undefined)
    assert.equal(await other.lock('a').tryAcquire({ wait: 100 }), undefined)
    assert.equal(await hold.release(), true)
    assert.deepEqual(await keys(), [])
    const second = await other.lock('a').tryAcquire()
    assert.equal(await second?.release(), true)
  })

  for (const [redisson, way, other] of [
    ['4', 'SHARDCHANNELS', 'CHANNELS'],
    ['3.17', 'CHANNELS', 'SHARDCHANNELS'],
  ] as const) {
    on(
      `a release beside Redisson ${redisson} → wakes the other client by ${way}, long before its lease or its next poll`,
      async () => {
        const [one, two] = [await open({ redisson }), await open({ redisson })]
        const rounds = 15
        let waited = 0
        for (let round = 0; round < rounds; round += 1) {
          const name = `wake:${round}`
          const hold = await one.lock(name).acquire({ lease: 60_000 })
          const waiting = two.lock(name).acquire({ lease: 60_000 })
          const channel = `holdfast_line_grant:{${name}}:${two.id}`
          await until(async () => (await onEach((redis) => list(redis, 'PUBSUB', way))).flat().includes(channel))
          assert.deepEqual((await onEach((redis) => list(redis, 'PUBSUB', other))).flat(), [])
          await sleep(60)
          const begun = performance.now()
          assert.equal(await hold.release(), true)
          const next = await waiting
          waited += performance.now() - begun
          assert.equal(await next.release(), true)
        }
        assert.ok(waited < rounds * 250, `${waited / rounds} ms on average`)
      },
    )
  }

  on('the channel of a lock → on the node of its slot, with Redisson’s message', async () => {
    const one = await open()
    for (const name of ['m1', 'm2', 'm3', 'm4']) {
      const channel = channelOf(name)
      const slot = (await cluster.nodes[0]?.redis.call('CLUSTER', 'KEYSLOT', name)) as number
      const owner = cluster.nodes[Math.floor((slot * 3) / 16_384)]
      assert.ok(owner !== undefined)
      const spy = new Redis({ port: owner.port, host: '127.0.0.1' })
      const heard: string[] = []
      spy.on('smessage', (from: string, message: string) => heard.push(`${from} ${message}`))
      await spy.ssubscribe(channel)
      await one.lock(name).using(() => undefined)
      await until(() => heard.length > 0)
      assert.deepEqual(heard, [`${channel} 0`])
      spy.disconnect()
    }
  })

  on('names with braces → key and channel in one slot: taken, waited for, woken, given back', async () => {
    const [one, other] = [await open(), await open()]
    for (const name of ['{a}', '{a}:b', 'a:{b}:c', '{a}{b}', 'x{y}z}', '{{a}', '{ü}:ö']) {
      const hold = await one.lock(name).acquire({ lease: 60_000 })
      assert.deepEqual(await keys(), [name])
      const waiting = other.lock(name).acquire()
      await sleep(50)
      assert.equal(await hold.release(), true, name)
      const next = await waiting
      assert.equal(await next.release(), true, name)
      assert.deepEqual(await keys(), [])
    }
  })

  on('RW06: written and read by one owner, both given back → every key in one slot, and none is left', async () => {
    const { read, write } = (await open()).readWriteLock('1234')
    const writer = await write.acquire()
    const reader = await read.acquire({ owner: writer.owner })
    assert.deepEqual(
      (await keys()).map((key) => key.replace(/:\d+:/, ':N:').replace(/[0-9a-f-]{36}/, 'client')),
      ['1234', '{1234}:client:N:rwlock_timeout:1'],
    )
    for (const hold of [reader, writer]) assert.equal(await hold.release(), true)
    assert.deepEqual(await keys(), [])
  })

  on(
    'L17: thirty tries while the slot goes from node to node → each is answered, nobody is beside another',
    async () => {
      const client = await open()
      const slot = String(await cluster.nodes[0]?.redis.call('CLUSTER', 'KEYSLOT', 'moves'))
      const home = cluster.nodes[Math.floor((Number(slot) * 3) / 16_384)]
      const give = async (node: RedisCluster['nodes'][number] | undefined): Promise<void> => {
        assert.ok(node !== undefined)
        const id = String(await node.redis.call('CLUSTER', 'MYID'))
        for (const { redis } of [node, ...cluster.nodes]) await redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', id)
      }
      for (let round = 0; round < 30; round += 1) {
        // A slot moves without its keys here, and so only while there are none.
        if (round % 10 === 5) await give(cluster.nodes.find((node) => node !== home))
        if (round % 10 === 9) await give(home)
        const hold = await client.lock('moves').tryAcquire()
        assert.ok(hold !== undefined, `round ${round}`)
        assert.equal(await client.lock('moves').tryAcquire(), undefined)
        assert.equal(await hold.release(), true)
      }
      await give(home)
    },
  )

  on(
    'another node has the slot, without the lock → the holder is in doubt when the client learns that, then told',
    async () => {
      const client = await open()
      const [watched, fixed] = [
        await client.lock('gone').acquire(),
        await client.lock('{gone}').acquire({ lease: 60_000 }),
      ]
      const away = await client.lock('stays').acquire()
      const doubted: string[] = []
      client.on('uncertain', ({ name }) => void doubted.push(name))
      const home = await cluster.ownerOf('gone')
      const other = cluster.nodes.find((node) => node !== home)
      const slot = String(await home.redis.call('CLUSTER', 'KEYSLOT', 'gone'))
      const give = async (node: RedisCluster['nodes'][number]): Promise<void> => {
        const id = String(await node.redis.call('CLUSTER', 'MYID'))
        for (const { redis } of [node, ...cluster.nodes]) await redis.call('CLUSTER', 'SETSLOT', slot, 'NODE', id)
      }
      // As after a failover to a replica that had not heard of it.
      await home.redis.del('gone', '{gone}')
      assert.ok(other !== undefined)
      await give(other)
      assert.equal(await client.lock('{gone}other').isLocked(), false)
      await until(() => watched.lost && fixed.lost, 8000)
      await until(() => away.state === 'held', 8000)
      assert.deepEqual([...new Set(doubted)].sort(), ['gone', 'stays', '{gone}'])
      assert.equal(await away.release(), true)
      await give(home)
    },
  )

  on('200 names over all slots at once, twice each → all had, a fair part on each node, nothing left', async () => {
    const [one, other] = [await open(), await open()]
    const names = times(200, (i) => `n${i}`)
    const holds = await Promise.all(names.map((name) => one.lock(name).acquire()))
    assert.deepEqual(await keys(), [...names].sort())
    for (const size of await onEach((redis) => redis.dbsize())) assert.ok(size > 40, `${size} keys on one node`)
    const waiting = names.map((name) => other.lock(name).acquire({ wait: 60_000 }))
    assert.deepEqual(new Set(await Promise.all(holds.map((hold) => hold.release()))), new Set([true]))
    const seconds = await Promise.all(waiting)
    assert.deepEqual(new Set(await Promise.all(seconds.map((hold) => hold.release()))), new Set([true]))
    assert.deepEqual(await keys(), [])
  })

  on('300 holds in 100 slots over three leases → all kept, renewed in batches of one slot each', async () => {
    const client = await open({ watchdog: 3000 })
    const lost: string[] = []
    client.on('lost', ({ name }) => lost.push(name))
    const names = times(300, (i) => `{tag${i % 100}}:${i}`)
    let holds: Hold[] = []
    const seen = await monitored(async () => {
      holds = await Promise.all(names.map((name) => client.lock(name).acquire()))
      await sleep(9000)
    })
    assert.deepEqual(lost, [])
    assert.ok(holds.every(({ state }) => state === 'held'))
    const renewals = seen.filter(({ words: [, what] }) => what === lockRenew.sha || what === lockRenew.text)
    const batches = renewals.map(({ words }) => words.slice(3, 3 + Number(words[2])))
    for (const batch of batches) assert.equal(new Set(batch.map((key) => /^\{\w+\}/.exec(key)?.[0])).size, 1)
    const renewed = new Map<string, number>()
    for (const key of batches.flat()) renewed.set(key, (renewed.get(key) ?? 0) + 1)
    assert.equal(renewed.size, 300)
    assert.ok(Math.min(...renewed.values()) >= 5, 'each is renewed each third of the lease')
    assert.ok(
      batches.length <= batches.flat().length / 2,
      `${batches.length} calls for ${batches.flat().length} renewals`,
    )
    assert.deepEqual(new Set(renewals.map(({ node }) => node)), new Set([0, 1, 2]))
    assert.deepEqual(new Set(await Promise.all(holds.map((hold) => hold.release()))), new Set([true]))
  })

  on('the client closed with holds and waiters on all nodes → nothing is left on any', async () => {
    const [one, other] = [await open(), await open()]
    const names = times(50, (i) => `c${i}`)
    await Promise.all(names.map((name) => one.lock(name).acquire()))
    const waiting = Promise.allSettled(names.map((name) => other.lock(name).acquire()))
    await until(async () => (await onEach((redis) => list(redis, 'PUBSUB', 'SHARDCHANNELS'))).flat().length === 50)
    await other.close()
    for (const { status } of await waiting) assert.equal(status, 'rejected')
    await one.close()
    assert.deepEqual(await onEach((redis) => redis.dbsize()), [0, 0, 0])
  })

  for (const { id, lockOf } of [
    { id: 'L11: the plain lock', lockOf: (client: Client, name: string) => client.lock(name) },
    { id: 'SP06: the spin lock', lockOf: (client: Client, name: string) => client.spinLock(name) },
    { id: 'G14: keys of a group', lockOf: (client: Client, name: string) => client.keyedLock(name, ['x', 'y']) },
  ]) {
    on(`${id}, three rounds on each node → locked, excluded, not locked`, async () => {
      const [one, other] = [await open({ replicas: { timeout: 3000 }, commandTimeout: 5000 }), await open()]
      const rounds = ['a', 'b', 'c'].flatMap((name) => times(3, () => name))
      assert.equal(new Set(rounds.map((name) => Math.floor(slotOf(name) / 5462))).size, 3)
      for (const name of rounds) {
        const hold = await lockOf(one, name).acquire()
        assert.equal(await lockOf(other, name).isLocked(), true)
        assert.equal(await lockOf(other, name).tryAcquire(), undefined)
        assert.equal(await hold.release(), true)
        assert.equal(await lockOf(other, name).isLocked(), false)
      }
    })
  }

  on('sets of keys in groups of every node, for longer than two leases → each renewed where it is', async () => {
    const client = await open({ watchdog: 1500 })
    const errors: unknown[] = []
    client.on('error', (error) => errors.push(error))
    const sets = times(15, (group) => times(3, (set) => client.keyedLock(`g${group}`, [`${set}:a`, `${set}:b`]))).flat()
    const holds = await Promise.all(sets.map((set) => set.acquire()))
    for (const size of await onEach((redis) => redis.dbsize())) assert.ok(size > 0, 'a node has none')
    const seen = await monitored(() => sleep(3500))
    assert.ok(holds.every(({ state }) => state === 'held'))
    // In batches: a script for each group that is due, not for each set of it.
    const scripts = seen.filter(({ words, source }) => source !== 'lua' && words[0]?.toLowerCase() === 'evalsha')
    assert.ok(scripts.length > 0 && scripts.length < 10 * 45, `${scripts.length} scripts`)
    await onEach((redis) => redis.script('FLUSH'))
    await sleep(1000)
    assert.deepEqual(new Set(await Promise.all(holds.map((hold) => hold.release()))), new Set([true]))
    assert.deepEqual(errors, [])
  })

  on('SCRIPT FLUSH on one node after the other → acquire, renewal and release go on', async () => {
    const client = await open({ watchdog: 1500 })
    const names = times(30, (i) => `f${i}`)
    for (const { redis } of cluster.nodes) {
      await redis.script('FLUSH')
      const holds = await Promise.all(names.map((name) => client.lock(name).acquire()))
      await redis.script('FLUSH')
      await sleep(1700)
      assert.ok(holds.every(({ state }) => state === 'held'))
      assert.equal((await keys()).length, 30)
      await redis.script('FLUSH')
      assert.deepEqual(new Set(await Promise.all(holds.map((hold) => hold.release()))), new Set([true]))
    }
  })

  const withLink = async (body: (link: Link, sockets: () => Socket[]) => Promise<void>): Promise<void> => {
    const place = parseUrl(cluster.url)
    assert.ok(place.engine === 'redis')
    const options = { clock: systemClock, connectTimeout: 5000, commandTimeout: 5000 }
    const others = new Set(openSockets())
    const link = new Link(
      IoredisDriver.open(place.endpoint, { connectTimeout: 5000, commandTimeout: 5000, clock: systemClock }),
      options,
      {
        message: () => undefined,
        reconnected: () => undefined,
        moved: () => undefined,
        gap: () => undefined,
        unheard: () => undefined,
        error: () => undefined,
      },
    )
    await link.open()
    try {
      await body(link, () => openSockets().filter((socket) => !others.has(socket)))
    } finally {
      await link.close()
    }
  }

  on('a script with a trailing WAIT, the first command of all → both go to the node of the key, and it is behind', () =>
    withLink(async (link) => {
      const names = times(20, (i) => `w${i}`)
      const wait = { replicas: 0, timeout: 1000 }
      const seen = await monitored(async () => {
        const runs = names.map((name) => link.run(lockAcquire, [name, name, name], ['me', 5000], { wait }))
        assert.deepEqual(
          await Promise.all(runs.map(async (run) => [(await run)[0], await (await run)[1]])),
          names.map(() => ['held', 0]),
        )
        await Promise.all(names.map((name) => link.command(['DEL', name], anything, { route: name })))
      })
      for (const node of [0, 1, 2]) {
        const here = seen.filter((one) => one.node === node && one.source !== 'lua')
        const sent = here.map(({ words: [name = ''] }) => name.toLowerCase())
        const ours = sent.filter((name) => ['eval', 'evalsha', 'wait'].includes(name))
        // The first has one at once; those that were sent meanwhile share the next.
        assert.equal(ours[1], 'wait', ours.join(' '))
        assert.equal(ours.at(-1), 'wait', ours.join(' '))
        assert.ok(ours.filter((name) => name === 'wait').length <= 6, ours.join(' '))
      }
    }),
  )

  on('the connection to one node cut in mid-command → NO_REPLY for those, and nothing is done twice', () =>
    withLink(async (link, sockets) => {
      const names = times(60, (i) => `i${i}`)
      const all = (command: string): Promise<unknown>[] =>
        names.map((name) => link.command([command, name], anything, { route: name }))
      assert.deepEqual(new Set(await Promise.all(all('INCR'))), new Set([1]))
      const calls = all('INCR')
      const port = cluster.nodes[0]?.port
      for (const socket of sockets()) if (socket.remotePort === port) socket.destroy()
      const outcomes = await Promise.allSettled(calls)
      for (const outcome of outcomes) {
        if (outcome.status === 'fulfilled') assert.equal(outcome.value, 2)
        else assert.equal((outcome.reason as { code: string }).code, 'NO_REPLY', String(outcome.reason))
      }
      assert.ok(outcomes.some(({ status }) => status === 'rejected'))
      assert.ok(outcomes.some(({ status }) => status === 'fulfilled'))
      await sleep(500)
      for (const value of await Promise.all(all('GET')))
        assert.ok(value === '1' || value === '2', `${String(value)} times`)
      await Promise.all(all('DEL'))
    }),
  )
})
