import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { LONGEST_VALUE } from '#src/script-times-and-limits.js'
import { EngineError, type Leader } from 'holdfast'
import { onServer } from '../../support/server.js'
import { onStage } from '../../support/stage.js'

const KEY = 'holdfast_leader:{e}'

onServer('the memory of the server is full while it leads → proclaim says so, and the term goes on', async (broken) => {
  const client = await broken.open()
  const election = client.election<string>('e')
  const stop = new AbortController()
  let refused: unknown
  await election.lead({ value: 'first', lease: 3000, signal: stop.signal }, async ({ signal }) => {
    await broken.redis.config('SET', 'maxmemory', '1')
    refused = await election.proclaim('second').then(
      () => 'it was proclaimed',
      (error: unknown) => error,
    )
    assert.equal(signal.aborted, false)
    await broken.redis.config('SET', 'maxmemory', '0')
    await election.proclaim('third')
    assert.equal((await election.leader())?.value, 'third')
    stop.abort()
  })
  assert.ok(refused instanceof EngineError && refused.code === 'OOM', String(refused))
})

onServer(
  'an observer begins while the server is silent → it sees the leader once the server is back',
  async (broken) => {
    const client = await broken.open({ commandTimeout: 300 })
    const other = await broken.open({ url: broken.server.url })
    const stop = new AbortController()
    const led = other
      .election('e')
      .lead({ value: 'v', signal: stop.signal }, ({ signal }) => sleep(60_000, 0, { signal }))
    await broken.until(async () => (await other.election('e').leader()) !== undefined)
    broken.proxy.mute = true
    const leaders = client.election<string>('e').observe()
    const first = leaders.next()
    await sleep(1000)
    broken.proxy.mute = false
    broken.proxy.cut()
    const { value: leader } = (await first) as IteratorResult<Leader<string> | undefined, undefined>
    assert.equal(leader?.value, 'v')
    await leaders.return?.()
    stop.abort()
    await led.catch(() => undefined)
  },
)

onServer('a client closes while its leader ignores its signal → nothing says that it still leads', async (broken) => {
  const client = await broken.open()
  let begun = false
  const led = client.election('e').lead(async () => {
    begun = true
    await sleep(1500)
  })
  const ended = led.catch(() => undefined)
  await broken.until(() => begun)
  assert.equal(await broken.redis.exists(KEY), 1)
  await client.close()
  await broken.until(async () => (await broken.redis.exists(KEY)) === 0, 1000)
  await ended
})

onStage(
  'another program has written megabytes as the value of a leader → the leader is shown without it',
  async ({ client, clock, raw, run }) => {
    const stop = new AbortController()
    const led = client.election('e').lead({ value: 'v', signal: stop.signal }, async ({ signal }) => {
      while (!signal.aborted) await new Promise<void>((resolve) => void clock.setTimer(resolve, 100))
    })
    await clock.advance(100)
    raw('HSET', KEY, 'value', 'x'.repeat(LONGEST_VALUE + 1))
    const leader = await run(client.election('e').leader())
    assert.deepEqual([leader?.term, leader?.value], [1n, undefined])
    stop.abort()
    await run(led)
  },
  ['redisson_lock_token:{e}'],
)

onStage('a value that is too long for others to read → lead and proclaim reject with a RangeError', async (stage) => {
  const value = 'x'.repeat(LONGEST_VALUE)
  const lead = stage.client.election('e').lead({ value }, () => assert.fail('it leads'))
  await stage.run(assert.rejects(lead, RangeError))
})
