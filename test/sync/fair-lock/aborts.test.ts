import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Hold } from 'holdfast'
import type { VirtualClock } from 'holdfast/testing'
import { virtualClock } from 'holdfast/testing'
import type { Client } from 'holdfast'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { seeded } from '../../support/random.js'
import type { Phase } from '../../support/slow-driver.js'
import { SlowDriver } from '../../support/slow-driver.js'

const RACES = 504
/** A time limit that is over only when the wait has come to where it is meant to end, ms. */
const LIMIT = 1500
/** What a hand-over may take on these connections, where each way takes 1 ms, and who has to leave first. */
const SOON = 60

/** Where a wait is to end: what is on its way then, and whether the lock has been given back by then. */
interface Aim {
  readonly what: string
  readonly op?: string
  readonly phase?: Phase
  readonly freed: boolean
  /** Is unanswered then. */
  readonly flying?: string
}

const on = (what: string, op: string, phase: Phase, freed: boolean): Aim => ({
  what: `${what}${freed ? ', the lock freed meanwhile' : ''}`,
  op,
  phase,
  freed,
})

const AIMS: readonly Aim[] = [
  ...[false, true].flatMap((freed) => [
    on('the try is on its way', 'fair-lock/try', 'request', freed),
    on('the try is unanswered', 'fair-lock/try', 'reply', freed),
    on('subscribing', 'subscribe', 'request', freed),
    on('enqueue is on its way', 'fair-lock/enqueue', 'request', freed),
    on('enqueue is unanswered', 'fair-lock/enqueue', 'reply', freed),
    on('a poll is on its way', 'fair-lock/poll', 'request', freed),
    on('a poll is unanswered', 'fair-lock/poll', 'reply', freed),
  ]),
  on('subscribed, before enqueue is sent', 'subscribe', 'answered', false),
  on('enqueue is answered, in the same turn', 'fair-lock/enqueue', 'answered', false),
  { what: 'subscribed and waiting', freed: false },
  { what: 'the grant message is on its way', op: 'message', phase: 'reply', freed: true },
  { what: 'granted, confirm is on its way', op: 'fair-lock/confirm', phase: 'request', freed: true },
  { what: 'granted, confirm is unanswered', op: 'fair-lock/confirm', phase: 'reply', freed: true },
  { what: 'granted, not provably fresh, confirming first', freed: true, flying: 'fair-lock/confirm' },
  on('leaving, on its way', 'fair-lock/leave', 'request', false),
  on('leaving, on its way', 'fair-lock/leave', 'request', true),
  on('leaving, unanswered', 'fair-lock/leave', 'reply', false),
  on('leaving, unanswered', 'fair-lock/leave', 'reply', true),
]

/** Three clients of one embedded server, each on a slow connection: who holds, who gives up, and who comes next. */
class Party {
  readonly clock: VirtualClock = virtualClock(1)
  readonly server = new MemoryServer(this.clock)
  readonly drivers = [0, 1, 2].map(() => new SlowDriver(this.server, this.clock))
  clients: readonly Client[] = []
  readonly counts = new Map<string, { rejected: number; late: number; had: number }>()
  longest = 0

  async open(): Promise<void> {
    const options = { url: 'memory:', clock: this.clock, presence: false, commandTimeout: 3000 }
    this.clients = await this.run(Promise.all(this.drivers.map((driver) => start(settle(options, {}), driver))))
  }

  async run<T>(promise: Promise<T>, limit = 10_000): Promise<T> {
    let settled = false
    const settle = (): boolean => (settled = true)
    promise.then(settle, settle)
    const end = this.clock.now() + limit
    for (await this.clock.advance(0); !settled; await this.clock.advance(1)) {
      assert.ok(this.clock.now() < end, `not settled within ${limit} virtual ms`)
    }
    return promise
  }

  keys(): unknown {
    return this.server.execute(['KEYS', '*'])
  }

  async race(name: string, aim: Aim, limited: boolean): Promise<void> {
    // What is over within a turn no time limit can hit.
    const atOnce = aim.phase === 'answered'
    const byLimit = limited && !atOnce
    const [holder, quitter, next] = this.clients.map((client) => client.fairLock(name))
    assert.ok(holder !== undefined && quitter !== undefined && next !== undefined)
    const first = await this.run(holder.acquire())
    const leaving = aim.op === 'fair-lock/leave'
    let goOn = (): void => undefined
    const held = new Promise<void>((resolve) => (goOn = resolve))
    const abort = new AbortController()
    const reason = new Error(`${name} is not wanted`)
    const slow = this.drivers[1] as SlowDriver
    const reached = new Promise<void>((resolve) => {
      if (aim.op === undefined || aim.phase === undefined) return
      const until = (): Promise<void> | void => {
        resolve()
        if (!atOnce) return held
        abort.abort(reason)
      }
      slow.stop = { op: aim.op, phase: aim.phase, name, until }
    })
    const began = this.clock.now()
    const wait = byLimit || leaving ? LIMIT : 60_000
    const call = quitter.tryAcquire({ wait, signal: abort.signal }).then(
      (hold) => ({ hold }),
      (error: unknown) => ({ error }),
    )
    const others: Promise<Hold>[] = []
    const queueUp = async (): Promise<void> => {
      others.push(next.acquire())
      await this.clock.advance(20)
    }
    const freed = async (): Promise<void> => {
      assert.equal(await this.run(first.release()), true)
    }
    const ends = async (): Promise<void> => {
      if (leaving ? !byLimit : byLimit) await this.clock.advance(Math.max(0, began + LIMIT - this.clock.now()) + 1)
      else abort.abort(reason)
      await this.clock.advance(0)
    }
    if (aim.op === undefined || leaving || aim.op === 'message' || aim.op === 'fair-lock/confirm') {
      await this.clock.advance(30)
      await queueUp()
    }
    // Who leaves for one reason meets the other on the way out.
    if (leaving && !byLimit) abort.abort(reason)
    if (aim.op === undefined && aim.freed) {
      // A poll may have confirmed it, so the message alone is no proof; what it asks then is behind that on the connection.
      await this.run(
        new Promise<void>((resolve) => {
          const until = (): Promise<void> => {
            resolve()
            return held
          }
          slow.stop = { op: 'fair-lock/poll', phase: 'reply', name, until }
        }),
      )
    }
    if (aim.op === 'message' || aim.op === 'fair-lock/confirm') {
      await freed()
      await this.run(reached)
    } else if (aim.op !== undefined) {
      await this.run(reached)
      if (!leaving) await queueUp()
      if (aim.freed) await freed()
    } else if (aim.freed) await freed()
    await this.clock.advance(5)
    if (aim.flying !== undefined) assert.ok(slow.flying.includes(aim.flying), aim.what)
    await ends()
    goOn()
    if (!aim.freed) await freed()
    let since = this.clock.now()
    const outcome = await this.run(call)
    this.#count(aim, byLimit, outcome, reason)
    if ('hold' in outcome && outcome.hold !== undefined) {
      assert.equal(outcome.hold.state, 'held')
      since = this.clock.now()
      assert.equal(await this.run(outcome.hold.release()), true)
    }
    const hold = await this.run(others[0] ?? assert.fail('nobody is next'))
    this.longest = Math.max(this.longest, this.clock.now() - since)
    assert.ok(this.clock.now() - since <= SOON, `${aim.what}: the next one waits ${this.clock.now() - since} ms more`)
    assert.equal(await this.run(hold.release()), true)
    await this.clock.advance(10)
    assert.deepEqual(this.keys(), [], `${aim.what}: left`)
    assert.equal(slow.stop, undefined, `${aim.what}: was never there`)
  }

  #count(
    { what }: Aim,
    byLimit: boolean,
    outcome: { hold: Hold | undefined } | { error: unknown },
    reason: Error,
  ): void {
    const counts = this.counts.get(what) ?? { rejected: 0, late: 0, had: 0 }
    this.counts.set(what, counts)
    if ('error' in outcome) {
      assert.equal(outcome.error, reason)
      counts.rejected += 1
    } else if (outcome.hold === undefined) {
      assert.ok(byLimit)
      counts.late += 1
    } else counts.had += 1
  }
}

void test(`G-10: ${RACES} waits ended at every await that there is → given up or had, the next one soon, nothing left`, async (t) => {
  const party = new Party()
  await party.open()
  const random = seeded(1)
  for (let race = 0; race < RACES; race += 1) {
    const aim = AIMS[race % AIMS.length] as Aim
    await party.race(`lock ${race};`, aim, Math.floor(race / AIMS.length) % 2 === 1)
    await party.clock.advance(random() * 5)
  }
  await party.clock.advance(2500)
  assert.deepEqual(party.server.execute(['PUBSUB', 'CHANNELS', '*']), [])
  await party.run(Promise.all(party.clients.map((client) => client.close())))
  assert.deepEqual(party.keys(), [])
  for (const { what } of AIMS) {
    const { rejected, late, had } = party.counts.get(what) ?? { rejected: 0, late: 0, had: 0 }
    assert.ok(rejected + late + had > 0, what)
    t.diagnostic(`${what.padEnd(75)} ${rejected} aborted, ${late} too late, ${had} had`)
  }
  t.diagnostic(`the next one waited ${party.longest} ms at most`)
})
