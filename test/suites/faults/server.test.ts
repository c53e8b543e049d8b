import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { LockLostError } from 'holdfast'
import { watch } from '../contract/lock/kind.js'
import { onServer } from '../../support/server.js'

const OPTIONS = { watchdog: 3000, commandTimeout: 1000, presence: false }
const directories: string[] = []

const persistent = async (): Promise<string[]> => {
  const directory = await mkdtemp(join(tmpdir(), 'holdfast-aof-'))
  directories.push(directory)
  return ['--dir', directory, '--appendonly', 'yes', '--appendfsync', 'always']
}

const [kept, keptWaiting, keptLost] = await Promise.all([persistent(), persistent(), persistent()])

after(() => Promise.all(directories.map((directory) => rm(directory, { recursive: true, force: true }))))

void describe('the server killed', { concurrency: 3 }, () => {
  onServer(
    'and started again with its data → holds are kept, nobody else gets in, all is released',
    async (broken) => {
      const [client, other] = [await broken.open(OPTIONS), await broken.open(OPTIONS)]
      const hold = await client.lock('a').acquire()
      const fixed = await client.lock('b').acquire({ lease: 15_000 })
      await broken.restart()
      assert.equal((await broken.redis.keys('*')).length, 2)
      const waiting = watch(other.lock('a').acquire())
      waiting.promise.catch(() => undefined)
      await broken.until(() => hold.state === 'held')
      assert.equal(await other.lock('b').tryAcquire({ wait: 3000 }), undefined)
      assert.deepEqual([hold.state, fixed.state, hold.signal.aborted], ['held', 'held', false])
      assert.equal(waiting.settled, false)
      assert.deepEqual([await hold.release(), await fixed.release()], [true, true])
      assert.equal(await (await waiting.promise).release(), true)
      await broken.until(async () => (await broken.redis.keys('*')).length === 0)
    },
    kept,
  )

  onServer(
    'and started again with its data, while one waits → it is in soon after the release',
    async (broken) => {
      const [client, other] = [await broken.open(OPTIONS), await broken.open(OPTIONS)]
      const hold = await client.lock('a').acquire({ lease: 20_000 })
      const waiting = other.lock('a').acquire()
      await sleep(200)
      await broken.restart()
      const began = performance.now()
      assert.equal(await hold.release(), true)
      const next = await waiting
      assert.ok(performance.now() - began < 6000, `${performance.now() - began} ms`)
      assert.equal(await next.release(), true)
    },
    keptWaiting,
  )

  onServer(
    'for longer than the lease, and its data kept → told before; free for the next when it is back',
    async (broken) => {
      const client = await broken.open(OPTIONS)
      const hold = await client.lock('a').acquire()
      const acquired = performance.now()
      process.kill(broken.server.pid, 'SIGKILL')
      await broken.until(() => hold.signal.aborted)
      assert.ok(performance.now() - acquired < OPTIONS.watchdog)
      assert.ok(hold.signal.reason instanceof LockLostError)
      await sleep(500)
      await broken.restart()
      const other = await broken.open(OPTIONS)
      const next = await other.lock('a').acquire({ wait: 3000 })
      assert.equal(await hold.release(), false)
      assert.equal(await next.release(), true)
    },
    keptLost,
  )

  onServer(
    'and started again without its data → told by the next renewal, the next one’s hold untouched',
    async (broken) => {
      const [client, other] = [await broken.open(OPTIONS), await broken.open(OPTIONS)]
      const hold = await client.lock('a').acquire()
      const waiting = other.lock('a').acquire()
      await sleep(200)
      await broken.restart()
      const began = performance.now()
      const next = await waiting
      await broken.until(() => hold.signal.aborted)
      assert.ok(performance.now() - began < OPTIONS.watchdog, 'the old lease at the latest')
      assert.equal(await hold.release(), false)
      await sleep(500)
      assert.equal(next.state, 'held')
      assert.equal(await next.release(), true)
      await broken.until(async () => (await broken.redis.keys('*')).length === 0)
    },
  )
})
