import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AcquireOptions, connect, type Hold, type Lock } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { closeMemoryServer, openMemoryServer } from '#src/engine/memory/registry.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { watch } from '../../suites/contract/lock/kind.js'
import { seeded } from '../../support/random.js'
import { onStage, type Stage } from '../../support/stage.js'
import { LOCKS } from '../../support/surface.js'
import { SwitchedDriver } from '../../support/switched-driver.js'

const SENT: AcquireOptions = { release: 'sent' }

const lossesOf = ({ client }: Pick<Stage, 'client'>): string[] => {
  const lost: string[] = []
  client.on('lost', ({ name }) => lost.push(name))
  return lost
}

/** The promise is settled, although no time has passed. */
const atOnce = async <T>({ clock }: Stage, promise: Promise<T>): Promise<T> => {
  const seen = watch(promise)
  await clock.advance(0)
  assert.ok(seen.settled, 'it waits')
  return promise
}

/** Only what the release sends is lost. */
const losing = (stage: Stage, loss: 'request' | 'answer' | 'late'): void => {
  stage.driver.loses = () => loss
}

const kinds = Object.entries(LOCKS)

/** The server knows the kind's scripts, and keeps no token in the end. */
const onWarmStage = (
  name: string,
  lockOf: (client: Stage['client'], name: string) => Lock,
  body: (stage: Stage) => Promise<void>,
): void =>
  onStage(name, async (stage) => {
    await stage.run(lockOf(stage.client, 'l').using(() => undefined))
    // The notes of what was before are gone.
    await stage.clock.advance(3000)
    await body(stage)
    stage.raw('DEL', 'redisson_lock_token:{l}')
  })

for (const [kind, lockOf] of kinds) {
  onWarmStage(
    `${kind}, sent: release() → true without an answer, and the lock is free when the server has it`,
    lockOf,
    async (stage) => {
      const lost = lossesOf(stage)
      const { client, driver, clock, run } = stage
      const hold = await run(lockOf(client, 'l').acquire(SENT))
      losing(stage, 'late')
      const released = hold.release()
      assert.equal(hold.release(), released)
      assert.equal(await atOnce(stage, released), true)
      assert.equal(hold.state, 'released')
      driver.loses = () => undefined
      await driver.comeLate()
      await clock.advance(2000)
      assert.equal(await run(lockOf(client, 'l').isLocked()), false)
      assert.deepEqual([lost, stage.errors], [[], []])
    },
  )

  onWarmStage(`${kind}, sent: using → its result without an answer`, lockOf, async (stage) => {
    const { client, driver, clock, run } = stage
    const used = lockOf(client, 'l').using(SENT, () => {
      losing(stage, 'request')
      return 'done'
    })
    assert.equal(await atOnce(stage, used), 'done')
    driver.loses = () => undefined
    await clock.advance(2000)
    assert.equal(await run(lockOf(client, 'l').isLocked()), false)
  })

  for (const flushed of [false, true]) {
    const which = flushed ? ' that the server does not know' : ''
    onWarmStage(
      `${kind}, sent: a try in the same tick as the release${which} → comes behind it`,
      lockOf,
      async (stage) => {
        const { client, raw, run } = stage
        for (let turn = 0; turn < 3; turn++) {
          const hold = await run(lockOf(client, 'l').acquire(SENT))
          if (flushed) raw('SCRIPT', 'FLUSH')
          void hold.release()
          const next = await run(lockOf(client, 'l').tryAcquire(SENT))
          assert.ok(next !== undefined, `turn ${turn}`)
          await run(next.release())
        }
        assert.deepEqual(lossesOf(stage), [])
      },
    )
  }

  onWarmStage(`${kind}, sent: the hold was gone → lost, told once, and no error`, lockOf, async (stage) => {
    const lost = lossesOf(stage)
    const { client, raw, clock, run } = stage
    const hold = await run(lockOf(client, 'l').acquire(SENT))
    raw('FLUSHALL')
    assert.equal(await atOnce(stage, hold.release()), true)
    await clock.advance(2000)
    const members = kind === 'multiLock' ? ['l', 'l:2'] : ['l']
    assert.deepEqual([[...lost].sort(), stage.errors, hold.state], [members, [], 'released'])
    const used = lockOf(client, 'l').using(SENT, () => raw('FLUSHALL') && 'done')
    assert.equal(await run(used), 'done')
    await clock.advance(2000)
    assert.equal(lost.length, 2 * members.length)
  })

  for (const loss of ['request', 'answer'] as const) {
    onWarmStage(
      `${kind}, sent: the ${loss} is lost with the connection → sent again, and nothing is told`,
      lockOf,
      async (stage) => {
        const lost = lossesOf(stage)
        const { client, driver, clock, run } = stage
        const hold = await run(lockOf(client, 'l').acquire(SENT))
        losing(stage, loss)
        assert.equal(await atOnce(stage, hold.release()), true)
        driver.up = false
        driver.loses = () => undefined
        await clock.advance(300)
        driver.up = true
        await clock.advance(2000)
        assert.equal(await run(lockOf(client, 'l').isLocked()), false)
        assert.deepEqual([lost, stage.errors], [[], []])
      },
    )
  }

  onWarmStage(
    `${kind}, sent: the server refuses the release until the lease is over → an error says so`,
    lockOf,
    async (stage) => {
      const { client, driver, clock, run } = stage
      const hold = await run(lockOf(client, 'l').acquire({ ...SENT, lease: 3000 }))
      driver.refuses = 'NOPERM no permissions to run this command'
      assert.equal(await atOnce(stage, hold.release()), true)
      await clock.advance(4000)
      driver.refuses = undefined
      assert.ok(stage.errors.some(({ message }) => message.includes('could not release')))
      await clock.advance(2000)
      assert.equal(await run(lockOf(client, 'l').isLocked()), false)
    },
  )

  onWarmStage(
    `${kind}, sent: the client closes at once → closed when the release is answered`,
    lockOf,
    async (stage) => {
      const { client, driver, raw, clock } = stage
      const hold = await stage.run(lockOf(client, 'l').acquire(SENT))
      losing(stage, 'request')
      void hold.release()
      driver.loses = () => undefined
      const closing = watch(client.close())
      await clock.advance(20)
      assert.ok(!closing.settled)
      await stage.run(closing.promise)
      raw('DEL', 'redisson_lock_token:{l}')
      assert.deepEqual(raw('KEYS', '*'), [])
    },
  )

  onWarmStage(`${kind}, sent, while there is no connection → waits for it as any release`, lockOf, async (stage) => {
    const { client, driver, clock, run } = stage
    const hold = await run(lockOf(client, 'l').acquire(SENT))
    driver.up = false
    const released = watch(hold.release())
    await clock.advance(100)
    assert.ok(!released.settled)
    driver.up = true
    await clock.advance(600)
    assert.equal(await released.promise, true)
  })
}

onStage('sent: several levels of one owner → each is released in order, the last one frees the lock', async (stage) => {
  const { client, clock, run } = stage
  const lock = client.lock('l')
  const outer = await run(lock.acquire(SENT))
  const inner = await run(lock.acquire({ ...SENT, owner: outer.owner }))
  const both = [inner.release(), outer.release()]
  assert.deepEqual(await atOnce(stage, Promise.all(both)), [true, true])
  await clock.advance(10)
  assert.equal(await run(lock.isLocked()), false)
})

onStage(
  'sent: a try that another client comes before → refused when the release is answered, with two questions',
  async (stage) => {
    const { client, driver, run } = stage
    const other = await stage.other(new SwitchedDriver(new MemoryDriver(stage.server, 'other')))
    await run(client.lock('l').using(() => 0))
    const hold = await run(client.lock('l').acquire(SENT))
    const next = other.lock('l').acquire()
    await stage.clock.advance(50)
    const asked = driver.sent.length
    void hold.release()
    assert.equal(await run(client.lock('l').tryAcquire()), undefined)
    assert.equal(driver.sent.length, asked + 3)
    await run((await run(next)).release())
  },
)

onStage("the client's own release: 'answered' of a call → waits for the answer", async (stage) => {
  const { client, run, clock } = stage
  const hold = await run(client.lock('l').acquire({ release: 'answered' }))
  losing(stage, 'request')
  const released = watch(hold.release())
  await clock.advance(100)
  assert.ok(!released.settled)
  stage.driver.loses = () => undefined
  await run(released.promise)
})

onStage('sent: permits of semaphores → given back without an answer', async (stage) => {
  const { client, driver, clock, raw, run } = stage
  const [s, p] = [client.semaphore('s'), client.permitSemaphore('p')]
  await run(s.trySetPermits(1))
  await run(p.trySetPermits(1))
  const permit = await run(p.acquire({ lease: 20_000, release: 'sent' }))
  const used = s.using({ release: 'sent' }, () => {
    losing(stage, 'request')
    return 'done'
  })
  assert.equal(await atOnce(stage, used), 'done')
  assert.equal(await atOnce(stage, permit.release()), true)
  driver.loses = () => undefined
  await clock.advance(2000)
  assert.deepEqual([raw('GET', 's'), raw('GET', 'p')], ['1', '1'])
  await run(s.using({ release: 'sent' }, () => 'again'))
  assert.equal(await run(s.tryAcquire()), true)
  await run(Promise.all([s.delete(), p.delete()]))
})

onStage('sent: a permit that is gone → lost', async (stage) => {
  const lost = lossesOf(stage)
  const { client, clock, run } = stage
  const p = client.permitSemaphore('p')
  await run(p.trySetPermits(1))
  const permit = await run(p.acquire({ lease: 20_000, release: 'sent' }))
  await run(
    (await run(stage.other(new SwitchedDriver(new MemoryDriver(stage.server, 'other')))))
      .permitSemaphore('p')
      .release(permit.id),
  )
  assert.equal(await atOnce(stage, permit.release()), true)
  await clock.advance(1000)
  assert.deepEqual(lost, ['p'])
  await run(p.delete())
})

for (const bad of ['later', true, null]) {
  void test(`release: ${String(bad)} → refused before anything is sent`, async () => {
    await assert.rejects(connect({ url: 'memory:bad', release: bad as never }), TypeError)
    const client = await connect('memory:bad')
    const options = { release: bad as never }
    const why = { name: 'TypeError', message: /release must be 'answered' or 'sent'/ }
    await assert.rejects(client.lock('l').acquire(options), why)
    await assert.rejects(
      client.multiLock(client.lock('l')).using(options, () => 0),
      why,
    )
    await assert.rejects(
      client.semaphore('s').using(options, () => 0),
      why,
    )
    await assert.rejects(client.permitSemaphore('p').tryAcquire(options), why)
    await client.close()
  })
}

// ---- random programs ---------------------------------------------------------------------------------------------------

const NAMES = ['a', 'b'] as const
let worlds = 0

/** What one client does, one step after the other, and what the server has in the end. */
const play = async (seed: number, release: 'answered' | 'sent'): Promise<unknown> => {
  const clock = virtualClock(seed)
  const id = `sent-${process.pid}-${(worlds += 1)}`
  const server = openMemoryServer(id, clock)
  const random = seeded(seed)
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T
  const opening = connect({ url: `memory:${id}`, clock, release, presence: false })
  const client = await opening
  const lost = lossesOf({ client })
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    for (const end = watch(promise); !end.settled;) await clock.advance(1)
    return promise
  }
  const seen: unknown[] = []
  const held: Hold[] = []
  const [, lockOf] = pick(kinds)
  for (let step = 0; step < 40; step++) {
    const what = pick(['try', 'try', 'try', 'release', 'release', 'again', 'using', 'force', 'inspect', 'time'])
    const lock = lockOf(client, pick(NAMES))
    const last = held.at(-1)
    if (what === 'try') {
      const hold = await run(lock.tryAcquire())
      if (hold !== undefined) held.push(hold)
      seen.push(hold !== undefined)
    } else if (what === 'release') seen.push(held.length === 0 || (await run((held.pop() as Hold).release())))
    else if (what === 'again' && last !== undefined) {
      const hold = await run(lock.tryAcquire({ owner: last.owner }).catch(() => undefined))
      if (hold !== undefined) held.push(hold)
      seen.push(hold !== undefined)
    } else if (what === 'using')
      seen.push(await run(lock.using({ wait: 1 }, () => step).catch((error: unknown) => (error as Error).name)))
    else if (what === 'force') seen.push(await run(lock.forceRelease()))
    else if (what === 'inspect') seen.push(await run(lock.inspect()))
    else await clock.advance(Math.floor(random() * 500))
  }
  for (const name of NAMES) seen.push(await run(lockOf(client, name).inspect()))
  await clock.advance(100)
  const keys = server.execute(['KEYS', '*'])
  seen.push(keys, lost.length)
  await run(client.close())
  await clock.advance(60_000)
  seen.push(server.execute(['KEYS', '*']))
  closeMemoryServer(server)
  return seen
}

void test('100 random programs → the same answers and the same server, sent or answered', async () => {
  for (let seed = 1; seed <= 100; seed++)
    assert.deepEqual(await play(seed, 'sent'), await play(seed, 'answered'), `seed ${seed}`)
})
