import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { AcquireTimeoutError, EngineError } from 'holdfast'
import { isTimeout, rejection, times } from '../../contract/lock/kind.js'
import { loseNextAnswer, onServer } from '../../../support/server.js'

void describe('answers that are lost or late', { concurrency: 4 }, () => {
  for (const lease of [undefined, 20_000]) {
    onServer(
      `G-18: an acquire whose answer is lost (lease ${lease}) → held once, or rejected and gone`,
      async (broken) => {
        const { redis, open } = broken
        const client = await open({ commandTimeout: 1000 })
        client.on('error', () => undefined)
        await client.lock('warm').using(() => undefined)
        for (let round = 0; round < 5; round += 1) {
          const name = `lost:${round}`
          const losing = loseNextAnswer(broken)
          const taking = client.lock(name).acquire({ lease, wait: 5000 })
          const outcome = taking.then(
            (hold) => hold,
            (error: unknown) => error,
          )
          await losing
          const result = await outcome
          if (result instanceof Error) {
            assert.ok(result instanceof EngineError, String(result))
            assert.match(result.code, /NO_REPLY|OFFLINE/)
          } else {
            assert.deepEqual(await redis.hvals(name), ['1'])
            assert.equal(await (result as Awaited<typeof taking>).release(), true)
          }
          await broken.until(async () => (await redis.exists(name)) === 0, 5000)
        }
      },
    )
  }

  onServer(
    'G-18: an explicit owner’s second level whose answer is lost → counted once or not at all',
    async (broken) => {
      const { redis, open } = broken
      const client = await open({ commandTimeout: 1000 })
      client.on('error', () => undefined)
      for (let round = 0; round < 4; round += 1) {
        const name = `level:${round}`
        const me = client.lock(name).for(client.owner())
        await me.lock(30_000)
        const losing = loseNextAnswer(broken)
        const second = me.lock(30_000).then(
          () => 2,
          () => 1,
        )
        await losing
        const levels = await second
        await broken.until(async () => Number((await redis.hvals(name))[0]) === levels, 5000)
        for (let level = levels; level > 0; level -= 1) await me.unlock()
        assert.equal(await redis.exists(name), 0)
      }
    },
  )

  onServer('G-18: a release whose answer is lost → true or false, never an error, and freed once', async (broken) => {
    const { redis, open } = broken
    const client = await open({ commandTimeout: 1000 })
    client.on('error', () => undefined)
    for (let round = 0; round < 5; round += 1) {
      const hold = await client.lock('a').acquire({ lease: 10_000 })
      const losing = loseNextAnswer(broken)
      const releasing = hold.release()
      await losing
      assert.equal(await releasing, true)
      assert.equal(await redis.exists('a'), 0)
    }
  })

  onServer('G-18: one level’s release whose answer is lost → one level less, not two', async (broken) => {
    const { redis, open } = broken
    const client = await open({ commandTimeout: 1000 })
    client.on('error', () => undefined)
    const owner = client.owner()
    const lock = client.lock('a')
    const me = lock.for(owner)
    for (let round = 0; round < 4; round += 1) {
      for (let level = 0; level < 3; level += 1) await me.lock(30_000)
      const losing = loseNextAnswer(broken)
      const unlocking = me.unlock()
      await losing
      await unlocking
      assert.deepEqual(await redis.hvals('a'), ['2'])
      await me.unlock()
      await me.unlock()
      assert.equal(await redis.exists('a'), 0)
    }
    const holds = []
    for (let level = 0; level < 3; level += 1) holds.push(await lock.acquire({ owner, lease: 30_000 }))
    const losing = loseNextAnswer(broken)
    const releasing = holds[0]?.release()
    await losing
    assert.equal(await releasing, true)
    assert.deepEqual(await redis.hvals('a'), ['2'])
    assert.equal(await holds[1]?.release(), true)
    assert.equal(await holds[2]?.release(), true)
    assert.equal(await redis.exists('a'), 0)
  })

  onServer(
    'a release that is never answered → false within the time left, without an error',
    async ({ proxy, open }) => {
      const client = await open({ commandTimeout: 300 })
      client.on('error', () => undefined)
      const hold = await client.lock('a').acquire({ lease: 1500 })
      proxy.deaf = true
      const began = performance.now()
      assert.equal(await hold.release(), false)
      assert.ok(performance.now() - began < 1500 + 5000)
      proxy.deaf = false
      proxy.cut()
    },
  )

  onServer(
    'G-09 G-10: aborted or timed out while the answer is on its way → rejected at once, given back at its arrival',
    async (broken) => {
      const { proxy, redis, open } = broken
      const client = await open()
      await client.lock('warm').using(() => undefined)
      proxy.delay = 200
      const controllers = times(5, () => new AbortController())
      const began = performance.now()
      const aborted = controllers.map(({ signal }, index) =>
        rejection(client.lock(`abort:${index}`).acquire({ signal })),
      )
      const late = times(5, (index) => rejection(client.lock(`late:${index}`).acquire({ wait: 60 })))
      const tried = times(5, (index) => client.lock(`try:${index}`).tryAcquire({ wait: 60 }))
      await sleep(60)
      for (const controller of controllers) controller.abort('left')
      assert.deepEqual(
        await Promise.all(aborted),
        times(5, () => 'left'),
      )
      for (const [index, error] of (await Promise.all(late)).entries()) {
        if (error !== undefined) assert.ok(isTimeout(`late:${index}`)(error))
      }
      for (const hold of await Promise.all(tried)) if (hold !== undefined) assert.equal(await hold.release(), true)
      assert.ok(performance.now() - began < 3000)
      await broken.until(
        async () => (await redis.keys('*:?')).filter((key) => !key.startsWith('holdfast')).length === 0,
        5000,
      )
    },
  )

  onServer('a slow line → `remaining` counts from before the command was sent', async ({ proxy, open, redis }) => {
    const client = await open()
    await client.lock('warm').using(() => undefined)
    proxy.delay = 300
    const hold = await client.lock('a').acquire({ lease: 5000 })
    assert.ok(hold.remaining() <= 5000 - 300, String(hold.remaining()))
    assert.ok(hold.remaining() <= (await redis.pttl('a')) + 5)
    proxy.delay = 0
    assert.equal(await hold.release(), true)
  })

  onServer('aborts and cuts at random → nothing is left when all is quiet', async (broken) => {
    const { proxy, redis, open } = broken
    const client = await open({ commandTimeout: 500, watchdog: 3000, presence: false })
    client.on('error', () => undefined)
    const cutting = setInterval(() => {
      proxy.cut()
    }, 70)
    let had = 0
    const task = async (index: number): Promise<void> => {
      for (let round = 0; round < 40; round += 1) {
        const signal = AbortSignal.timeout(20 + ((index * 13 + round * 7) % 120))
        await client
          .lock(`lock:${index % 4}`)
          .using({ signal, wait: 400 }, async () => {
            had += 1
            await sleep(3)
          })
          .catch(() => undefined)
        await sleep(10)
      }
    }
    await Promise.all(times(12, task))
    clearInterval(cutting)
    assert.ok(had > 20, `${had} were had`)
    await broken.until(async () => (await redis.dbsize()) === 0, 8000)
    await client.lock('lock:0').using(() => undefined)
  })

  onServer('taking it again, its answer late → the limit holds, and the level is taken back', async (broken) => {
    const { redis, open } = broken
    const client = await open({ commandTimeout: 3000 })
    const owner = client.owner()
    const hold = await client.lock('again').acquire({ owner, lease: 20_000 })
    await client.lock('warm').acquire({ owner, lease: 20_000 })
    broken.proxy.delay = 600
    const began = performance.now()
    const error = await rejection(client.lock('again').acquire({ owner, lease: 20_000, wait: 100 }))
    assert.ok(error instanceof AcquireTimeoutError, String(error))
    const took = performance.now() - began
    assert.ok(took < 500, `${took} ms: waited for the answer`)
    broken.proxy.delay = 0
    await broken.until(async () => (await redis.hvals('again'))[0] === '1', 5000)
    assert.equal(await hold.release(), true)
    assert.equal(await redis.exists('again'), 0)
  })

  onServer('a single try beside a call that has just given up → an answer of its own', async (broken) => {
    const client = await broken.open({ commandTimeout: 3000 })
    await client.lock('warm').using(() => undefined)
    broken.proxy.delay = 200
    const giving = new AbortController()
    const first = rejection(client.lock('beside').acquire({ signal: giving.signal }))
    await sleep(20)
    giving.abort(new Error('enough'))
    const tried = await client.lock('beside').tryAcquire()
    assert.equal(((await first) as Error).message, 'enough')
    assert.ok(tried !== undefined, 'refused although nobody has it')
    assert.equal(await tried.release(), true)
  })
})

// Apart: it would hold up the others.
void describe('a blocked event loop', () => {
  onServer('an event loop that stood still for longer than the reply time-out → the reply counts', async (broken) => {
    const client = await broken.open({ commandTimeout: 300 })
    await client.lock('warm').using(() => undefined)
    const taking = client.lock('still').acquire()
    const until = performance.now() + 700
    while (performance.now() < until);
    assert.equal(await (await taking).release(), true)
  })
})
