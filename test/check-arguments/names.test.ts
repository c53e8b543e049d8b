import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'holdfast'
import { rejection } from '../suites/contract/lock/kind.js'
import type { Client } from '../support/engines.js'
import { onServer } from '../support/server.js'

/** Everything that a name is given to. */
const makers: Readonly<Record<string, (client: Client, name: string) => unknown>> = {
  lock: (client, name) => client.lock(name),
  nonReentrantLock: (client, name) => client.nonReentrantLock(name),
  fairLock: (client, name) => client.fairLock(name),
  nonReentrantFairLock: (client, name) => client.nonReentrantFairLock(name),
  fencedLock: (client, name) => client.fencedLock(name),
  spinLock: (client, name) => client.spinLock(name),
  readWriteLock: (client, name) => client.readWriteLock(name),
  'fair readWriteLock': (client, name) => client.readWriteLock(name, { fair: true }),
  'keyedLock, its group': (client, name) => client.keyedLock(name, ['a']),
  'keyedLock, a key': (client, name) => client.keyedLock('group', ['a', name]),
  semaphore: (client, name) => client.semaphore(name),
  permitSemaphore: (client, name) => client.permitSemaphore(name),
  countDownLatch: (client, name) => client.countDownLatch(name),
  rateLimiter: (client, name) => client.rateLimiter(name),
  topic: (client, name) => client.topic(name),
  'sharded topic': (client, name) => client.topic(name, { sharded: true }),
  patternTopic: (client, name) => client.patternTopic(name),
  'owner, its label': (client, name) => client.owner(name),
}

const HIGH = 'half \ud83d'
const LOW = '\ude00 half'

void describe('a name', () => {
  test('of more than 64 KiB → TypeError at once that names the argument and shows little of it', async () => {
    const client = await connect('memory:')
    // Bytes, not characters
    for (const long of ['x'.repeat(65_537), 'é'.repeat(32_769), '😀'.repeat(16_385)]) {
      for (const [what, make] of Object.entries(makers)) {
        assert.throws(
          () => make(client, long),
          (error) =>
            error instanceof TypeError && error.message.includes('at most 65536 bytes') && error.message.length < 300,
          what,
        )
      }
    }
    for (const fits of ['x'.repeat(65_536), '😀'.repeat(16_384)]) {
      for (const make of Object.values(makers)) make(client, fits)
      assert.equal(await (await client.fairLock(fits).acquire()).release(), true)
    }
    await client.close()
  })

  test('with half a surrogate pair → TypeError at once; a whole one is as good as any', async () => {
    const client = await connect('memory:')
    for (const half of [HIGH, LOW]) {
      for (const [what, make] of Object.entries(makers)) {
        assert.throws(() => make(client, half), /half a surrogate pair/, what)
      }
    }
    for (const make of Object.values(makers)) make(client, 'whole 😀')
    await client.close()
  })

  test('of a script’s key, and of a label → the same; a script’s text may be longer', async () => {
    const client = await connect('memory:')
    for (const bad of ['x'.repeat(65_537), HIGH]) {
      assert.ok((await rejection(client.script('return 1').run({ keys: [bad] }))) instanceof TypeError)
      assert.ok((await rejection(connect({ url: 'memory:', label: bad }))) instanceof TypeError)
    }
    assert.equal(await client.script(`return 1 -- ${'x'.repeat(70_000)}`).run(), 1)
    await client.close()
  })

  test('that mapName made too long, or only half → refused as any', async () => {
    const late = (): unknown => Promise.reject(new Error('late'))
    for (const mapped of ['x'.repeat(65_537), HIGH, '', 7, undefined, late]) {
      const mapName = (name: string): string => {
        if (name.startsWith('holdfast:client:')) return name
        return (typeof mapped === 'function' ? mapped() : mapped) as string
      }
      const client = await connect({ url: 'memory:', mapName })
      assert.throws(() => client.lock('a'), TypeError)
      assert.throws(() => client.topic('a'), TypeError)
      await client.close()
    }
  })
})

void describe('mapName', { concurrency: 4 }, () => {
  onServer('is asked when the object is made, and not again: what it throws later does not matter', async (broken) => {
    let gone = false
    const mapName = (name: string): string => {
      if (gone) throw new Error('no tenant')
      return `tenant:${name}`
    }
    const client = await broken.open({ mapName, watchdog: 3000 })
    const { read, write } = client.readWriteLock('rw')
    const locks = [
      ...[client.lock('a'), client.fairLock('b'), client.fencedLock('c'), client.spinLock('d')],
      ...[client.keyedLock('e', ['1', '2']), read, write, client.multiLock(client.lock('f'), client.lock('g'))],
    ]
    const semaphore = client.semaphore('s')
    gone = true
    assert.throws(() => client.lock('x'), /no tenant/)
    await semaphore.trySetPermits(1)
    await semaphore.using(() => undefined)
    assert.equal(await semaphore.delete(), true)
    await Promise.all(
      locks
        .filter((lock) => lock !== write)
        .map(async (lock) => {
          const hold = await lock.acquire()
          const waiting = lock === read ? undefined : lock.acquire({ wait: 20_000 })
          assert.equal((await lock.inspect()).holders.length > 0, true)
          await sleep(1200)
          assert.equal(hold.state, 'held')
          assert.equal(await hold.release(), true)
          if (waiting !== undefined) assert.equal(await (await waiting).release(), true)
          assert.equal(await lock.using(() => lock.using(() => 7)), 7)
          const me = lock.for(client.owner())
          assert.equal(await me.isHeld(), false)
          await me.lock()
          await me.unlock()
        }),
    )
    assert.equal(await write.using(() => 7), 7)
    await client.close()
    const left = await broken.redis.keys('*')
    assert.deepEqual(
      left.filter((key) => !key.includes('redisson_lock_token')),
      [],
    )
  })

  onServer(
    'that throws for the client’s own key → connect rejects, no connection is left, the process ends',
    (broken) => {
      const program = `
      import { connect } from 'holdfast'
      const mapName = () => { throw new Error('no tenant') }
      await connect({ url: '${broken.server.url}', mapName }).catch((error) => console.log(error.message))`
      const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
        encoding: 'utf8',
        timeout: 20_000,
        cwd: new URL('..', import.meta.resolve('holdfast')),
      })
      assert.deepEqual({ stdout, status }, { stdout: 'no tenant\n', status: 0 })
      return Promise.resolve()
    },
  )
})
