import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { AcquireTimeoutError } from 'holdfast'
import type { Scenario, World } from '../../support/engines.js'
import { lasted, rejection, releaseAll, timed, times, watch } from '../../suites/contract/lock/kind.js'
import { engines, scenarios } from '../../support/engines.js'
import { open } from './sides.js'

/** Whether anybody stands in the line. */
const waits = async (w: World): Promise<boolean> => (await w.raw('EXISTS', `holdfast_rwlock_queue:{${w.id}}`)) === 1

const turns = (scenario: Scenario): void => {
  scenario('G-22: readers who come while a writer waits → after it, and all of them then', async (w) => {
    const [one, two, three] = [await open(w), await open(w), await open(w)]
    const first = await one.read.acquire()
    const writing = watch(two.write.acquire())
    await w.eventually(() => waits(w))
    const later = times(6, (i) => watch((i % 2 === 0 ? one : three).read.acquire()))
    assert.equal(await three.read.tryAcquire(), undefined)
    await w.pass(1500)
    assert.ok([writing, ...later].every(({ settled }) => !settled))
    const inner = await one.read.acquire({ owner: first.owner })
    await releaseAll(w, [inner, first])
    const writer = await w.run(writing.promise)
    assert.ok(later.every(({ settled }) => !settled))
    assert.equal(await w.run(writer.release()), true)
    await releaseAll(w, await w.run(Promise.all(later.map(({ promise }) => promise))))
  })

  scenario(
    'G-22: readers of two clients who never leave a gap → a writer is in all the same, again and again',
    async (w) => {
      const sides = [await open(w), await open(w)]
      const writers = await open(w)
      let [over, reads] = [false, 0]
      const reader = async (i: number): Promise<void> => {
        while (!over) {
          await (sides[i % 2] as (typeof sides)[0]).read.using(async () => {
            reads++
            await w.pause(40 + 10 * i)
          })
        }
      }
      const reading = Promise.all(times(6, reader))
      await w.pass(200)
      try {
        for (let round = 0; round < 3; round++) {
          const before = reads
          const { value, ms } = await timed(w, () => writers.write.acquire())
          assert.equal(await w.run(value.release()), true)
          lasted(w, ms, 0, 1200)
          await w.eventually(() => reads > before + 6)
        }
      } finally {
        over = true
        await w.run(reading)
      }
    },
  )

  scenario('writers of two clients who never leave a gap → a reader is in all the same', async (w) => {
    const sides = [await open(w), await open(w)]
    const readers = await open(w)
    let over = false
    const writer = async (i: number): Promise<void> => {
      while (!over) await (sides[i % 2] as (typeof sides)[0]).write.using(() => w.pause(10))
    }
    const writing = Promise.all(times(6, writer))
    await w.pass(100)
    try {
      for (let round = 0; round < 3; round++) {
        const { value, ms } = await timed(w, () => Promise.all(times(4, () => readers.read.acquire())))
        await releaseAll(w, value)
        lasted(w, ms, 0, 1500)
      }
    } finally {
      over = true
      await w.run(writing)
    }
  })

  for (const how of ['aborted', 'too late'] as const) {
    scenario(`a writer that waits and is ${how} → readers come in again at once, and nothing is left`, async (w) => {
      const [one, two] = [await open(w), await open(w)]
      const first = await one.read.acquire()
      const reason = new Error('enough')
      const controller = new AbortController()
      const options = how === 'aborted' ? { signal: controller.signal } : { wait: 2500 }
      const writing = rejection(two.write.acquire(options))
      await w.eventually(() => waits(w))
      const reading = watch(one.read.acquire())
      await w.pass(200)
      assert.equal(reading.settled, false)
      if (how === 'aborted') controller.abort(reason)
      const error = await w.run(writing)
      assert.ok(how === 'aborted' ? error === reason : error instanceof AcquireTimeoutError, String(error))
      const { value, ms } = await timed(w, () => reading.promise)
      lasted(w, ms, 0, 500)
      // Let in on trial, it stands there until it has confirmed.
      await w.eventually(async () => !(await waits(w)))
      await releaseAll(w, [value, first])
    })
  }

  scenario('closed while a writer waits and readers read → released, and nothing is left', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const reader = await one.read.acquire()
    const writing = rejection(two.write.acquire())
    await w.eventually(() => waits(w))
    await w.run(two.client.close())
    assert.equal(((await writing) as Error).name, 'ClosedError')
    await w.run(one.client.close())
    assert.equal(reader.state, 'released')
    assert.deepEqual(
      ((await w.raw('KEYS', '*')) as string[]).filter((key) => key.includes(w.id)),
      [],
    )
  })
}

for (const engine of engines) {
  void describe(`turns of readers and writers on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    turns(scenarios(engine))
  })
}
