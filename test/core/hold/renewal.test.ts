import assert from 'node:assert/strict'
import { test } from 'node:test'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { type DriverEvents, NoReply } from '#src/engine/driver.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { serverError } from '#src/errors.js'
import { fencedLockRenew, lockRenew } from '#src/lua/scripts.gen.js'
import type { Arg, Reply } from '#src/lua/values.js'

const WATCHDOG = 3000

/** A connection that goes and comes, and loses answers to renewals. */
class FickleDriver extends MemoryDriver {
  renewals = 0
  unanswered = 0
  /** Whether a slot moves, and no node has all keys of a script. */
  moving = false
  #away = false
  #events: DriverEvents | undefined

  override get isUp(): boolean {
    return super.isUp && !this.#away
  }

  override open(events: DriverEvents): Promise<void> {
    this.#events = events
    return super.open(events)
  }

  override send(argv: readonly Arg[]): Promise<Reply> {
    if (this.moving && (argv[1] === fencedLockRenew.sha || argv[1] === fencedLockRenew.text))
      return Promise.reject(serverError('TRYAGAIN Multiple keys request during rehashing of slot'))
    if (!this.isUp || (argv[1] !== lockRenew.sha && argv[1] !== lockRenew.text)) return super.send(argv)
    this.renewals++
    return this.unanswered-- > 0 ? Promise.reject(new NoReply('lost')) : super.send(argv)
  }

  goes(): void {
    this.#away = true
    this.#events?.down(new Error('cut'))
  }

  comes(): void {
    this.#away = false
    this.#events?.up(true)
  }
}

const stage = async () => {
  const clock = virtualClock()
  const driver = new FickleDriver(new MemoryServer(clock), undefined)
  const options = { url: 'memory:', clock, watchdog: WATCHDOG, commandTimeout: 2 * WATCHDOG, presence: false }
  const client = await start(settle(options, {}), driver)
  return { clock, driver, client }
}

void test('a renewal is not answered → asked again at once, not when it would be due next', async () => {
  const { clock, driver, client } = await stage()
  const hold = await client.lock('a').acquire()
  driver.unanswered = 2
  await clock.advance(WATCHDOG / 3 + 500)
  assert.ok(driver.renewals >= 3)
  await clock.advance(3 * WATCHDOG)
  assert.equal(hold.state, 'held')
  await client.close()
})

void test('the connection is away for longer than a hold lasts → no renewal waits for it to come back', async () => {
  const { clock, driver, client } = await stage()
  const hold = await client.lock('a').acquire()
  driver.goes()
  await clock.advance(WATCHDOG + 500)
  assert.equal(hold.state, 'lost')
  driver.comes()
  await clock.advance(500)
  assert.equal(driver.renewals, 0)
  assert.equal(await client.lock('a').isLocked(), false)
  await client.close()
})

void test('a slot moves for longer than a fenced hold lasts → it is renewed by the key of the lock alone', async () => {
  const { clock, driver, client } = await stage()
  const holds = await Promise.all(['a', 'b'].map((name) => client.fencedLock(name).acquire()))
  driver.moving = true
  await clock.advance(4 * WATCHDOG)
  assert.deepEqual(
    holds.map(({ state }) => state),
    ['held', 'held'],
  )
  assert.ok(driver.renewals >= 8)
  driver.moving = false
  await clock.advance(WATCHDOG)
  for (const hold of holds) assert.equal(await hold.release(), true)
  await client.close()
})
