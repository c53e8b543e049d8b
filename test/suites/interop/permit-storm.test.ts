import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, LockLostError } from 'holdfast'
import { type Arena, arena } from './support/arena.js'
import { NEWEST, now, type Redisson } from './support/redisson.js'

const PERMITS = 1000
const LEASE = 100
const AT_ONCE = 50
const SECONDS = 5

/** By one look: what is left, how many are taken, and how many of those last still. */
const LOOK = `local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local taken = KEYS[2]
return {
  tonumber(redis.call('GET', KEYS[1])), redis.call('ZCARD', taken), redis.call('ZCOUNT', taken, now, '+inf'),
}`

const look = ({ redis }: Arena): Promise<[left: number, taken: number, lasting: number]> =>
  redis.eval(LOOK, 2, 'storm', '{storm}:timeout') as Promise<[number, number, number]>

/** Takes as many as it gets until the time is over, and gives none back: how many it had. */
const storm = async (take: () => Promise<number>, end: number): Promise<number> => {
  let had = 0
  while (now() < end) {
    const some = await take()
    had += some
    if (some === 0) await sleep(10)
  }
  return had
}

const javaTake = (redisson: Redisson) => async (): Promise<number> => {
  const ids = redisson.lock('permits', 'storm').call<string[]>('tryAcquireAsync', [AT_ONCE, 0, LEASE, 'MILLISECONDS'])
  return (await ids)?.length ?? 0
}

const nodeTake = (client: Client) => async (): Promise<number> => {
  try {
    return (await client.permitSemaphore('storm').acquireMany(AT_ONCE, { lease: LEASE, wait: 10_000 })).length
  } catch (error) {
    // On a slow machine they may be over before it is told that it had them.
    if (error instanceof LockLostError) return 0
    throw error
  }
}

void describe(`a thousand permits that end by themselves, beside Redisson ${NEWEST}`, () => {
  const enter = arena(NEWEST)
  void test(
    'taken by two of each side, never given back → each counts once, all are there again',
    { timeout: 60_000 },
    async (t) => {
      const here = enter(t)
      if (here === undefined) return
      const { java, url } = here
      const clients = await Promise.all([connect({ url, presence: false }), connect({ url, presence: false })])
      const theirs = [java, await java.another({ url })]
      try {
        const [first] = clients
        await first.permitSemaphore('storm').trySetPermits(PERMITS)
        const end = now() + 1000 * SECONDS
        const takes = [...theirs.map(javaTake), ...clients.map(nodeTake)]
        let looks = 0
        const watching = storm(async () => {
          const [left, taken, lasting] = await look(here)
          assert.equal(left + taken, PERMITS, `${left} left, ${taken} taken`)
          assert.ok(left >= 0 && lasting <= PERMITS)
          looks += 1
          return 0
        }, end)
        const had = await Promise.all(takes.map((take) => storm(take, end)))
        await watching
        t.diagnostic(`${had.join(', ')} permits had (Redisson’s two first), looked at ${looks} times`)
        assert.ok(
          had.every((count) => count >= AT_ONCE),
          had.join(),
        )
        assert.ok(had.reduce((sum, count) => sum + count, 0) > 3 * PERMITS, 'none came back')
        await sleep(2 * LEASE)
        assert.equal(await first.permitSemaphore('storm').available(), PERMITS)
        // Whoever takes some takes back what is over.
        await (await first.permitSemaphore('storm').acquire()).release()
        assert.deepEqual((await look(here)).slice(0, 2), [PERMITS, 0])
      } finally {
        await Promise.all(clients.map((client) => client.close()))
        await theirs[1]?.shutdown()
        await here.redis.flushall()
      }
    },
  )
})
