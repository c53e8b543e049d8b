import assert from 'node:assert/strict'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { test } from 'node:test'
import type { DiagnosticMessage } from 'holdfast'
import { virtualClock } from 'holdfast/testing'
import { start } from '#src/client.js'
import { settle } from '#src/config/settings.js'
import { MemoryDriver } from '#src/engine/memory/driver.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { SlowDriver } from '../../support/slow-driver.js'

type Opened = Awaited<ReturnType<typeof start>>

const KINDS: Readonly<Record<string, (client: Opened, work: () => Promise<void>) => Promise<void>>> = {
  'plain lock': (client, work) => client.lock('x').using(work),
  'fair lock': (client, work) => client.fairLock('x').using(work),
  semaphore: (client, work) => client.semaphore('s').using(work),
}

for (const [kind, using] of Object.entries(KINDS)) {
  void test(`${kind}: a round trip of 160 ms → who waits here still has it from hand to hand, for a turn`, async () => {
    const clock = virtualClock(1)
    const server = new MemoryServer(clock)
    const options = settle({ url: 'memory:', clock, presence: false, commandTimeout: 3000 }, {})
    const near = await start(options, new MemoryDriver(server, undefined))
    const opening = start(options, new SlowDriver(server, clock, 80))
    await clock.advance(1000)
    const far = await opening
    await near.semaphore('s').trySetPermits(1)
    const locals: boolean[] = []
    const heard = (message: unknown): void => void locals.push((message as DiagnosticMessage).local === true)
    let free = (): void => undefined
    const first = using(near, () => new Promise<void>((resolve) => (free = resolve)))
    await clock.advance(10)
    let inside = 0
    const work = async (): Promise<void> => {
      assert.equal(++inside, 1)
      await new Promise<void>((resolve) => void clock.setTimer(resolve, 10))
      inside--
    }
    // Only calls that begin while somebody listens are told.
    subscribe('holdfast:grant', heard)
    try {
      const waiting = Array.from({ length: 8 }, () => using(far, work))
      await clock.advance(1500)
      free()
      await first
      while (locals.length === 0) await clock.advance(1)
      waiting.push(using(near, work))
      for (let i = 0; i < 100; i++) await clock.advance(20)
      await Promise.all(waiting)
      assert.deepEqual(locals.slice(0, 7), [false, true, true, true, true, true, false])
    } finally {
      unsubscribe('holdfast:grant', heard)
      const closing = Promise.all([near.close(), far.close()])
      for (let i = 0; i < 50; i++) await clock.advance(20)
      await closing
    }
  })
}
