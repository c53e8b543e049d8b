import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hold, OwnedLock } from 'holdfast'
import { arena, scenarios } from './support/arena.js'
import { javaProcess, startJava, startNode } from './support/lock-process.js'
import { confirmed, fairDeadlines, fairQueue, queued } from './support/names.js'
import { JavaError, NEWEST, now, startRedisson } from './support/redisson.js'

const LEASE = 3000
const ALLOWANCE = 1500
/** How long one of ours holds the lock on trial: until then it has confirmed it, or is passed over. */
const TRIAL = 3000
/** How late a loaded machine may be. */
const SLACK = 2500
const SHORT = { lockWatchdogTimeout: LEASE, fairLockWaitTimeout: ALLOWANCE }
const OURS = { watchdog: LEASE, fairWaiterTimeout: ALLOWANCE }

const isNotOwner = (error: unknown): boolean =>
  error instanceof JavaError && error.type === 'IllegalMonitorStateException'

const within = (begun: number, most: number): void => {
  assert.ok(now() - begun < most, `after ${(now() - begun).toFixed(0)} ms, not within ${most}`)
}

void describe(`the fair lock, when things go wrong, beside Redisson ${NEWEST}`, () => {
  const scenario = scenarios(arena(NEWEST, SHORT), OURS)

  // ---- by force ------------------------------------------------------------------------------------------------------

  scenario('Redisson holds, ours takes it away → its unlock is refused, its watchdog lets be', async (here, client) => {
    const theirs = here.java.fair('forced:1')
    await theirs.lock(1)
    const lock = client.fairLock('forced:1')
    assert.equal(await lock.forceRelease(), true)
    const hold = await lock.acquire()
    await assert.rejects(theirs.unlock(1), isNotOwner)
    await sleep(LEASE / 2)
    assert.equal(await theirs.isHeld(1), false)
    assert.equal(hold.state, 'held')
    assert.equal(await hold.release(), true)
  })

  scenario(
    'ours holds, Redisson takes it away → lost at the next renewal, Redisson’s is let be',
    async (here, client) => {
      const hold = await client.fairLock('forced:2').acquire()
      const theirs = here.java.fair('forced:2')
      assert.equal(await theirs.forceUnlock(), true)
      assert.equal(await theirs.tryLock(1), true)
      const begun = now()
      if (!hold.signal.aborted) await once(hold.signal, 'abort')
      within(begun, LEASE / 3 + SLACK)
      assert.equal(await hold.release(), false)
      assert.equal(await theirs.isHeld(1), true)
      await theirs.unlock(1)
    },
  )

  for (const [first, second] of [
    ['java', 'node'],
    ['node', 'java'],
  ] as const) {
    scenario(
      `${first} and ${second} wait, each side takes it away once → both have it, in turn`,
      async (here, client) => {
        const name = `forced:${first}`
        const theirs = here.java.fair(name)
        const ours = client.fairLock(name)
        const entered: string[] = []
        let hold: Hold | undefined
        const waits = {
          java: () => theirs.lock(2).then(() => void entered.push('java')),
          node: () => ours.acquire().then((had) => ((hold = had), void entered.push('node'))),
        }
        const takes = { java: () => theirs.forceUnlock(), node: () => ours.forceRelease() }
        await theirs.lock(1)
        const waiting: Promise<void>[] = []
        for (const [place, side] of [first, second].entries()) {
          waiting.push(waits[side]())
          await queued(here.redis, name, place + 1)
        }
        const begun = now()
        assert.equal(await takes[first](), true)
        await waiting[0]
        assert.deepEqual(entered, [first])
        assert.equal(await takes[second](), true)
        await waiting[1]
        within(begun, SLACK)
        assert.deepEqual(entered, [first, second])
        assert.equal(await hold?.release(), second === 'node')
        if (second === 'java') await theirs.unlock(2)
      },
    )
  }

  // ---- killed, or stopped --------------------------------------------------------------------------------------------

  scenario(
    'a Redisson process holds and is killed → ours has it when the lease is over',
    async ({ url, redis }, client) => {
      const doomed = await startRedisson({ url, options: SHORT })
      await doomed.fair('killed:1').lock(1)
      const waiting = client.fairLock('killed:1').acquire()
      await queued(redis, 'killed:1', 1)
      await sleep(LEASE + 500)
      assert.equal(await doomed.fair('killed:1').isHeld(1), true)
      await doomed.kill()
      const begun = now()
      const hold = await waiting
      within(begun, LEASE + SLACK)
      assert.equal(await hold.release(), true)
    },
  )

  scenario(
    'a process of ours holds and is killed → Redisson has it when the lease is over',
    async ({ url, java, redis }) => {
      const doomed = await startNode(url, OURS)
      await doomed.lock('killed:2', 1)
      const theirs = java.fair('killed:2')
      const waiting = theirs.lock(1)
      await queued(redis, 'killed:2', 1)
      await sleep(LEASE + 500)
      assert.equal(await theirs.isHeld(1), false)
      await doomed.kill()
      const begun = now()
      await waiting
      within(begun, LEASE + SLACK)
      await theirs.unlock(1)
    },
  )

  scenario(
    'a queued process of ours is killed, ours frees → Redisson’s behind has it at once',
    async (here, client) => {
      const { url, java, redis } = here
      const hold = await client.fairLock('queue:1').acquire()
      const doomed = await startNode(url, OURS)
      doomed.lock('queue:1', 1).catch(() => undefined)
      await queued(redis, 'queue:1', 1)
      const waiting = java.fair('queue:1').lock(1)
      await queued(redis, 'queue:1', 2)
      await doomed.kill()
      const begun = now()
      await hold.release()
      await waiting
      within(begun, 1000)
      await java.fair('queue:1').unlock(1)
    },
  )

  scenario(
    'a queued process of ours is killed, Redisson frees → Redisson’s behind it when ours at the end polls',
    async (here, client) => {
      const { url, java, redis } = here
      const theirs = java.fair('queue:2')
      await theirs.lock(1)
      const doomed = await startNode(url, OURS)
      doomed.lock('queue:2', 1).catch(() => undefined)
      await queued(redis, 'queue:2', 1)
      const waiting = theirs.lock(2)
      await queued(redis, 'queue:2', 2)
      const last = client.fairLock('queue:2').acquire()
      await queued(redis, 'queue:2', 3)
      await doomed.kill()
      const begun = now()
      await theirs.unlock(1)
      await waiting
      within(begun, 1000 + SLACK)
      await theirs.unlock(2)
      assert.equal(await (await last).release(), true)
    },
  )

  for (const freeing of ['java', 'node'] as const) {
    scenario(
      `a queued Redisson process is killed, ${freeing} frees → ours behind has it after its allowance`,
      async (here, client) => {
        const { url, java, redis } = here
        const name = `queue:3:${freeing}`
        const holder = freeing === 'java' ? javaProcess(java) : await startNode(url, OURS)
        await holder.lock(name, 1)
        const doomed = await startJava({ url, options: SHORT })
        doomed.lock(name, 1).catch(() => undefined)
        await queued(redis, name, 1)
        const waiting = client.fairLock(name).acquire()
        await queued(redis, name, 2)
        await doomed.kill()
        const begun = now()
        await holder.unlock(name, 1)
        const hold = await waiting
        within(begun, LEASE + ALLOWANCE + SLACK)
        assert.equal(await hold.release(), true)
        if (freeing === 'node') await holder.kill()
      },
    )
  }

  scenario(
    'a process of ours is stopped when its turn comes → Redisson’s behind has it after the trial, alone',
    async (here, client) => {
      const { url, java, redis } = here
      const hold = await client.fairLock('stopped:1').acquire()
      const stopped = await startNode(url, OURS)
      try {
        let entered = false
        const late = stopped.lock('stopped:1', 1).then(() => (entered = true))
        await queued(redis, 'stopped:1', 1)
        const theirs = java.fair('stopped:1')
        const waiting = theirs.lock(1)
        await queued(redis, 'stopped:1', 2)
        stopped.stop()
        const begun = now()
        await hold.release()
        await waiting
        within(begun, TRIAL + SLACK)
        assert.ok(now() - begun > TRIAL - 100)
        stopped.cont()
        await queued(redis, 'stopped:1', 1)
        await sleep(500)
        assert.equal(entered, false)
        await theirs.unlock(1)
        await late
        await stopped.unlock('stopped:1', 1)
      } finally {
        stopped.cont()
        await stopped.kill()
      }
    },
  )

  scenario(
    'a Redisson process stopped past its lease → ours has it, and keeps it when that goes on',
    async (here, client) => {
      const stopped = await startRedisson({ url: here.url, options: SHORT })
      try {
        await stopped.fair('stopped:2').lock(1)
        stopped.stop()
        const begun = now()
        const hold = await client.fairLock('stopped:2').acquire()
        within(begun, LEASE + SLACK)
        stopped.cont()
        await assert.rejects(stopped.fair('stopped:2').unlock(1), isNotOwner)
        await sleep(LEASE + 500)
        assert.equal(hold.state, 'held')
        assert.equal(await hold.release(), true)
      } finally {
        stopped.cont()
        await stopped.kill()
      }
    },
  )

  scenario(
    'a line of ours that never empties, then two of Redisson’s → their deadlines are as in a fresh line',
    async ({ java, redis }, client) => {
      const name = 'busy'
      const owners = Array.from({ length: 3 }, () => client.fairLock(name).for(client.owner()))
      const waiting: Promise<void>[] = []
      for (const owner of owners) {
        waiting.push(owner.lock())
        if (waiting.length === 1) await waiting[0]
        else await queued(redis, name, waiting.length - 1)
      }
      const HANDOVERS = 30
      for (let turn = 0; turn < HANDOVERS; turn += 1) {
        const owner = owners[turn % 3] as OwnedLock
        await waiting[turn]
        await confirmed(redis, name)
        await owner.unlock()
        waiting.push(owner.lock())
        await queued(redis, name, 2)
      }
      const theirs = java.fair(name)
      const first = theirs.lock(1)
      await queued(redis, name, 3)
      const second = theirs.lock(2)
      await queued(redis, name, 4)
      for (let turn = HANDOVERS; turn < HANDOVERS + 3; turn += 1) {
        await waiting[turn]
        await owners[turn % 3]?.unlock()
      }
      await first
      const due = Number(await redis.zscore(fairDeadlines(name), await java.owner(2))) - Date.now()
      assert.ok(due < 2 * ALLOWANCE + LEASE, `the second is overdue after ${due.toFixed(0)} ms`)
      await theirs.unlock(1)
      await second
      await theirs.unlock(2)
    },
  )

  scenario(
    'ours waits for long ahead of two of Redisson’s, and one of those is dropped and comes back → it is not asleep for ever',
    async ({ url, java, redis }, client) => {
      const name = 'asleep'
      const hold = await client.fairLock(name).acquire()
      const other = await startNode(url, OURS)
      const theirs = java.fair(name)
      const ours = other.lock(name, 1)
      await queued(redis, name, 1)
      const ahead = theirs.lock('ahead')
      await queued(redis, name, 2)
      const dropped = theirs.lock('dropped')
      await queued(redis, name, 3)
      await sleep(LEASE + 3 * ALLOWANCE + 500)
      const owner = (await redis.lrange(fairQueue(name), -1, -1))[0] ?? ''
      await redis.multi().lrem(fairQueue(name), 1, owner).zrem(fairDeadlines(name), owner).exec()
      // When the lease that it was told of is over it asks again.
      await queued(redis, name, 3)
      await hold.release()
      await ours
      await other.unlock(name, 1)
      await ahead
      await theirs.unlock('ahead')
      await dropped
      await theirs.unlock('dropped')
      await other.kill()
    },
  )

  // ---- watchdogs -----------------------------------------------------------------------------------------------------

  scenario(
    'Redisson holds longer than its lease while ours waits → ours has it when it is freed',
    async ({ java, redis }, client) => {
      const theirs = java.fair('watched:1')
      await theirs.lock(1)
      let entered = false
      const waiting = client.fairLock('watched:1').acquire()
      void waiting.then(() => (entered = true))
      const lives: number[] = []
      for (const end = now() + 2.5 * LEASE; now() < end; await sleep(100)) lives.push(await redis.pttl('watched:1'))
      assert.ok(Math.min(...lives) > 0 && Math.max(...lives) <= LEASE, `${Math.min(...lives)} to ${Math.max(...lives)}`)
      assert.equal(entered, false)
      const begun = now()
      await theirs.unlock(1)
      const hold = await waiting
      within(begun, SLACK)
      assert.equal(await hold.release(), true)
    },
  )

  scenario(
    'ours holds longer than its lease while Redisson waits → Redisson has it when it is freed',
    async ({ java, redis }, client) => {
      const hold = await client.fairLock('watched:2').acquire()
      const theirs = java.fair('watched:2')
      const waiting = theirs.lock(1)
      await queued(redis, 'watched:2', 1)
      const lives: number[] = []
      for (const end = now() + 2.5 * LEASE; now() < end; await sleep(100)) lives.push(await redis.pttl('watched:2'))
      assert.ok(Math.min(...lives) > 0 && Math.max(...lives) <= LEASE, `${Math.min(...lives)} to ${Math.max(...lives)}`)
      assert.equal(hold.state, 'held')
      assert.equal(await theirs.isHeld(1), false)
      const begun = now()
      assert.equal(await hold.release(), true)
      await waiting
      within(begun, SLACK)
      await theirs.unlock(1)
      assert.equal(await redis.exists(fairQueue('watched:2')), 0)
    },
  )
})
