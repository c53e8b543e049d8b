import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, EngineError, LockLostError } from 'holdfast'
import type { Hold } from 'holdfast'
import { isNotOwner, rejection } from '../../contract/lock/kind.js'
import type { Client } from '../../../support/engines.js'
import type { Broken } from '../../../support/server.js'
import { onServer } from '../../../support/server.js'

const isEngineError = (code: string, text: RegExp | undefined, error: unknown): void => {
  assert.ok(error instanceof EngineError, String(error))
  assert.equal(error.code, code)
  if (text !== undefined) assert.match(error.message, text)
}

interface Trouble {
  readonly code: string
  readonly text: RegExp
  readonly args?: readonly string[]
  readonly begin: (broken: Broken) => Promise<unknown>
  readonly end: (broken: Broken) => Promise<unknown>
  /** Whether a renewal and a release are refused too. */
  readonly stops: boolean
}

const troubles: readonly Trouble[] = [
  {
    code: 'READONLY',
    text: /read only replica/,
    begin: ({ redis }) => redis.call('REPLICAOF', '127.0.0.1', '1'),
    end: ({ redis }) => redis.call('REPLICAOF', 'NO', 'ONE'),
    stops: true,
  },
  {
    code: 'OOM',
    text: /command not allowed when used memory/,
    begin: ({ redis }) => redis.config('SET', 'maxmemory', '1'),
    end: ({ redis }) => redis.config('SET', 'maxmemory', '0'),
    stops: false,
  },
  {
    code: 'MISCONF',
    text: /MISCONF/,
    begin: async ({ redis, until }) => {
      const [, directory] = await redis.config('GET', 'dir')
      rmSync(directory ?? '', { recursive: true })
      await redis.config('SET', 'save', '3600 1')
      await redis.call('BGSAVE').catch(() => undefined)
      await until(async () => (await redis.info('persistence')).includes('rdb_last_bgsave_status:err'))
    },
    end: ({ redis }) => redis.config('SET', 'save', ''),
    stops: true,
  },
  {
    code: 'NOPERM',
    text: /has no permissions to run the 'eval/,
    begin: ({ redis }) => redis.call('ACL', 'SETUSER', 'default', '-evalsha', '-eval'),
    end: ({ redis }) => redis.call('ACL', 'SETUSER', 'default', '+@all'),
    stops: true,
  },
  {
    code: 'BUSY',
    text: /busy running a script/,
    args: ['--busy-reply-threshold', '50'],
    begin: async ({ redis, until }) => {
      redis
        .duplicate({ retryStrategy: () => null })
        .eval('while true do end', 0)
        .catch(() => undefined)
      await until(() =>
        redis.ping().then(
          () => false,
          () => true,
        ),
      )
    },
    end: async ({ redis, until }) => {
      await redis.call('SCRIPT', 'KILL')
      await until(() =>
        redis.ping().then(
          () => true,
          () => false,
        ),
      )
    },
    stops: true,
  },
]

void describe('trouble at the server', { concurrency: 4 }, () => {
  for (const { code, text, args, begin, end, stops } of troubles) {
    onServer(
      `G-24: ${code} → an acquire rejects with the server’s text and holds nothing; a hold lives through it`,
      async (broken) => {
        const { redis, open } = broken
        const client = await open({ watchdog: 6000 })
        const held: Hold = await client.lock('held').acquire()
        const ending: Hold = await client.lock('ending').acquire()
        await client.lock('warm').using(() => undefined)
        await begin(broken)
        const calls = [
          client.lock('a').acquire(),
          client.lock('b').acquire({ signal: new AbortController().signal }),
          client.lock('c').tryAcquire(),
          client.lock('d').for(client.owner()).lock(),
        ]
        const began = performance.now()
        for (const error of await Promise.all(calls.map(rejection))) isEngineError(code, text, error)
        assert.ok(performance.now() - began < 3000)
        let released: boolean | undefined
        const releasing = ending.release().then((freed) => (released = freed))
        await sleep(300)
        if (stops) assert.equal(released, undefined, 'it tries on')
        assert.equal(held.lost, false)
        await end(broken)
        assert.equal(await releasing, true)
        await sleep(3000)
        assert.equal(held.state, 'held')
        assert.equal(held.signal.aborted, false)
        assert.equal(await held.release(), true)
        assert.deepEqual(await redis.keys('?'), [])
        const again = await client.lock('a').acquire()
        assert.equal(await again.release(), true)
      },
      args,
    )
  }

  onServer('G-24: NOSCRIPT at any time → nobody notices', async ({ redis, open }) => {
    const client = await open({ watchdog: 3000 })
    for (let round = 0; round < 10; round += 1) {
      await redis.script('FLUSH')
      const hold = await client.lock('a').acquire()
      await redis.script('FLUSH')
      assert.equal(await hold.release(), true)
    }
    const hold = await client.lock('a').acquire()
    const flushing = setInterval(() => void redis.script('FLUSH'), 20)
    await sleep(4000)
    clearInterval(flushing)
    assert.equal(hold.state, 'held')
    assert.equal(await hold.release(), true)
  })

  onServer(
    'G-24: CLUSTERDOWN → an acquire rejects with it',
    async ({ server }) => {
      const outcome = await connect({ url: server.url, presence: false }).catch((error: unknown) => error)
      if (outcome instanceof Error) {
        assert.match(outcome.message, /cluster/i)
        return
      }
      const client = outcome as Awaited<ReturnType<typeof connect>>
      isEngineError('CLUSTERDOWN', /Hash slot not served/, await rejection(client.lock('a').acquire()))
      await client.close()
    },
    ['--cluster-enabled', 'yes'],
  )

  for (const { id, lockOf } of [
    { id: 'L04', lockOf: (client: Client, name: string) => client.lock(name) },
    { id: 'SP01', lockOf: (client: Client, name: string) => client.spinLock(name) },
    { id: 'G11', lockOf: (client: Client, name: string) => client.keyedLock(name, ['x', 'y']) },
  ]) {
    onServer(
      `${id}: the server stopped before a timed try → rejects with an EngineError, not false`,
      async (broken) => {
        const client = await broken.open({ commandTimeout: 500 })
        const hold = await lockOf(client, 'held').acquire({ lease: 60_000 })
        await broken.server.stop()
        await sleep(200)
        const error = await rejection(lockOf(client, 'a').tryAcquire({ wait: 1500, lease: 10_000 }))
        assert.ok(error instanceof EngineError, String(error))
        assert.match(error.code, /OFFLINE|NO_REPLY/)
        assert.equal(hold.state === 'held' || hold.state === 'uncertain', true)
      },
    )
  }

  for (const { id, lockOf } of [
    { id: 'E01: written', lockOf: (client: Client, name: string) => client.readWriteLock(name).write },
    { id: 'E02: read', lockOf: (client: Client, name: string) => client.readWriteLock(name).read },
    { id: 'E03: locked', lockOf: (client: Client, name: string) => client.lock(name) },
  ]) {
    onServer(
      `${id}, the server restarted without its data → lost, and told; later ones are renewed`,
      async (broken) => {
        const client = await broken.open({ watchdog: 3000 })
        let reconnects = 0
        client.on('reconnect', () => (reconnects += 1))
        client.on('error', () => undefined)
        const lock = lockOf(client, 'a')
        const hold = await lock.acquire()
        const me = lockOf(client, 'b').for(client.owner())
        await me.lock()
        await broken.restart()
        await broken.until(() => hold.lost)
        assert.ok(hold.signal.reason instanceof LockLostError)
        await broken.until(() => reconnects > 0)
        assert.equal(await hold.release(), false)
        assert.ok(isNotOwner('b')(await rejection(me.unlock())))
        for (let round = 0; round < 2; round += 1) {
          const next = await lock.acquire()
          await sleep(4000)
          assert.equal(next.lost, false)
          assert.equal(await next.release(), true)
        }
      },
    )
  }

  onServer(
    'G-02: no renewal is answered for longer than the lease → uncertain, then lost before the expiry, for good',
    async (broken) => {
      const { proxy, redis, open } = broken
      const client = await open({ watchdog: 3000, commandTimeout: 400 })
      const events: string[] = []
      client.on('error', () => undefined)
      client.on('uncertain', ({ name }) => events.push(`uncertain ${name}`))
      client.on('lost', ({ name }) => events.push(`lost ${name}`))
      const hold = await client.lock('a').acquire()
      const states = new Set<string>()
      const watching = setInterval(() => states.add(hold.state), 5)
      proxy.deaf = true
      const expired = broken.until(async () => (await redis.exists('a')) === 0).then(() => performance.now())
      let told = NaN
      hold.signal.addEventListener('abort', () => (told = performance.now()))
      const gone = await expired
      clearInterval(watching)
      assert.ok(told < gone, 'told before the key was gone')
      assert.deepEqual([...states], ['held', 'uncertain', 'lost'])
      assert.deepEqual(events, ['uncertain a', 'lost a'])
      assert.ok(hold.signal.reason instanceof LockLostError)
      proxy.deaf = false
      await sleep(1500)
      assert.equal(hold.state, 'lost')
      assert.equal(await redis.exists('a'), 0)
      assert.equal(await hold.release(), false)
    },
  )

  onServer(
    'a short outage within the lease → uncertain at most, renewed again, never lost',
    async ({ proxy, open, redis }) => {
      const client = await open({ watchdog: 8000, commandTimeout: 500 })
      client.on('error', () => undefined)
      const hold = await client.lock('a').acquire()
      for (let round = 0; round < 2; round += 1) {
        proxy.deaf = true
        await sleep(2500)
        assert.equal(hold.lost, false)
        proxy.deaf = false
        proxy.cut()
        await sleep(1500)
        assert.equal(hold.state, 'held')
      }
      assert.ok((await redis.pttl('a')) > 4000)
      assert.equal(await hold.release(), true)
    },
  )

  onServer(
    'G-16 G-17: the connection cut while waiting, the release unheard → in at the reconnect',
    async ({ proxy, redis, open }) => {
      const client = await open()
      client.on('error', () => undefined)
      await redis.hset('a', 'foreign:1', 1)
      await redis.pexpire('a', 60_000)
      const waiting = client.lock('a').acquire()
      await sleep(200)
      proxy.cut()
      await redis.del('a')
      const began = performance.now()
      const hold = await waiting
      assert.ok(performance.now() - began < 6000)
      assert.equal(await hold.release(), true)
    },
  )

  onServer(
    'a node of a cluster, connected to as if it were alone → a warning, told to the logger once',
    async ({ open }) => {
      const told: string[] = []
      const note = (message: string): void => void told.push(message)
      const client = await open({ logger: { debug: note, info: note, warn: note, error: note } })
      assert.equal(client.warnings.filter((warning) => warning.includes('redis+cluster:')).length, 1)
      assert.equal(told.filter((warning) => warning.includes('redis+cluster:')).length, 1)
    },
    ['--cluster-enabled', 'yes'],
  )

  onServer('a replica → a warning that says so, gone when it is none', async ({ redis, open }) => {
    await redis.call('REPLICAOF', '127.0.0.1', '1')
    assert.match(JSON.stringify((await open()).warnings), /is a replica/)
    await redis.call('REPLICAOF', 'NO', 'ONE')
    assert.doesNotMatch(JSON.stringify((await open()).warnings), /is a replica/)
  })

  onServer(
    'INFO and TIME not allowed → connected all the same, and a warning each that says what nobody looks at',
    async ({ server, redis, open }) => {
      await redis.call('ACL', 'SETUSER', 'narrow', 'on', '>pass', '~*', '&*', '+@all', '-info', '-time')
      const client = await open({ url: server.url.replace('//', '//narrow:pass@') })
      assert.equal(client.warnings.length, 2, client.warnings.join('\n'))
      assert.match(client.warnings.join('\n'), /INFO .*evicts keys.*does not wait for replicas: NOPERM/)
      assert.match(client.warnings.join('\n'), /TIME .*clock is wrong: NOPERM/)
      assert.equal(await client.lock('a').using(() => 'done'), 'done')
    },
  )

  onServer('an evicting maxmemory-policy → a warning that names it', async ({ redis, open }) => {
    await redis.config('SET', 'maxmemory', '100mb')
    await redis.config('SET', 'maxmemory-policy', 'allkeys-lru')
    const client = await open()
    assert.match(JSON.stringify(client.warnings), /maxmemory-policy|evict/)
    await redis.config('SET', 'maxmemory-policy', 'noeviction')
    const calm = await open()
    assert.doesNotMatch(JSON.stringify(calm.warnings), /maxmemory-policy|evict/)
  })
})
