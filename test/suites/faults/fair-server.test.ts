import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inspect } from 'node:util'
import { EngineError } from 'holdfast'
import { machineTime } from '../soak/log.js'
import type { Member } from '../../support/fair-party.js'
import { Party } from '../../support/fair-party.js'
import type { Broken } from '../../support/server.js'
import { onServer } from '../../support/server.js'

const WATCHDOG = 6000
const CLOCKS = [0, 60_000, -60_000]

const directory = await mkdtemp(join(tmpdir(), 'holdfast-line-'))
after(() => rm(directory, { recursive: true, force: true }))
const KEPT = ['--dir', directory, '--appendonly', 'yes', '--appendfsync', 'always']

/** Three processes, their clocks apart, with three waiters each behind a holder. */
const withQueue = async (
  { server }: Broken,
  body: (party: Party, holder: Member, calls: readonly string[]) => Promise<void>,
): Promise<void> => {
  const party = new Party(server.url, 'orders')
  try {
    const members = await Promise.all(
      CLOCKS.map((off, index) => party.invite(`p${index}`, { off, watchdog: WATCHDOG })),
    )
    const holder = members[0] as Member
    const calls = [await party.holds(holder)]
    for (let index = 0; index < 9; index += 1) calls.push(await party.enqueue(members[index % 3] as Member))
    // The place of the last one is seen on the server, perhaps before its client has read the answer.
    await sleep(200)
    await body(party, holder, calls)
  } finally {
    await party.close()
  }
}

void describe('fair lock: the server in trouble in the middle of a queue', { concurrency: 2 }, () => {
  onServer(
    'killed and started again with its data → the same order, the holder keeps it',
    (broken) =>
      withQueue(broken, async (party, holder, calls) => {
        await broken.restart()
        await sleep(1000)
        assert.equal(party.of(calls[0] ?? '', 'lost'), undefined)
        holder.order({ release: calls[0] ?? '' })
        await party.until(() => calls.every((call) => party.of(call, 'released') !== undefined))
        assert.deepEqual(party.order, calls)
        await party.check()
      }),
    KEPT,
  )

  onServer(
    'F28: nothing can be written for longer than a try waits → it is told in time, and is out of the line when that is over',
    async (broken) => {
      const [one, two, three] = await Promise.all([1, 2, 3].map(() => broken.open({ commandTimeout: 500 })))
      const line = (): Promise<number> => broken.redis.llen('redisson_lock_queue:{a}')
      await one?.fairLock('a').acquire({ lease: 2000 })
      const waiting = two?.fairLock('a').acquire({ lease: 10_000 })
      await broken.until(async () => (await line()) === 1)
      const since = machineTime()
      const tried = three?.fairLock('a').tryAcquire({ wait: 3000, lease: 1000 })
      await broken.until(async () => (await line()) === 2)
      await broken.redis.call('CLIENT', 'PAUSE', '30000', 'WRITE')
      // It rejects if its client misses a reply in the very moment when the time is over. That moment is any between two connections here.
      const end = await tried?.catch((error: unknown) => error)
      assert.ok(
        end === undefined || (end instanceof EngineError && ['NO_REPLY', 'OFFLINE'].includes(end.code)),
        inspect(end),
      )
      const ms = machineTime() - since
      assert.ok(ms >= 2990 && ms < 5000, `${ms} ms`)
      assert.equal(await line(), 2)
      await sleep(1500)
      await broken.redis.call('CLIENT', 'UNPAUSE')
      const hold = await waiting
      await broken.until(async () => (await line()) === 0, 2000)
      assert.equal(await hold?.release(), true)
      await broken.until(async () => (await broken.redis.exists('a')) === 0)
    },
  )

  onServer('killed and started again without its data → the holder is told, all queue anew and get in', (broken) =>
    withQueue(broken, async (party, _holder, calls) => {
      const at = machineTime()
      await broken.restart()
      await party.until(() =>
        calls.every((call) => (party.of(call, 'released') ?? party.of(call, 'lost')) !== undefined),
      )
      party.events.push({ what: 'wiped', at, to: machineTime() })
      assert.ok(party.of(calls[0] ?? '', 'lost') !== undefined)
      await party.check()
    }),
  )
})
