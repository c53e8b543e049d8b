import assert from 'node:assert/strict'
import { after, describe } from 'node:test'
import type { Client, Hold, Lock, LockEvent } from 'holdfast'
import { seeded } from '../../support/random.js'
import { inTown, type Town } from '../../support/town.js'

const RUNS = 3
const STEPS = 120

const KINDS: readonly ((client: Client) => Lock)[] = [
  (client) => client.lock('l'),
  (client) => client.fairLock('f'),
  (client) => client.fencedLock('t'),
  (client) => client.readWriteLock('rw').read,
  (client) => client.readWriteLock('rw').write,
]

const NAMES = ['l', 'f', 't', 'rw'] as const

/** How often each type came. */
const seen = new Map<string, number>()

/** What the events say, one after the other. */
class Told {
  readonly holders = new Map<string, LockEvent>()
  readonly waiting = new Set<string>()

  hear(event: LockEvent): void {
    const { type, owner, mode } = event
    const where = JSON.stringify(event)
    if (type === 'waiting') {
      assert.ok(!this.waiting.has(owner) && !this.holders.has(owner), `waits twice: ${where}`)
      this.waiting.add(owner)
    } else if (type === 'gave up') {
      assert.ok(this.waiting.delete(owner), `gave up what it did not wait for: ${where}`)
    } else if (type === 'granted') {
      const others = [...this.holders.values()].filter((other) => other.client !== event.client)
      const alone = mode !== 'read'
      const excluded = others.some((other) => alone || other.mode !== 'read')
      assert.ok(!excluded && !this.holders.has(owner), `granted while another holds it: ${where}`)
      this.holders.set(owner, event)
      this.waiting.delete(owner)
    } else {
      assert.ok(this.holders.delete(owner), `${type} without a hold: ${where}`)
    }
  }
}

const program = async (town: Town, seed: number): Promise<void> => {
  const random = seeded(seed)
  const pick = <T>(some: readonly T[]): T => some[Math.floor(random() * some.length)] as T
  const clients = [await town.join({ label: 'a' }), await town.join({ label: 'b' }), await town.join({ label: 'c' })]
  const watcher = await town.join({ presence: false })
  const told = new Map(NAMES.map((name) => [name as string, new Told()]))
  const times = new Map<string, number>()
  const abort = new AbortController()
  const loops = NAMES.map(async (name) => {
    try {
      for await (const event of watcher.watch(name, { signal: abort.signal })) {
        assert.equal(event.name, name)
        assert.ok(event.at >= (times.get(name) ?? 0), 'in the order of their times')
        times.set(name, event.at)
        told.get(name)?.hear(event)
        seen.set(event.type, (seen.get(event.type) ?? 0) + 1)
      }
    } catch (error) {
      if (!abort.signal.aborted) throw error
    }
  })
  for (const loop of loops) loop.catch(() => undefined)
  const holds: Hold[] = []
  const calls: Promise<unknown>[] = []
  const acquire = (): void => {
    const lease = random() < 0.3 ? { lease: 500 + Math.floor(random() * 3000) } : {}
    const call = pick(KINDS)(pick(clients)).tryAcquire({ wait: Math.floor(random() * 5000), ...lease })
    calls.push(call.then((hold) => void holds.push(...(hold === undefined ? [] : [hold]))).catch(() => undefined))
  }
  const release = (): void => {
    const [hold] = holds.splice(Math.floor(random() * holds.length), 1)
    if (hold !== undefined) calls.push(hold.release().catch(() => undefined))
  }
  for (let step = 0; step < STEPS; step++) {
    const what = random()
    if (what < 0.45) acquire()
    else if (what < 0.85) release()
    else if (what < 0.92)
      calls.push(
        pick(KINDS)(pick(clients))
          .forceRelease()
          .catch(() => undefined),
      )
    else if (what < 0.95) town.raw('DEL', pick(NAMES))
    // So that something that is held is deleted, whatever the seed.
    if (step % 16 === 8 && holds.length > 0) town.raw('DEL', pick(holds).name)
    await town.clock.advance(Math.floor(random() * 700))
  }
  // Now nothing changes any more, and what is still held is renewed.
  await town.clock.advance(8000)
  await town.run(Promise.all(calls))
  await town.clock.advance(8000)
  for (const name of NAMES) {
    const state = await town.run(pick(KINDS.filter((kind) => kind(watcher).name === name))(watcher).inspect())
    const shown = told.get(name)
    assert.deepEqual([...(shown?.holders.keys() ?? [])].sort(), state.holders.map(({ owner }) => owner).sort(), name)
    assert.deepEqual([...(shown?.waiting ?? [])].sort(), state.waiting.map(({ owner }) => owner).sort(), name)
  }
  abort.abort()
  await town.run(Promise.all(loops))
  for (const hold of holds) await town.run(hold.release())
  town.raw('DEL', 'redisson_lock_token:{t}')
}

void describe('client.watch: programs at random', () => {
  const first = Math.floor(Math.random() * 1e6)
  for (let seed = first; seed < first + RUNS; seed++)
    inTown(`seed ${seed} → events in a possible order, and at the end what is true`, (town) => program(town, seed))
  after(() => {
    const types = ['waiting', 'granted', 'gave up', 'released', 'expired', 'forced', 'deleted']
    for (const type of types) assert.ok((seen.get(type) ?? 0) > 0, `no ${type} in ${JSON.stringify([...seen])}`)
  })
})
