import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { EngineError } from 'holdfast'
import { rejection } from '../../contract/lock/kind.js'
import type { Client } from '../../../support/engines.js'
import { MINUTE, onStage } from '../../../support/stage.js'

const isUnanswered = (error: unknown): void => {
  assert.ok(error instanceof EngineError && error.code === 'NO_REPLY', String(error))
}

/** What was asked of a server that says nothing any more, and for how many minutes at most it is taken back. */
const GIVEN_UP: readonly (readonly [string, number, (client: Client, signal: AbortSignal) => Promise<unknown>])[] = [
  ['semaphore.tryAcquire', 31, (client) => client.semaphore('s').tryAcquire()],
  ['semaphore.acquire', 31, (client) => client.semaphore('s').acquire({ permits: 2 })],
  ['permitSemaphore.tryAcquire', 31, async (client) => (await client.permitSemaphore('s').tryAcquire())?.release()],
  ['permitSemaphore.tryAcquire with a lease', 2, (client) => client.permitSemaphore('s').tryAcquire({ lease: 5000 })],
  ['rateLimiter.tryAcquire', 31, (client) => client.rateLimiter('r').tryAcquire()],
  ['rateLimiter.tryAcquire that was aborted', 31, (client, signal) => client.rateLimiter('r').tryAcquire({ signal })],
]

void describe('a server that is silent for good', () => {
  for (const [name, minutes, call] of GIVEN_UP)
    onStage(
      `${name}, given up → taken back for ${minutes} minutes at most, then nothing is sent any more`,
      async ({ clock, driver, client, raw, run }) => {
        raw('SET', 's', 5)
        await run(client.rateLimiter('r').setRate({ permits: 5, interval: 1000 }))
        await run(call(client, new AbortController().signal))
        // The notes of all this are deleted.
        await clock.advance(3000)
        // The answer is lost, or comes when the call was aborted, and then nothing comes any more.
        const abort = new AbortController()
        const aborted = name.endsWith('aborted')
        driver.loses = (words) => {
          if (!aborted) return 'request'
          queueMicrotask(() => {
            abort.abort('left')
          })
          return words.some((word) => word.includes(':value')) && driver.sent.length === 1 ? undefined : 'request'
        }
        driver.sent.length = 0
        const refused = rejection(call(client, abort.signal))
        const error = await run(refused)
        if (aborted) assert.equal(error, 'left')
        else isUnanswered(error)
        await clock.advance(minutes * MINUTE - 30_000)
        assert.ok(driver.sent.length > 10, `${driver.sent.length} commands`)
        await clock.advance(MINUTE)
        driver.sent.length = 0
        await clock.advance(10 * MINUTE)
        assert.deepEqual(driver.sent, [])
        driver.loses = () => undefined
        raw('DEL', 's', 'r', '{s}:timeout', '{r}:value', '{r}:permits')
      },
    )
})

void describe('outages of synchronizers', () => {
  onStage(
    'the work of `using` ends in an outage of minutes → all is given back when it is over, once',
    async ({ clock, driver, client, errors, raw, run }) => {
      const s = client.semaphore('s')
      await run(s.trySetPermits(5))
      const worked = s.using({ permits: 2 }, () => void (driver.up = false))
      await clock.advance(2 * MINUTE)
      await worked
      assert.equal(errors.length, 1, 'told after a minute')
      assert.match(String(errors[0]), /'s': could not complete a release/)
      await clock.advance(10 * MINUTE)
      assert.equal(raw('GET', 's'), '3')
      driver.up = true
      await clock.advance(2000)
      assert.equal(raw('GET', 's'), '5')
    },
    ['s'],
  )

  for (const loss of ['answer', 'request', 'late'] as const)
    onStage(
      `what gives back is on its way when an outage of minutes begins (${loss} lost) → given back once`,
      async ({ clock, driver, client, raw, run }) => {
        const s = client.semaphore('s')
        await run(s.trySetPermits(5))
        const worked = s.using({ permits: 2 }, () => {
          driver.loseNext(loss, 'holdfast_request')
        })
        await clock.advance(100)
        driver.up = false
        await clock.advance(10 * MINUTE)
        await worked
        driver.up = true
        await clock.advance(2000)
        await driver.comeLate()
        assert.equal(raw('GET', 's'), '5')
        await clock.advance(2 * MINUTE)
        assert.equal(raw('GET', 's'), '5')
      },
      ['s'],
    )

  for (const loss of ['answer', 'request', 'late'] as const)
    onStage(
      `an acquire without an answer (${loss} lost) before an outage of minutes → told, and taken back`,
      async ({ clock, driver, client, errors, raw, run }) => {
        const s = client.semaphore('s')
        await run(s.trySetPermits(5))
        driver.loseNext(loss, 'holdfast_permits_line')
        const refused = rejection(s.acquire({ permits: 2 }))
        await clock.advance(100)
        driver.up = false
        isUnanswered(await run(refused))
        assert.equal(raw('GET', 's'), loss === 'answer' ? '3' : '5')
        assert.equal(errors.length, 0)
        await clock.advance(5 * MINUTE)
        assert.equal(errors.length, 1, 'told after a minute')
        isUnanswered(errors[0])
        driver.up = true
        await clock.advance(2000)
        await driver.comeLate()
        assert.equal(raw('GET', 's'), '5')
      },
      ['s'],
    )

  onStage(
    'a permit for ever, given back in an outage of minutes → back when it is over',
    async ({ clock, driver, client, raw, run }) => {
      const p = client.permitSemaphore('p')
      await run(p.trySetPermits(2))
      const permit = await run(p.acquire())
      driver.loseNext('request', 'holdfast_request')
      const released = permit.release()
      await clock.advance(100)
      driver.up = false
      await clock.advance(5 * MINUTE)
      assert.equal(await released, false, 'nobody knows')
      driver.up = true
      await clock.advance(2000)
      assert.equal(raw('GET', 'p'), '2')
      assert.equal(raw('ZCARD', '{p}:timeout'), 0)
    },
    ['p'],
  )

  onStage(
    'what cannot be given back because the server refuses → told, and not tried for ever',
    async ({ clock, driver, client, errors, run }) => {
      const s = client.semaphore('s')
      await run(s.trySetPermits(5))
      driver.refuses = undefined
      const worked = s.using(() => void (driver.refuses = 'NOPERM no permissions'))
      await clock.advance(2 * MINUTE)
      await worked
      assert.equal(errors.length, 1)
      assert.ok(errors[0] instanceof EngineError && errors[0].code === 'NOPERM')
      driver.refuses = undefined
      driver.sent.length = 0
      await clock.advance(2 * MINUTE)
      assert.deepEqual(
        driver.sent.filter(([word]) => word === 'EVALSHA'),
        [],
      )
      // Nor could the notes be deleted.
      await clock.advance(60 * MINUTE)
    },
    ['s'],
  )

  onStage(
    'a step that may have been done, then no connection → the error says that nobody knows',
    async ({ clock, driver, client, raw, run }) => {
      const latch = client.countDownLatch('l')
      await run(latch.trySetCount(5))
      driver.loseNext('answer', 'holdfast_request')
      const counting = rejection(latch.countDown())
      await clock.advance(100)
      driver.up = false
      const error = await run(counting)
      isUnanswered(error)
      assert.equal(raw('GET', 'l'), '4')
      driver.up = true
      await clock.advance(3000)
    },
    ['l'],
  )

  onStage('a step that no connection is there for → it was not done', async ({ driver, client, run }) => {
    driver.up = false
    const error = await run(rejection(client.countDownLatch('l').countDown()))
    assert.ok(error instanceof EngineError && error.code === 'OFFLINE', String(error))
    driver.up = true
  })

  onStage(
    'refused, and the first copy comes when it would not be any more → nothing is done',
    async ({ clock, driver, client, raw, run }) => {
      const [s, latch] = [client.semaphore('s'), client.countDownLatch('l')]
      const late = async (step: () => Promise<unknown>): Promise<unknown> => {
        driver.loseNext('late', 'holdfast_request')
        return run(step())
      }
      assert.equal(await late(() => s.releaseIfExists(2)), false)
      raw('SET', 's', 5)
      await driver.comeLate()
      assert.equal(raw('GET', 's'), '5')
      assert.equal(await late(() => s.trySetPermits(7)), false)
      raw('DEL', 's')
      await driver.comeLate()
      assert.equal(raw('EXISTS', 's'), 0)
      assert.equal(await late(() => s.drain()), 0)
      raw('SET', 's', 5)
      await driver.comeLate()
      assert.equal(raw('GET', 's'), '5')
      assert.equal(await late(() => latch.countDown()), 0)
      raw('SET', 'l', 3)
      await driver.comeLate()
      assert.equal(raw('GET', 'l'), '3')
      assert.equal(await late(() => latch.trySetCount(2)), false)
      raw('DEL', 'l')
      await driver.comeLate()
      assert.equal(raw('EXISTS', 'l'), 0)
      await clock.advance(1000)
    },
    ['s'],
  )

  onStage(
    'a subscription that nobody answers → asked each second all the same, and heard when it stands',
    async ({ clock, driver, client, raw, run }) => {
      const subscribe = driver.subscribe.bind(driver)
      let answer: () => void = () => undefined
      driver.subscribe = (name, kind) =>
        new Promise((resolve, reject) => {
          answer = () => void subscribe(name, kind).then(resolve, reject)
        })
      const s = client.semaphore('s')
      const took = async (change: () => unknown): Promise<number> => {
        const had = s.acquire({ waitForSetup: true })
        await clock.advance(1500)
        const from = clock.now()
        await change()
        await run(had)
        return clock.now() - from
      }
      const polled = await took(() => raw('SET', 's', 1))
      assert.ok(polled <= 1200, `${polled} ms`)
      const heard = await took(async () => {
        answer()
        // First in the line, it listens to Redisson's as well.
        await clock.advance(50)
        answer()
        await clock.advance(10)
        raw('SET', 's', 1)
        raw('PUBLISH', 'redisson_sc:{s}', 1)
      })
      assert.ok(heard <= 100, `${heard} ms`)
    },
    ['s'],
    30_000,
  )

  onStage('hundreds wait for a latch → one look frees them all', async ({ clock, driver, client, run }) => {
    const latch = client.countDownLatch('l')
    await run(latch.trySetCount(1))
    const all = Promise.all(Array.from({ length: 350 }, () => latch.wait()))
    await clock.advance(100)
    driver.sent.length = 0
    await run(latch.countDown())
    await run(all)
    const looks = driver.sent.filter(([word]) => word === 'GET')
    assert.ok(looks.length <= 2, `${looks.length} looks`)
  })

  onStage(
    'given back elsewhere, expired with the whole, or given a lease there → not kept here, and told',
    async ({ clock, client, raw, run }) => {
      const p = client.permitSemaphore('p')
      await run(p.trySetPermits(300))
      const all = await run(p.acquireMany(270))
      const lost: unknown[] = []
      client.on('lost', ({ owner }) => lost.push(owner))
      const gone = all.slice(0, 260).map(({ id }) => Buffer.from(id, 'hex').toString('latin1'))
      raw('ZREM', '{p}:timeout', ...gone)
      const leased = all[269]
      raw('ZADD', '{p}:timeout', clock.now() + 45_000, Buffer.from(leased?.id ?? '', 'hex').toString('latin1'))
      assert.ok(all.every(({ state }) => state === 'held'))
      await clock.advance(31_000)
      assert.equal(all.filter((permit) => permit.lost && permit.signal.aborted).length, 260)
      assert.equal(lost.length, 260)
      assert.ok((leased?.remaining() ?? 0) < 15_000)
      assert.equal(leased?.state, 'held')
      raw('DEL', 'p', '{p}:timeout')
      await clock.advance(31_000)
      assert.ok(all.every((permit) => permit.lost))
      const asked = clock.now()
      await clock.advance(MINUTE)
      assert.ok(asked < clock.now())
    },
  )
})
