import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { arena, scenarios } from './support/arena.js'
import { JavaError, NEWEST, now, startRedisson } from './support/redisson.js'

const PROGRAM = fileURLToPath(new URL('../../support/lock-process.js', import.meta.url))
const LEASE = 3000
/** How late a loaded machine may be. */
const SLACK = 2500
const SHORT = { lockWatchdogTimeout: LEASE }

const isNotOwner = (error: unknown): boolean =>
  error instanceof JavaError && error.type === 'IllegalMonitorStateException'

void describe(`the plain lock, when things go wrong, beside Redisson ${NEWEST}`, () => {
  const scenario = scenarios(arena(NEWEST, SHORT), { watchdog: LEASE })

  scenario(
    'Redisson holds, ours takes it away → its unlock is refused, and its watchdog lets ours be',
    async (here, client) => {
      const theirs = here.java.plain('forced:1')
      await theirs.lock(1)
      const lock = client.lock('forced:1')
      assert.equal(await lock.forceRelease(), true)
      const hold = await lock.acquire()
      await assert.rejects(theirs.unlock(1), isNotOwner)
      await sleep(LEASE / 2)
      assert.equal(await theirs.isHeld(1), false)
      assert.equal(hold.state, 'held')
      assert.equal(await hold.release(), true)
    },
  )

  scenario(
    'ours holds, Redisson takes it away → lost at the next renewal, and Redisson’s is let be',
    async (here, client) => {
      const hold = await client.lock('forced:2').acquire()
      const theirs = here.java.plain('forced:2')
      assert.equal(await theirs.forceUnlock(), true)
      assert.equal(await theirs.tryLock(1), true)
      const begun = now()
      if (!hold.signal.aborted) await once(hold.signal, 'abort')
      assert.ok(now() - begun < LEASE / 3 + SLACK)
      assert.equal(hold.state, 'lost')
      assert.equal(await hold.release(), false)
      assert.equal(await theirs.isHeld(1), true)
      await theirs.unlock(1)
    },
  )

  scenario('waiters of the other side → woken by a release by force', async (here, client) => {
    const theirs = here.java.plain('forced:3')
    await theirs.lock(1)
    const ours = client.lock('forced:3').acquire()
    const waiting = theirs.lock(2)
    await sleep(200)
    const begun = now()
    await theirs.forceUnlock()
    const first = await Promise.race([ours, waiting.then(() => undefined)])
    assert.ok(now() - begun < SLACK)
    if (first === undefined) await theirs.forceUnlock()
    else await first.release()
    const last = first === undefined ? await ours : await waiting
    assert.ok(now() - begun < 2 * SLACK)
    if (last === null) await theirs.unlock(2)
    else await last.release()
  })

  scenario(
    'a Redisson process renews while it lives; killed → ours has it when the lease is over',
    async ({ url }, client) => {
      const doomed = await startRedisson({ url, options: SHORT })
      await doomed.plain('killed:1').lock(1)
      assert.equal(await client.lock('killed:1').tryAcquire({ wait: LEASE + 1000 }), undefined)
      await doomed.kill()
      const begun = now()
      const hold = await client.lock('killed:1').acquire()
      assert.ok(now() - begun < LEASE + SLACK, `after ${now() - begun} ms`)
      assert.equal(await hold.release(), true)
    },
  )

  scenario(
    'a process of ours renews while it lives; killed → Redisson has it when the lease is over',
    async ({ url, java }) => {
      const child = spawn(process.execPath, [PROGRAM, 'holdUntilKilled', url, 'killed:2'], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      await once(child.stdout, 'data')
      const theirs = java.plain('killed:2')
      assert.equal(await theirs.tryLock(1, LEASE + 1000), false)
      child.kill('SIGKILL')
      const begun = now()
      await theirs.lock(1)
      assert.ok(now() - begun < LEASE + SLACK, `after ${now() - begun} ms`)
      await theirs.unlock(1)
    },
  )

  scenario(
    'a Redisson process stopped past its lease → ours has it, and keeps it when that goes on',
    async ({ url }, client) => {
      const stopped = await startRedisson({ url, options: SHORT })
      try {
        await stopped.plain('stopped').lock(1)
        stopped.stop()
        const begun = now()
        const hold = await client.lock('stopped').acquire()
        assert.ok(now() - begun < LEASE + SLACK, `after ${now() - begun} ms`)
        stopped.cont()
        await assert.rejects(stopped.plain('stopped').unlock(1), isNotOwner)
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
    'watchdogs side by side → both locks live on, neither side gets the other’s',
    async ({ java, redis }, client) => {
      const theirs = java.plain('watched:java')
      await theirs.lock(1)
      const hold = await client.lock('watched:node').acquire()
      const lives: number[] = []
      for (const end = now() + 3 * LEASE; now() < end; await sleep(100)) {
        lives.push(await redis.pttl('watched:java'), await redis.pttl('watched:node'))
        assert.equal(await client.lock('watched:java').tryAcquire(), undefined)
        assert.equal(await java.plain('watched:node').tryLock(2), false)
      }
      assert.ok(Math.min(...lives) > 0 && Math.max(...lives) <= LEASE, `${Math.min(...lives)} to ${Math.max(...lives)}`)
      await theirs.unlock(1)
      assert.equal(await hold.release(), true)
    },
  )
})
