import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect } from '#src/index.js'

/** Takes one and gives it back. */
interface Taken {
  release(): Promise<unknown>
}
type Kind = (client: Client, name: string) => Promise<Taken>

const wait = 10_000
const KINDS: Readonly<Record<string, Kind>> = {
  lock: (client, name) => client.lock(name).acquire({ wait }),
  nonReentrantLock: (client, name) => client.nonReentrantLock(name).acquire({ wait }),
  fairLock: (client, name) => client.fairLock(name).acquire({ wait }),
  fencedLock: (client, name) => client.fencedLock(name).acquire({ wait }),
  'write lock': (client, name) => client.readWriteLock(name).write.acquire({ wait }),
  'fair write lock': (client, name) => client.readWriteLock(name, { fair: true }).write.acquire({ wait }),
  keyedLock: (client, name) => client.keyedLock(name, ['k']).acquire({ wait }),
  semaphore: async (client, name) => {
    const semaphore = client.semaphore(name)
    await semaphore.trySetPermits(1)
    await semaphore.acquire({ wait })
    return semaphore
  },
  permitSemaphore: async (client, name) => {
    const semaphore = client.permitSemaphore(name)
    await semaphore.trySetPermits(1)
    return semaphore.acquire({ wait })
  },
}

const clients = async (): Promise<[Client, Client, Client]> => {
  const url = `memory:braces-${process.hrtime.bigint()}`
  return [await connect(url), await connect(url), await connect(url)]
}

void describe('x and {x}, which have the same companions in Redisson', () => {
  for (const [kind, take] of Object.entries(KINDS)) {
    void test(`${kind}: x is given back → who waits for {x} does not have {x} beside its holder, and x is free`, async () => {
      const [one, two, three] = await clients()
      const x = await take(one, 'x')
      const braced = await take(two, '{x}')
      let had = false
      const waiting = take(three, '{x}').then((taken) => {
        had = true
        return taken
      })
      await sleep(100)
      await x.release()
      await sleep(200)
      assert.equal(had, false, 'two have {x}')
      const since = performance.now()
      await (await take(one, 'x')).release()
      assert.ok(performance.now() - since < 1000, 'x was not free')
      await braced.release()
      await (await waiting).release()
      await Promise.all([one, two, three].map((client) => client.close()))
    })
  }

  void test('an election, a slot and a flight of each → apart', async () => {
    const [one, two, three] = await clients()
    const until = new AbortController()
    const { signal } = until
    const leading = [
      [one, 'e'],
      [two, '{e}'],
    ].map(([client, name]) => {
      const value = name as string
      const election = (client as Client).election<string>(value)
      return election.lead({ value, signal }, (term) => once(term.signal, 'abort')).catch(() => undefined)
    })
    await sleep(100)
    assert.equal((await three.election('e').leader())?.value, 'e')
    assert.equal((await three.election('{e}').leader())?.value, '{e}')
    until.abort()
    await Promise.all(leading)
    for (const [index, name] of ['s', '{s}'].entries()) {
      const run = await one.slots(name).run('slot', () => index)
      assert.equal(run.outcome === 'ran' && run.value, index)
      assert.equal((await two.flight(name).run('k', { ttl: 5000 }, () => name)).value, name)
    }
    await Promise.all([one, two, three].map((client) => client.close()))
  })
})
