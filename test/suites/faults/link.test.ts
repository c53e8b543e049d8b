import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hold } from 'holdfast'
import { watch } from '../contract/lock/kind.js'
import type { Broken } from '../../support/server.js'
import { onServer } from '../../support/server.js'

const WATCHDOG = 2000
const OPTIONS = { watchdog: WATCHDOG, commandTimeout: 1000, presence: false }
/** How long after a trouble a client is connected again and has asked: its longest pause between two tries, and a poll. */
const RECOVERY = 4500

/** Something between a client and its server that begins and ends. */
interface Trouble {
  readonly name: string
  readonly begin: (broken: Broken) => unknown
  readonly end: (broken: Broken) => unknown
}

const cutForGood = (broken: Broken): void => {
  broken.proxy.deaf = true
  broken.proxy.mute = true
  broken.proxy.cut()
}

const throwsAway = (what: 'deaf' | 'mute') => ({
  begin: ({ proxy }: Broken): void => void (proxy[what] = true),
  end: ({ proxy }: Broken): void => {
    // What was thrown away cannot be made good on the same connection.
    proxy.cut()
    proxy[what] = false
  },
})

const holdsBack = (what: 'requests' | 'replies' | 'everything') => ({
  begin: ({ proxy }: Broken): void => void (proxy.held = what),
  end: ({ proxy }: Broken): void => void (proxy.held = 'nothing'),
})

const troubles: readonly Trouble[] = [
  {
    name: 'connections cut, and none gets through',
    begin: cutForGood,
    end: ({ proxy }) => {
      proxy.cut()
      proxy.deaf = proxy.mute = false
    },
  },
  { name: 'half-open: nothing arrives in either direction, then all of it', ...holdsBack('everything') },
  {
    name: 'half-open: nothing arrives, then a cut',
    begin: ({ proxy }) => (proxy.held = 'everything'),
    end: ({ proxy }) => {
      proxy.cut()
      proxy.held = 'nothing'
    },
  },
  { name: 'requests lost', ...throwsAway('deaf') },
  { name: 'replies lost', ...throwsAway('mute') },
  { name: 'requests late', ...holdsBack('requests') },
  { name: 'replies late', ...holdsBack('replies') },
  {
    name: 'CLIENT PAUSE',
    begin: ({ redis }) => redis.call('CLIENT', 'PAUSE', 60_000, 'WRITE'),
    end: ({ redis }) => redis.call('CLIENT', 'UNPAUSE'),
  },
  {
    name: 'the server stopped',
    begin: ({ server }) => process.kill(server.pid, 'SIGSTOP'),
    end: ({ server }) => process.kill(server.pid, 'SIGCONT'),
  },
]

/** What passes in a moment. */
const moments: readonly { readonly name: string; readonly happen: (broken: Broken) => unknown }[] = [
  { name: 'connections cut', happen: ({ proxy }) => proxy.cut() },
  {
    name: 'connections cut instead of a reply',
    async happen({ proxy }) {
      proxy.cutInsteadOfReply()
      // The next renewal, at the latest.
      await sleep(WATCHDOG / 3 + 100)
    },
  },
  { name: 'CLIENT KILL of the commands', happen: ({ redis }) => redis.call('CLIENT', 'KILL', 'TYPE', 'normal') },
  { name: 'CLIENT KILL of the messages', happen: ({ redis }) => redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub') },
  { name: 'SCRIPT FLUSH', happen: ({ redis }) => redis.script('FLUSH') },
  {
    name: 'replies 150 ms late',
    async happen({ proxy }) {
      proxy.delay = 150
      await sleep(WATCHDOG)
    },
  },
  {
    name: 'messages silenced',
    happen: ({ proxy }) => void (proxy.silent = true),
  },
]

const lostAt = (hold: Hold): Promise<number> =>
  new Promise((resolve) => hold.signal.addEventListener('abort', () => resolve(performance.now())))

const nothingLeft = async ({ redis, until }: Broken): Promise<void> => {
  await until(async () => (await redis.keys('*')).length === 0, RECOVERY)
}

void describe('trouble on the way to the server', { concurrency: 3 }, () => {
  for (const { name, begin, end } of troubles) {
    onServer(
      `${name}, shorter than the lease → the hold is kept; it is released, and nothing is left`,
      async (broken) => {
        const client = await broken.open(OPTIONS)
        const hold = await client.lock('a').acquire({ lease: 10_000 })
        const watched = await client.lock('b').acquire()
        await begin(broken)
        await sleep(WATCHDOG / 3)
        const released = hold.release()
        await sleep(100)
        await end(broken)
        assert.equal(await released, true)
        await broken.until(() => watched.state !== 'uncertain', RECOVERY)
        // A cut may take longer to mend than the lease lasts; then it must have been told.
        assert.equal(await watched.release(), !watched.signal.aborted)
        await nothingLeft(broken)
      },
    )

    onServer(`${name}, longer than the lease → told in time; the next has it by its end`, async (broken) => {
      const client = await broken.open(OPTIONS)
      const hold = await client.lock('a').acquire()
      const lost = lostAt(hold)
      await sleep(50)
      await begin(broken)
      const begun = performance.now()
      const told = await lost
      assert.ok(told - begun < WATCHDOG, `told after ${told - begun} ms: later than any lease`)
      assert.deepEqual([hold.state, hold.remaining()], ['lost', 0])
      await sleep(200)
      await end(broken)
      const other = await broken.open(OPTIONS)
      const next = await other.lock('a').acquire({ wait: WATCHDOG + RECOVERY })
      assert.equal(await hold.release(), false)
      await sleep(RECOVERY / 3)
      await broken.until(() => next.state !== 'uncertain')
      assert.equal(next.state, 'held')
      assert.equal(await next.release(), true)
      await nothingLeft(broken)
    })

    onServer(`${name}, while one waits → it has the lock soon after`, async (broken) => {
      const client = await broken.open(OPTIONS)
      await broken.redis.hset('a', 'foreign:1', 1)
      await broken.redis.pexpire('a', 60_000)
      const waiting = watch(client.lock('a').acquire())
      await sleep(200)
      await begin(broken)
      await sleep(1500)
      assert.equal(waiting.settled, false)
      await end(broken)
      await broken.redis.del('a')
      const began = performance.now()
      const hold = await waiting.promise
      assert.ok(performance.now() - began < RECOVERY, `${performance.now() - began} ms`)
      assert.equal(await hold.release(), true)
      await nothingLeft(broken)
    })
  }
})

void describe('trouble of a moment', { concurrency: 3 }, () => {
  for (const { name, happen } of moments) {
    onServer(
      `${name} → a hold is kept, a waiter has the lock soon, an acquire as well, nothing is left`,
      async (broken) => {
        const client = await broken.open({ ...OPTIONS, watchdog: 2 * WATCHDOG })
        const hold = await client.lock('a').acquire()
        await broken.redis.hset('b', 'foreign:1', 1)
        await broken.redis.pexpire('b', 60_000)
        const waiting = client.lock('b').acquire()
        await sleep(100)
        await happen(broken)
        await sleep(50)
        await broken.redis.del('b')
        await broken.redis.publish('redisson_lock__channel:{b}', '0')
        const began = performance.now()
        const next = await waiting
        assert.ok(performance.now() - began < RECOVERY)
        const another = await client.lock('c').acquire({ wait: 5000 })
        await broken.until(() => hold.state !== 'uncertain', RECOVERY)
        assert.equal(hold.state, 'held')
        assert.equal(hold.signal.aborted, false)
        for (const one of [hold, next, another]) assert.equal(await one.release(), true)
        await nothingLeft(broken)
      },
    )
  }
})
