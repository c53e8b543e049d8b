import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError } from 'holdfast'
import { rejection, times } from '../../contract/lock/kind.js'
import { loseNextAnswer, onServer } from '../../../support/server.js'
import { kinds } from './rows.js'

const isTaking = (name: string): boolean => /acquire/i.test(name)

void describe('G-18: answers of synchronizers that are lost or late', { concurrency: 4 }, () => {
  for (const kind of kinds) {
    for (const row of kind.rows) {
      onServer(`${kind.name}.${row.name}, its answer lost → done once, or not at all and said so`, async (broken) => {
        const { redis, open } = broken
        const client = await open({ commandTimeout: 1000 })
        client.on('error', () => undefined)
        // The server knows the script: what it does, it does when it is asked.
        await kind.prepare(redis, 'warm')
        await row.call(client, 'warm')
        for (let round = 0; round < 3; round += 1) {
          const name = `lost:${round}`
          await kind.prepare(redis, name)
          const losing = loseNextAnswer(broken)
          const calling = row.call(client, name).then(
            (answer) => ({ answer }),
            (error: unknown) => ({ error }),
          )
          await losing
          const outcome = await calling
          if ('answer' in outcome) {
            assert.deepEqual(outcome.answer, row.answer)
            assert.equal(await kind.count(redis, name), kind.prepared + row.by)
            continue
          }
          assert.ok(isTaking(row.name), `${row.name} is asked for again until it is answered`)
          assert.ok(outcome.error instanceof EngineError && outcome.error.code === 'NO_REPLY', String(outcome.error))
          await broken.until(async () => (await kind.count(redis, name)) === kind.prepared, 5000)
        }
      })
    }

    onServer(`${kind.name}: a call that waits, its answer lost → had once all the same`, async (broken) => {
      const { redis, open } = broken
      const client = await open({ commandTimeout: 1000 })
      client.on('error', () => undefined)
      for (let round = 0; round < 3; round += 1) {
        const name = `waits:${round}`
        await kind.put(redis, name, kind.closed)
        const waiting = kind.wait(client, name, { wait: 20_000 })
        let channel = ''
        await broken.until(async () => {
          ;[channel = ''] = (await redis.pubsub('CHANNELS', kind.channel(name))) as string[]
          return channel !== ''
        })
        await sleep(50)
        const losing = loseNextAnswer(broken)
        await kind.put(redis, name, kind.open)
        await redis.publish(channel, '1')
        await losing
        await waiting
        await broken.until(async () => (await kind.count(redis, name)) === kind.had)
        await sleep(100)
        assert.equal(await kind.count(redis, name), kind.had)
      }
    })
  }

  onServer('a semaphore, aborts and cuts at random → every permit is back, nothing else is left', async (broken) => {
    const { proxy, redis, open } = broken
    const client = await open({ commandTimeout: 500, presence: false })
    client.on('error', () => undefined)
    const name = 'churned'
    await redis.set(name, 10)
    const cutting = setInterval(() => proxy.cut(), 90)
    let had = 0
    const task = async (index: number): Promise<void> => {
      for (let round = 0; round < 15; round += 1) {
        const signal = AbortSignal.timeout(20 + ((index * 13 + round * 7) % 120))
        await client
          .semaphore(name)
          .using({ permits: 1 + (index % 3), signal, wait: 400 }, async () => {
            had += 1
            await sleep(3)
          })
          .catch(() => undefined)
        await sleep(10)
      }
    }
    await Promise.all(times(12, task))
    clearInterval(cutting)
    assert.ok(had > 10, `${had} were had`)
    await broken.until(async () => (await redis.get(name)) === '10', 15_000)
    await client.close()
    for (const key of await redis.keys('*')) {
      assert.ok(key === name || (await redis.pttl(key)) > 0, `${key} never goes`)
    }
  })

  onServer('aborted while the answer is on its way → rejected at once, given back at its arrival', async (broken) => {
    const { proxy, redis, open } = broken
    const client = await open()
    const s = client.semaphore('a')
    await s.trySetPermits(20)
    proxy.delay = 200
    const controllers = times(5, () => new AbortController())
    const aborted = controllers.map(({ signal }) => rejection(s.acquire({ permits: 2, signal })))
    await sleep(60)
    for (const controller of controllers) controller.abort('left')
    const began = performance.now()
    assert.deepEqual(
      await Promise.all(aborted),
      times(5, () => 'left'),
    )
    assert.ok(performance.now() - began < 1000)
    proxy.delay = 0
    await broken.until(async () => (await redis.get('a')) === '20', 5000)
    await s.acquire({ permits: 20 })
    assert.equal(await redis.get('a'), '0')
  })

  onServer('a copy that comes after it was given up → takes nothing', async (broken) => {
    const { proxy, redis, open } = broken
    const client = await open({ commandTimeout: 300 })
    client.on('error', () => undefined)
    const s = client.semaphore('a')
    await s.trySetPermits(5)
    proxy.held = 'requests'
    const error = await rejection(s.acquire({ permits: 2 }))
    assert.ok(error instanceof EngineError && error.code === 'NO_REPLY')
    proxy.held = 'nothing'
    await sleep(500)
    assert.equal(await redis.get('a'), '5')
    const notes = await redis.keys('holdfast_request:*')
    for (const note of notes) assert.ok((await redis.pttl(note)) > 0)
  })
})
