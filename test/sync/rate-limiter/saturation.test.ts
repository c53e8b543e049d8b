import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { times } from '../../suites/contract/lock/kind.js'
import { connect } from 'holdfast'
import { exceeding } from '../../support/grants.js'
import { grantsIn } from '../../support/monitored-grants.js'
import { onWire } from '../../support/wire.js'

const PROGRAM = fileURLToPath(new URL('../../support/limiter-process.js', import.meta.url))

/** How long it is saturated, ms. */
const LENGTH = Number(process.env['HOLDFAST_SATURATION'] ?? 4500)

const worker = async (...words: string[]): Promise<number> => {
  const child = spawn(process.execPath, ['--unhandled-rejections=strict', PROGRAM, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [said, [code]] = await Promise.all([text(child.stdout), once(child, 'close') as Promise<[number | null]>])
  assert.equal(code, 0)
  return Number(said)
}

await onWire('a limiter under load', (wire) => {
  const interval = 1000

  void test('RL15, RL16: tries and waiters of 3 clients → by the server’s time never more than the rate', async () => {
    const clients = await Promise.all(times(3, () => wire.open()))
    const limiters = clients.map((client) => client.rateLimiter('a'))
    await limiters[0]!.trySetRate({ permits: 18, interval })
    let had = 0
    const seen = await wire.monitored(async () => {
      const until = performance.now() + LENGTH
      const task = async (index: number): Promise<void> => {
        const limiter = limiters[index % 3]!
        for (let left = LENGTH; left > 0; left = until - performance.now()) {
          const wait = index % 2 === 0 ? left : 0
          if ((await limiter.tryAcquire({ wait })).allowed) had += 1
          else await sleep(index)
        }
      }
      await Promise.all(times(10, task))
      // A grant for a call whose time was over is taken back in the background.
      await sleep(300)
    })
    const grants = grantsIn(seen)
    assert.equal(grants.length, had)
    assert.equal(exceeding(grants, 18, interval), undefined)
    assert.ok(had >= 18 * Math.floor(LENGTH / 1000), `${had} had: not saturated, it proves nothing`)
    await limiters[0]!.delete()
  })

  void test('three processes → by the server’s time never more than the rate, and nobody waits in vain', async () => {
    const redis = await connect({ url: wire.url, presence: false })
    const limiter = redis.rateLimiter('b')
    await limiter.trySetRate({ permits: 20, interval })
    let had: number[] = []
    const seen = await wire.monitored(async () => {
      had = await Promise.all(times(3, () => worker(wire.url, 'b', '6', '4000')))
    })
    const grants = grantsIn(seen)
    assert.equal(
      grants.reduce((sum, { permits }) => sum + permits, 0),
      had.reduce((sum, one) => sum + one, 0),
    )
    assert.equal(exceeding(grants, 20, interval), undefined)
    for (const one of had) assert.ok(one > 0, String(had))
    assert.ok(grants.length > 40, `${grants.length} grants: not saturated`)
    await limiter.delete()
    await redis.close()
  })

  void test('RL03: saturated at 2,000 per 2 s → every permit is in the log, none is lost', async () => {
    const client = await wire.open()
    const limiter = client.rateLimiter('c')
    await limiter.trySetRate({ permits: 2000, interval: 2000 })
    const leaving = new AbortController()
    const loops = times(200, async () => {
      for (;;) await limiter.acquire({ signal: leaving.signal })
    }).map((loop) => loop.catch((reason: unknown) => assert.equal(reason, 'over')))
    await sleep(1500)
    let full = 0
    for (let sample = 0; sample < 20; sample += 1) {
      await sleep(200)
      const count = await wire.redis.zcard('{c}:permits')
      const value = Number(await wire.redis.get('{c}:value'))
      assert.ok(count <= 2000)
      // Two looks: at the edge of the window some may have gone in between.
      if (count + value >= 1950) full += 1
    }
    leaving.abort('over')
    await Promise.all(loops)
    assert.ok(full >= 16, `full in ${full} of 20`)
    await sleep(2100)
    assert.equal(await limiter.available(), 2000)
    await limiter.delete()
  })
})
