import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { AcquireTimeoutError } from 'holdfast'
import { exists, held, lasted, rejection, releaseAll, timed, times, watch } from '../../../suites/contract/lock/kind.js'
import type { Scenario, World } from '../../../support/engines.js'
import { engines, scenarios } from '../../../support/engines.js'
import { fairly, open } from '../sides.js'
import { mayStay } from '../../../support/leftovers.js'
import { seeded } from '../../../support/random.js'

type Mode = 'read' | 'write'

const RUNS = 20
const WAITERS = 9
const SHORT = 3000
/** A client that is dead, or stands still. */
const GONE = '00000000-0000-8100-8000-000000000001'

const queueOf = (w: World): string => `holdfast_rwlock_queue:{${w.id}}`
const deadlinesOf = (w: World): string => `holdfast_rwlock_timeout:{${w.id}}`

const inLine = async (w: World): Promise<string[]> => (await w.raw('LRANGE', queueOf(w), 0, -1)) as string[]

const nothingLeft = async (w: World): Promise<void> => {
  const keys = (await w.raw('KEYS', '*')) as string[]
  assert.deepEqual(
    keys.filter((key) => key.includes(w.id) && !mayStay(key)),
    [],
  )
}

/** Comes, and is seen in the line. */
const queues = async <T>(
  w: World,
  come: () => Promise<T>,
): Promise<{ readonly settled: boolean; promise: Promise<T> }> => {
  const before = (await inLine(w)).length
  const waiting = watch(come())
  await w.eventually(async () => (await inLine(w)).length === before + 1)
  return waiting
}

/** Stands in the line, and nobody polls for it. */
const stands = async (w: World, owner: string): Promise<void> => {
  const [seconds] = ((await w.raw('TIME')) as string[]).map(Number) as [number]
  await w.raw('RPUSH', queueOf(w), owner)
  await w.raw('ZADD', deadlinesOf(w), seconds * 1000 + 300_000, owner)
}

/** Neighbours of one mode that share come together, anybody else alone. */
const groupsOf = (modes: readonly Mode[]): number[] => {
  let group = -1
  return modes.map((mode, i) => (mode === 'read' && modes[i - 1] === 'read' ? group : ++group))
}

const oneRun = async (w: World, sides: readonly Awaited<ReturnType<typeof open>>[], modes: readonly Mode[]) => {
  const groups = groupsOf(modes)
  const order: number[] = []
  const [inside, met] = [new Map<number, number>(), new Map<number, () => void>()]
  const side = (i: number) => sides[i % sides.length] as (typeof sides)[0]
  const holder = await side(0).write.acquire()
  const together = new Map(
    [...new Set(groups)].map((group) => [group, new Promise<void>((resolve) => met.set(group, resolve))]),
  )
  const visit = (i: number) => (): Promise<void> =>
    side(i * 7)[modes[i] as Mode].using(async () => {
      const group = groups[i] as number
      order.push(group)
      inside.set(group, (inside.get(group) ?? 0) + 1)
      assert.equal(inside.size, 1, 'only one group at a time')
      // Nobody of it leaves before all of it are in.
      if (inside.get(group) === groups.filter((other) => other === group).length) met.get(group)?.()
      await together.get(group)
      await w.pause(1)
      inside.delete(group)
    })
  const waiting = []
  for (const i of modes.keys()) waiting.push(await queues(w, visit(i)))
  assert.equal(await w.run(holder.release()), true)
  await w.run(Promise.all(waiting.map(({ promise }) => promise)))
  assert.deepEqual(order, groups)
}

const order = (scenario: Scenario): void => {
  scenario(
    `${RUNS} runs of ${WAITERS} readers and writers of 3 clients → in order, neighbouring readers together`,
    async (w) => {
      const sides = [await open(w), await open(w), await open(w)]
      const random = seeded(4711)
      for (let run = 0; run < RUNS; run++) {
        await oneRun(
          w,
          sides,
          times(WAITERS, () => (random() < 0.6 ? 'read' : 'write')),
        )
      }
      await nothingLeft(w)
    },
  )

  scenario(
    'a reader that comes while a writer waits → behind it; who reads already reads again, ahead of all',
    async (w) => {
      const [one, two, three] = [await open(w), await open(w), await open(w)]
      const first = await one.read.acquire()
      const writing = await queues(w, () => two.write.acquire())
      const reading = await queues(w, () => three.read.acquire())
      for (const { read } of [one, two, three]) assert.equal(await read.tryAcquire(), undefined)
      const again = await one.read.acquire({ owner: first.owner })
      assert.equal((await inLine(w)).length, 2)
      await w.pass(1500)
      assert.deepEqual([writing.settled, reading.settled], [false, false])
      await releaseAll(w, [again, first])
      const writer = await w.run(writing.promise)
      const under = await two.read.acquire({ owner: writer.owner })
      assert.equal(reading.settled, false)
      // It goes on as a read: the next reader joins it.
      assert.equal(await w.run(writer.release()), true)
      await releaseAll(w, [await w.run(reading.promise), under])
      await nothingLeft(w)
    },
  )

  scenario('`inspect` → the line in order: owner, client, label, deadline', async (w) => {
    const [one, two] = [await open(w, { label: 'one' }), await open(w, { label: 'two' })]
    const holder = await one.write.acquire()
    const waiting = [
      await queues(w, () => two.read.acquire()),
      await queues(w, () => one.write.acquire()),
      await queues(w, () => one.read.acquire()),
    ]
    const state = await two.write.inspect()
    assert.deepEqual(
      state.waiting.map(({ client, label, owner }) => [client, label, owner.endsWith(':write')]),
      [
        [two.client.id, 'two', false],
        [one.client.id, 'one', true],
        [one.client.id, 'one', false],
      ],
    )
    assert.deepEqual(
      state.waiting.map(({ owner }) => owner),
      await inLine(w),
    )
    const [seconds] = ((await w.raw('TIME')) as string[]).map(Number) as [number]
    for (const { deadline = 0 } of state.waiting) assert.ok(Math.abs(deadline - seconds * 1000 - 10_000) < 5000)
    assert.deepEqual(
      state.holders.map(({ client, mode }) => [client, mode]),
      [[one.client.id, 'write']],
    )
    assert.equal(await w.run(holder.release()), true)
    for (const { promise } of waiting) await releaseAll(w, [await w.run(promise)])
    assert.deepEqual((await two.write.inspect()).waiting, [])
  })
}

const leaving = (scenario: Scenario): void => {
  for (const how of ['aborted', 'too late'] as const) {
    scenario(
      `a writer in the line that is ${how} → the readers behind come in at once, and nothing is left`,
      async (w) => {
        const [one, two] = [await open(w), await open(w)]
        const first = await one.read.acquire()
        const reason = new Error('enough')
        const controller = new AbortController()
        const options = how === 'aborted' ? { signal: controller.signal } : { wait: 4000 }
        const writing = await queues(w, () => rejection(two.write.acquire(options)))
        const reading = [await queues(w, () => one.read.acquire()), await queues(w, () => two.read.acquire())]
        if (how === 'aborted') controller.abort(reason)
        const error = await w.run(writing.promise)
        assert.ok(how === 'aborted' ? error === reason : error instanceof AcquireTimeoutError, String(error))
        const { value, ms } = await timed(w, () => Promise.all(reading.map(({ promise }) => promise)))
        lasted(w, ms, 0, 500)
        // Who starts on the message confirms behind it.
        await w.eventually(async () => (await inLine(w)).length === 0)
        await releaseAll(w, [...value, first])
        await nothingLeft(w)
      },
    )
  }

  scenario('a client that closes while it stands in the line → the next behind is in, nothing is left', async (w) => {
    const [one, two, three] = [await open(w), await open(w), await open(w)]
    const first = await one.read.acquire()
    const writing = await queues(w, () => rejection(two.write.acquire()))
    const reading = await queues(w, () => three.read.acquire())
    await w.run(two.client.close())
    assert.equal(((await writing.promise) as Error).name, 'ClosedError')
    await releaseAll(w, [await w.run(reading.promise), first])
    await nothingLeft(w)
  })

  scenario('forced open → the next of the line is in', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const writer = await one.write.acquire()
    const reading = await queues(w, () => two.read.acquire())
    const writing = await queues(w, () => two.write.acquire())
    await w.pass(5)
    assert.equal(await one.write.forceRelease(), true)
    assert.equal(writer.state, 'lost')
    const reader = await w.run(reading.promise)
    assert.equal(await one.write.forceRelease(), false, 'it is read')
    await releaseAll(w, [reader])
    await releaseAll(w, [await w.run(writing.promise)])
    await nothingLeft(w)
  })
}

const theDead = (scenario: Scenario): void => {
  scenario(
    'the waiters of a killed client are ahead → nobody hears for them, and they are passed over at once',
    async (w) => {
      const [one, two] = [await open(w), await open(w)]
      const first = await one.write.acquire()
      for (const owner of [`${GONE}:1:write`, `${GONE}:2`]) await stands(w, owner)
      const writing = await queues(w, () => two.write.acquire())
      const reading = await queues(w, () => one.read.acquire())
      const { value, ms } = await timed(w, async () => {
        assert.equal(await first.release(), true)
        return writing.promise
      })
      lasted(w, ms, 0, 500)
      await w.pass(SHORT + 100)
      // Their time is over: they go when the next is looked for.
      assert.equal(await w.run(value.release()), true)
      const reader = await w.run(reading.promise)
      await w.eventually(async () => (await inLine(w)).length === 0)
      await held(w, reader)
      await releaseAll(w, [reader])
      await nothingLeft(w)
    },
  )

  scenario('the waiters of a client that stands still are ahead → one short lease for all of them', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const grants = `holdfast_rwlock_grant:{${w.id}}:${GONE}`
    const heard = [await w.messages(grants), await w.messages(`${grants}:write`)]
    const first = await one.write.acquire()
    for (const owner of [`${GONE}:1:write`, `${GONE}:2:write`, `${GONE}:3`]) await stands(w, owner)
    const writing = await queues(w, () => two.write.acquire())
    const { value, ms } = await timed(w, async () => {
      assert.equal(await first.release(), true)
      return writing.promise
    })
    lasted(w, ms, SHORT, SHORT + 1500)
    assert.deepEqual(
      heard.map((messages) => messages.map((message) => message.split(' ')[0])),
      [[], [`${GONE}:1:write`]],
    )
    assert.equal(await w.run(value.release()), true)
    await nothingLeft(w)
  })

  scenario(
    'a reader that stands still is let in with its neighbours → they are in, the writer behind waits for its short lease',
    async (w) => {
      const [one, two] = [await open(w), await open(w)]
      await w.messages(`holdfast_rwlock_grant:{${w.id}}:${GONE}`)
      const first = await one.write.acquire()
      await stands(w, `${GONE}:1`)
      const reading = await queues(w, () => two.read.acquire())
      const writing = await queues(w, () => two.write.acquire())
      const began = w.now()
      assert.equal(await w.run(first.release()), true)
      await releaseAll(w, [await w.run(reading.promise)])
      const writer = await w.run(writing.promise)
      lasted(w, w.now() - began, SHORT, SHORT + 1500)
      await releaseAll(w, [writer])
      await nothingLeft(w)
    },
  )

  scenario('a holder without a process behind it → the line goes on when its lease is over', async (w) => {
    const two = await open(w)
    await w.raw('HSET', w.id, 'mode', 'write', `${GONE}:9:write`, 1)
    await w.raw('PEXPIRE', w.id, 4000)
    const reading = await queues(w, () => two.read.acquire())
    const { value, ms } = await timed(w, () => reading.promise)
    lasted(w, ms, 0, 4300)
    assert.equal(await exists(w, queueOf(w)), false)
    await releaseAll(w, [value])
  })

  scenario('whoever stood in the line is taken out of it → it stands there again, at the end', async (w) => {
    const [one, two] = [await open(w), await open(w)]
    const first = await one.write.acquire()
    const reading = await queues(w, () => two.read.acquire())
    await w.raw('DEL', queueOf(w), deadlinesOf(w))
    await w.eventually(async () => (await inLine(w)).length === 1)
    await releaseAll(w, [first])
    await releaseAll(w, [await w.run(reading.promise)])
  })
}

for (const engine of engines) {
  void describe(`the line of a fair read-write lock on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = fairly(scenarios(engine))
    for (const part of [order, leaving, theDead]) part(scenario)
  })
}
