import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FencedHold } from 'holdfast'
import { fencedLockPass, lockAsk, lockConfirm } from '#src/lua/scripts.gen.js'
import { COUNTER, stage } from '../../support/line-stage.js'

const GRANTS = 'holdfast_line_grant:{x}'

const tokensOf = (holds: readonly FencedHold[]): bigint[] => holds.map(({ token }) => token)

void test('16 processes of one caller each, 20 ms a visit → in turn, in few steps, each token above the last', async () => {
  const { clock, clients, drivers, pause, run, end } = await stage(16, 'fencedLock')
  const visits = clients.map(() => 0)
  let [inside, longest, newest] = [0, 0, 0n]
  const caller = async (place: number): Promise<void> => {
    while (clock.monotonic() < 8000) {
      const came = clock.monotonic()
      await clients[place]!.fencedLock('x').using(async ({ token }) => {
        assert.equal(++inside, 1)
        assert.ok(token > newest, `${token} after ${newest}`)
        newest = token
        longest = Math.max(longest, clock.monotonic() - came)
        await pause(20)
        inside--
        visits[place]! += 1
      })
    }
  }
  await run(Promise.all(clients.map((_, place) => caller(place))))
  const all = visits.reduce((sum, count) => sum + count)
  const scripts = drivers.reduce((sum, driver) => sum + driver.scripts, 0)
  assert.ok(all > 350, `${all} visits`)
  assert.ok(Math.min(...visits) >= 0.8 * Math.max(...visits), visits.join())
  assert.ok(longest <= 1.5 * 16 * 20, `${longest} ms`)
  assert.ok(scripts / all <= 3.5, `${scripts / all} scripts a visit`)
  await end()
})

void test('three wait in each of two processes → each process stands in the line once, and all have tokens of their own', async () => {
  const { clock, clients, run, waiting, end } = await stage(3, 'fencedLock')
  const hold = await clients[0]!.fencedLock('x').acquire()
  const had: FencedHold[] = [hold]
  const all: Promise<void>[] = []
  for (let round = 0; round < 3; round++) {
    for (const place of [1, 2]) {
      all.push(clients[place]!.fencedLock('x').using((one) => void had.push(one)))
      await clock.advance(10)
    }
  }
  await clock.advance(2500)
  assert.deepEqual(await waiting(), [clients[1]!.id, clients[2]!.id])
  await run(hold.release())
  await run(Promise.all(all))
  assert.deepEqual(tokensOf(had), [1n, 2n, 3n, 4n, 5n, 6n, 7n])
  assert.deepEqual(await waiting(), [])
  await end()
})

void test('a poll meets the confirmation of the same grant → both take a number: one is skipped, none is given twice', async () => {
  const { clock, clients, drivers, raw, run, end } = await stage(2, 'fencedLock')
  for (const { text } of [lockAsk, lockConfirm]) await raw('SCRIPT', 'LOAD', text)
  const [one, two] = [clients[0]!.fencedLock('x'), clients[1]!.fencedLock('x')]
  const expired = await one.acquire({ lease: 500 })
  const waiting = two.acquire()
  await clock.advance(10)
  // The server acts at once, and its answers come late.
  drivers[1]!.lag = 5
  const next = await run(waiting)
  assert.deepEqual([next.token, await raw('GET', COUNTER)], [2n, '3'])
  assert.equal(await run(one.forceRelease()), true)
  const last = await run(one.acquire())
  assert.deepEqual(tokensOf([expired, next, last]), [1n, 2n, 4n])
  drivers[1]!.lag = 0
  assert.equal(await run(last.release()), true)
  await end()
})

void test('a plain and a fenced lock of one name → one line, in the order of coming', async () => {
  const { clock, clients, run, waiting, end } = await stage(4, 'fencedLock')
  const hold = await clients[0]!.lock('x').acquire()
  const entered: string[] = []
  const all = (['fencedLock', 'lock', 'fencedLock'] as const).map(async (kind, index) => {
    await clock.advance(0)
    await clients[index + 1]![kind]('x').using(
      ({ token }: Partial<FencedHold>) => void entered.push(`${kind} ${token}`),
    )
  })
  await clock.advance(20)
  assert.deepEqual(
    await waiting(),
    clients.slice(1).map(({ id }) => id),
  )
  await run(hold.release())
  await run(Promise.all(all))
  assert.deepEqual(entered, ['fencedLock 1', 'lock undefined', 'fencedLock 2'])
  await end()
})

void test('passed on within the process while others stand in the line → one script and one token for each', async () => {
  const { clock, clients, drivers, raw, run, waiting, end } = await stage(2, 'fencedLock')
  await raw('SCRIPT', 'LOAD', fencedLockPass.text)
  const lock = clients[0]!.fencedLock('x')
  let hold = await lock.acquire()
  const other = clients[1]!.fencedLock('x').acquire()
  await clock.advance(10)
  const queue = [1, 2, 3].map(() => lock.acquire())
  await clock.advance(10)
  const { scripts } = drivers[0]!
  for (const [before, next] of queue.entries()) {
    await run(hold.release())
    hold = await run(next)
    assert.equal(hold.token, BigInt(before + 2))
  }
  assert.equal(drivers[0]!.scripts - scripts, 3)
  assert.deepEqual(await waiting(), [clients[1]!.id])
  await run(hold.release())
  const last = await run(other)
  assert.equal(last.token, 5n)
  await run(last.release())
  await end()
})

void test('somebody comes while it is being passed on → its process asks for nothing, and does not stand in the line', async () => {
  const { clock, clients, drivers, raw, run, waiting, end } = await stage(1, 'fencedLock')
  await raw('SCRIPT', 'LOAD', fencedLockPass.text)
  const lock = clients[0]!.fencedLock('x')
  const hold = await lock.acquire()
  const second = lock.acquire()
  await clock.advance(10)
  drivers[0]!.delays.set(fencedLockPass.sha, 20)
  const { scripts } = drivers[0]!
  const released = hold.release()
  await clock.advance(5)
  const third = lock.acquire()
  await clock.advance(5)
  assert.deepEqual(await waiting(), [])
  const next = await run(second)
  await run(released)
  assert.equal(drivers[0]!.scripts - scripts, 1)
  drivers[0]!.delays.clear()
  await run(next.release())
  await run((await run(third)).release())
  await end()
})

void test('a grant that nobody confirms → it costs no token', async () => {
  const { clock, clients, drivers, raw, run, end } = await stage(3, 'fencedLock')
  const hold = await clients[0]!.fencedLock('x').acquire()
  const silent = clients[1]!.fencedLock('x').acquire()
  await clock.advance(10)
  const behind = clients[2]!.fencedLock('x').acquire()
  await clock.advance(10)
  drivers[1]!.mute = true
  await run(hold.release())
  await clock.advance(2900)
  assert.equal(await raw('EXISTS', 'x'), 1)
  assert.equal(await raw('GET', COUNTER), '1')
  const next = await run(behind)
  assert.equal(next.token, 2n)
  drivers[1]!.mute = false
  await run(next.release())
  const last = await run(silent)
  assert.ok(last.token > 2n, String(last.token))
  await run(last.release())
  await end()
})

void test('the line is evicted while a grant is on its way → its token is above that of the hold before', async () => {
  for (const keys of [
    ['holdfast_line_due:{x}'],
    ['holdfast_line:{x}'],
    ['holdfast_line_due:{x}', 'holdfast_line:{x}'],
  ]) {
    const { clients, clock, drivers, raw, run, end } = await stage(2, 'fencedLock')
    const hold = await clients[0]!.fencedLock('x').acquire()
    const waiting = clients[1]!.fencedLock('x').acquire()
    await clock.advance(10)
    drivers[1]!.mute = true
    await run(hold.release())
    await clock.advance(10)
    await raw('DEL', ...keys)
    drivers[1]!.mute = false
    const next = await run(waiting)
    assert.ok(next.token > hold.token, `${keys.join()}: ${next.token}`)
    await run(next.release())
    await end()
  }
})

void test('the counter is deleted while others stand in the line → their tokens are above all before', async () => {
  const { clients, clock, raw, run, end } = await stage(3, 'fencedLock')
  const had: FencedHold[] = []
  const visit = async (place: number): Promise<void> => {
    const hold = await clients[place]!.fencedLock('x').acquire()
    had.push(hold)
    await raw('DEL', COUNTER)
    await hold.release()
  }
  const all: Promise<void>[] = []
  for (const place of [0, 1, 2, 0, 1]) {
    all.push(visit(place))
    await clock.advance(1)
  }
  await run(Promise.all(all))
  const tokens = tokensOf(had)
  assert.equal(tokens.length, 5)
  assert.ok(
    tokens.every((token, index) => index === 0 || token > tokens[index - 1]!),
    tokens.join(),
  )
  await end()
})

void test('an answer about what is being passed on comes late → it goes on to the next all the same', async () => {
  const { clients, clock, drivers, raw, run, pause, end } = await stage(2, 'fencedLock')
  const lock = clients[1]!.fencedLock('x')
  const hold = await clients[0]!.fencedLock('x').acquire()
  const waiting = [lock.acquire(), lock.acquire()] as const
  await clock.advance(1500)
  const delays = { [lockAsk.sha]: 30, [lockAsk.text]: 30, [fencedLockPass.sha]: 20, [fencedLockPass.text]: 20 }
  for (const [script, ms] of Object.entries(delays)) drivers[1]!.delays.set(script, ms)
  const released = hold.release()
  await raw('PUBLISH', `${GRANTS}:${clients[1]!.id}`, '0')
  await run(released)
  const first = await run(waiting[0])
  await run(pause(20))
  assert.equal(await run(first.release()), true)
  const second = await run(waiting[1])
  assert.ok(second.token > first.token)
  drivers[1]!.delays.clear()
  assert.equal(await run(second.release()), true)
  await end()
})
