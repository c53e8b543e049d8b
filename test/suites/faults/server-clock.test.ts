import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, type FencedHold, type Hold, type Lock } from 'holdfast'
import { Redis } from 'ioredis'
import { fakedWall, faketime } from '../soak/faketime.js'
import { mayStay } from '../../support/leftovers.js'
import { startRedis } from '../../support/redis-server.js'

const WATCHDOG = 1500
/** A third of the lease, and what a machine under load adds. */
const TOLD = WATCHDOG / 3 + 700

const KINDS: Readonly<Record<string, (client: Client) => Lock>> = {
  lock: (client) => client.lock('plain'),
  spinLock: (client) => client.spinLock('spin'),
  fairLock: (client) => client.fairLock('fair'),
  fencedLock: (client) => client.fencedLock('fenced'),
  'readWriteLock.write': (client) => client.readWriteLock('rw').write,
  'readWriteLock.read': (client) => client.readWriteLock('readers').read,
  'fair readWriteLock.write': (client) => client.readWriteLock('fair-rw', { fair: true }).write,
}

/** One lock, held by one client, and wanted by another; readers are wanted by a writer. */
interface Pair {
  readonly kind: string
  readonly held: Hold
  readonly waiting: Promise<Hold>
}

const tokenOf = (hold: Hold): bigint => (hold as FencedHold).token

const pairOf = async (kind: string, holder: Client, other: Client): Promise<Pair> => {
  const held = await KINDS[kind]!(holder).acquire()
  const wanted = kind === 'readWriteLock.read' ? other.readWriteLock('readers').write : KINDS[kind]!(other)
  return { kind, held, waiting: wanted.acquire({ wait: 60_000 }) }
}

/** The server's allocator asks for the time before libfaketime can tell it: that of the C library stands in for it. */
const fakedServer = (file: string): Record<string, string> => {
  const env = fakedWall(file)
  return { ...env, LD_PRELOAD: `${env['LD_PRELOAD']} libc.so.6` }
}

/** A server whose wall clock is stepped while each kind of lock is held by one client and waited for by another. */
const withPairs = async (
  t: TestContext,
  seconds: number,
  body: (pairs: readonly Pair[], step: () => number) => Promise<void>,
) => {
  const file = join(tmpdir(), `holdfast-server-clock-${process.pid}-${seconds}`)
  writeFileSync(file, '+0')
  const server = await startRedis([], undefined, fakedServer(file))
  const redis = new Redis(server.url)
  const clients = await Promise.all([1, 2].map(() => connect({ url: server.url, watchdog: WATCHDOG })))
  t.after(async () => {
    await Promise.all(clients.map((client) => client.close()))
    redis.disconnect()
    await server.stop()
  })
  const [holder, other] = clients as [Client, Client]
  const pairs = await Promise.all(Object.keys(KINDS).map((kind) => pairOf(kind, holder, other)))
  await sleep(200)
  const [before] = (await redis.time()) as unknown as [string]
  await body(pairs, () => {
    writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}`)
    return performance.now()
  })
  const [after] = (await redis.time()) as unknown as [string]
  assert.ok(Math.abs(Number(after) - Number(before) - seconds) < 30, 'the clock of the server was stepped')
  await Promise.all(clients.map((client) => client.close()))
  const left = (await redis.keys('*')).filter((key) => !mayStay(key))
  assert.deepEqual(left, [], 'nothing is left')
}

/** What cannot be mended stands under Trust in the guide: here it is measured. */
void describe('the wall clock of the server steps', { skip: faketime === undefined && 'no libfaketime' }, () => {
  for (const seconds of [60, 3600]) {
    void test(`forward by ${seconds} s → the holder is told within a third of its lease, and whoever waits has the lock`, async (t) => {
      await withPairs(t, seconds, async (pairs, step) => {
        const lost = pairs.map(
          ({ held }) =>
            new Promise<number>((resolve) => held.signal.addEventListener('abort', () => resolve(performance.now()))),
        )
        const next = pairs.map(({ waiting }) => waiting.then((hold) => ({ hold, at: performance.now() })))
        const at = step()
        await Promise.all(
          pairs.map(async ({ kind, held }, index) => {
            const [told, { hold, at: had }] = await Promise.all([lost[index]!, next[index]!])
            t.diagnostic(
              `${kind}: told after ${(told - at).toFixed(0)} ms; the next had it after ${(had - at).toFixed(0)} ms`,
            )
            assert.ok(told - at <= TOLD, `${kind}: told after ${(told - at).toFixed(0)} ms`)
            assert.equal(held.state, 'lost')
            assert.equal(await held.release(), false)
            assert.equal(hold.state, 'held', kind)
            if (kind === 'fencedLock') assert.ok(tokenOf(hold) > tokenOf(held), 'the resource can tell them apart')
            assert.equal(await hold.release(), true, kind)
          }),
        )
      })
    })
    void test(`back by ${seconds} s → the holder keeps it for as long as it likes, and whoever waits has it next`, async (t) => {
      await withPairs(t, -seconds, async (pairs, step) => {
        const order: string[] = []
        for (const { kind, waiting } of pairs) void waiting.then(() => order.push(kind))
        step()
        await sleep(2 * WATCHDOG)
        assert.deepEqual(order, [], 'nobody else has it')
        await Promise.all(
          pairs.map(async ({ kind, held, waiting }) => {
            assert.equal(held.state, 'held', kind)
            const freed = performance.now()
            assert.equal(await held.release(), true, kind)
            const hold = await waiting
            t.diagnostic(`${kind}: the next had it ${(performance.now() - freed).toFixed(0)} ms after the release`)
            assert.ok(performance.now() - freed < 2500, kind)
            assert.equal(await hold.release(), true, kind)
          }),
        )
      })
    })
  }
  void test('back by an hour → a permit with a fixed lease is free once its holder knows that it is over', async (t) => {
    const file = join(tmpdir(), `holdfast-server-clock-${process.pid}-permits`)
    writeFileSync(file, '+0')
    const server = await startRedis([], undefined, fakedServer(file))
    const client = await connect(server.url)
    t.after(async () => {
      await client.close()
      await server.stop()
    })
    const permits = client.permitSemaphore('permits')
    await permits.trySetPermits(1)
    const permit = await permits.acquire({ lease: 1000 })
    writeFileSync(file, '-3600')
    await once(permit.signal, 'abort')
    const next = await permits.acquire({ lease: 1000, wait: 3000 })
    assert.equal(permit.state, 'lost')
    assert.equal(await next.release(), true)
  })
})
