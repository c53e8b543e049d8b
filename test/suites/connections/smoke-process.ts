import assert from 'node:assert/strict'
import type * as Holdfast from 'holdfast'

// By its place: not every runtime lets a package name itself.
const dist = new URL('../../../../dist/index.js', import.meta.url).href
const { connect } = (await import(dist)) as typeof Holdfast

/** The smoke part of the suite for any runtime: a real server, messages, a line, permits, topics, and `memory:`. */
const [url = ''] = process.argv.slice(2)

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const useAll = async (place: string): Promise<void> => {
  const [one, other] = [await connect(place), await connect(place)]
  const hold = await one.lock('lock').acquire()
  assert.equal(await other.lock('lock').tryAcquire(), undefined)
  assert.equal(await hold.release(), true)
  assert.equal(await other.lock('lock').using(() => 'done'), 'done')

  const order: number[] = []
  const first = await one.fairLock('fair').acquire()
  const waiting: Promise<unknown>[] = []
  for (const index of [0, 1, 2, 3]) {
    const client = index % 2 === 0 ? other : one
    waiting.push(client.fairLock('fair').using(() => order.push(index)))
    await pause(100)
  }
  const begun = performance.now()
  assert.equal(await first.release(), true)
  await Promise.all(waiting)
  assert.deepEqual(order, [0, 1, 2, 3])
  assert.ok(performance.now() - begun < 2500, 'messages wake who waits')

  const semaphore = one.semaphore('semaphore')
  await semaphore.trySetPermits(1)
  await semaphore.acquire()
  const permit = other.semaphore('semaphore').acquire()
  await pause(50)
  await semaphore.release()
  await permit
  await semaphore.delete()

  const heard = new Promise((resolve) => {
    void other
      .topic<string>('topic')
      .subscribe(resolve)
      .then(() => one.topic<string>('topic').publish('grüße'))
  })
  assert.equal(await heard, 'grüße')

  const controller = new AbortController()
  const kept = await one.lock('aborted').acquire({ lease: 60_000 })
  const aborted = other.lock('aborted').acquire({ signal: controller.signal })
  setTimeout(() => {
    controller.abort(new Error('enough'))
  }, 50)
  await assert.rejects(aborted, /enough/)
  await kept.release()

  const renewed = await connect({ url: place, watchdog: 1500 })
  const long = await renewed.lock('renewed').acquire()
  await pause(2500)
  assert.equal(long.state, 'held')
  await Promise.all([one.close(), other.close(), renewed.close()])
}

await useAll(url)
await useAll('memory:smoke')
console.log('smoke: well')
