import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Client, connect, LockLostError } from 'holdfast'
import { runCoordinator, type RunCoordinatorOptions } from 'holdfast/node-cron'
import { onServer } from '../support/server.js'
import { until } from '../support/until.js'

const LEASE = 30_000
const DUE = new Date('2026-11-27T02:00:00.000Z')
const keyOf = (name: string, due: Date | number = DUE): string => `${name}:${new Date(due).toISOString()}`

const withClient = (name: string, body: (client: Client) => Promise<void>): void =>
  void test(name, async () => {
    const client = await connect('memory:')
    try {
      await body(client)
    } finally {
      await client.close()
    }
  })

void describe('holdfast/node-cron: the coordinator', () => {
  withClient('the first that asks runs the fire, and none ever after', async (client) => {
    const [a, b] = [runCoordinator(client), runCoordinator(client)]
    assert.equal(await a.shouldRun(keyOf('job'), LEASE), true)
    assert.equal(await b.shouldRun(keyOf('job'), LEASE), false)
    assert.equal(await a.shouldRun(keyOf('job'), LEASE), false)
    assert.equal((await client.slots('job').inspect(DUE))?.state, 'running')
    await a.onComplete(keyOf('job'))
    assert.equal((await client.slots('job').inspect(DUE))?.state, 'ran')
    assert.equal(await b.shouldRun(keyOf('job'), LEASE), false)
    assert.equal(await b.shouldRun(keyOf('other'), LEASE), true)
    assert.equal(await b.shouldRun(keyOf('job', +DUE + 1000), LEASE), true)
    await b.onComplete(keyOf('other'))
    await b.onComplete(keyOf('job', +DUE + 1000))
  })

  withClient('a name with colons, newlines and dates in it → the time is the last one', async (client) => {
    const name = `a:b\n2025-01-01T00:00:00.000Z`
    const coordinator = runCoordinator(client)
    assert.equal(await coordinator.shouldRun(keyOf(name), LEASE), true)
    assert.equal((await client.slots(name).inspect(DUE))?.state, 'running')
    await coordinator.onComplete(keyOf(name))
  })

  withClient('a key of another form → rejects, so that node-cron does not run the task', async (client) => {
    const coordinator = runCoordinator(client)
    for (const key of ['', 'job', ':2026-11-27T02:00:00.000Z', 'job:2026-99-99T02:00:00.000Z', 'job:today'])
      await assert.rejects(coordinator.shouldRun(key, LEASE), /the key must be the name of a task/, key)
    await assert.rejects(coordinator.shouldRun(7 as never, LEASE), TypeError)
    await assert.rejects(coordinator.shouldRun(keyOf('job'), 0), /lease must be a whole number/)
  })

  withClient('ttlMs is the lease, and is renewed while the task runs', async (client) => {
    const coordinator = runCoordinator(client)
    assert.equal(await coordinator.shouldRun(keyOf('job'), 1500), true)
    const run = coordinator.runOf({ date: DUE, task: { name: 'job' } })
    await sleep(4000)
    assert.equal((await client.slots('job').inspect(DUE))?.state, 'running')
    assert.equal(run?.signal.aborted, false)
    await coordinator.onComplete(keyOf('job'))
  })

  withClient('runOf: the token and the signal of the task that runs here, and nothing of others', async (client) => {
    const coordinator = runCoordinator(client)
    const context = { date: DUE, task: { name: 'job' } }
    assert.equal(coordinator.runOf(context), undefined)
    await coordinator.shouldRun(keyOf('job'), LEASE)
    const run = coordinator.runOf(context)
    assert.deepEqual([run?.token, run?.attempt, run?.slot], [1n, 1, DUE.toISOString()])
    assert.equal(coordinator.runOf({ date: new Date(+DUE + 1), task: { name: 'job' } }), undefined)
    assert.equal(coordinator.runOf({ date: DUE }), undefined)
    assert.equal(runCoordinator(client).runOf(context), undefined)
    await coordinator.onComplete(keyOf('job'))
    assert.equal(coordinator.runOf(context), undefined)
  })

  withClient('early by the server’s clock → waits until it is due', async (client) => {
    const coordinator = runCoordinator(client)
    const due = Math.ceil((await client.slots('job').now()) + 700)
    assert.equal(await coordinator.shouldRun(keyOf('job', due), LEASE), true)
    const now = await client.slots('job').now()
    assert.ok(now >= due, `${due - now} ms too early`)
    await coordinator.onComplete(keyOf('job', due))
  })

  withClient('early by more than `wait` → rejects, says by how much, and leaves the fire to others', async (client) => {
    const slots = client.slots('job')
    const due = (await slots.now()) + 3_600_000
    const asked = runCoordinator(client).shouldRun(keyOf('job', due), LEASE)
    await assert.rejects(asked, /this machine's clock is 3[56]\d{5} ms ahead of the server's/)
    assert.equal(await slots.inspect(new Date(due)), undefined)
  })

  withClient('a task that ends after the client closed → onComplete says that the slot was lost', async (client) => {
    const coordinator = runCoordinator(client)
    await coordinator.shouldRun(keyOf('job'), LEASE)
    const run = coordinator.runOf({ date: DUE, task: { name: 'job' } })
    await client.close()
    assert.equal(run?.signal.aborted, true)
    await assert.rejects(coordinator.onComplete(keyOf('job')))
    await assert.rejects(coordinator.shouldRun(keyOf('job', 0), LEASE), { name: 'ClosedError' })
  })

  withClient('close with a drain → waits for the task', async (client) => {
    const coordinator = runCoordinator(client)
    await coordinator.shouldRun(keyOf('job'), LEASE)
    let closed = false
    const closing = client.close({ drain: 20_000 }).then(() => (closed = true))
    await sleep(100)
    assert.equal(closed, false)
    await coordinator.onComplete(keyOf('job'))
    await closing
  })

  withClient('options that are wrong → refused at once', async (client) => {
    const wrong = (options: unknown, said: RegExp): void =>
      assert.throws(() => runCoordinator(client, options as RunCoordinatorOptions), said)
    wrong({ wait: -1 }, /wait must be/)
    wrong({ retry: 1.5 }, /retry must be/)
    wrong({ retention: 0 }, /retention must be/)
    wrong({ lease: 1 }, /no option 'lease'/)
    assert.throws(() => runCoordinator({} as never), /client/)
  })
})

void describe('holdfast/node-cron: trouble', () => {
  onServer('the server is back in time → the fire runs; else it is skipped, and not claimed later', async (broken) => {
    const client = await broken.open()
    const coordinator = runCoordinator(client)
    await broken.server.stop()
    const began = performance.now()
    await assert.rejects(coordinator.shouldRun(keyOf('job'), LEASE))
    assert.ok(performance.now() - began < 6000, 'it took too long')
    const patient = runCoordinator(client, { wait: 30_000 }).shouldRun(keyOf('patient'), LEASE)
    await sleep(1500)
    await broken.restart()
    assert.equal(await patient, true)
    assert.equal(await client.slots('job').inspect(DUE), undefined)
  })

  onServer(
    'retry → the next process takes over when the first one closes, whose `onComplete` rejects',
    async (broken) => {
      const [a, b] = [await broken.open(), await broken.open()]
      const [first, second] = [runCoordinator(a, { retry: 1 }), runCoordinator(b, { retry: 1 })]
      assert.equal(await first.shouldRun(keyOf('job'), 1000), true)
      const next = second.shouldRun(keyOf('job'), 1000)
      await until(async () => (await a.slots('job').inspect(DUE))?.state === 'running')
      await a.close()
      assert.equal(await next, true)
      assert.equal(second.runOf({ date: DUE, task: { name: 'job' } })?.attempt, 2)
      await assert.rejects(first.onComplete(keyOf('job')), { name: 'ClosedError' })
      await second.onComplete(keyOf('job'))
      assert.equal((await b.slots('job').inspect(DUE))?.state, 'ran')
    },
  )

  onServer(
    'retry → the next process takes over from one that is cut off, whose `onComplete` rejects',
    async (broken) => {
      const cutOff = await broken.open()
      const other = await connect(broken.server.url)
      broken.after(() => other.close())
      const [first, second] = [runCoordinator(cutOff, { retry: 1 }), runCoordinator(other, { retry: 1 })]
      assert.equal(await first.shouldRun(keyOf('job'), 1000), true)
      const run = first.runOf({ date: DUE, task: { name: 'job' } })
      broken.proxy.mute = true
      assert.equal(await second.shouldRun(keyOf('job'), 1000), true)
      assert.ok(run?.signal.aborted === true, 'the task was not told before another process took over')
      broken.proxy.mute = false
      await assert.rejects(first.onComplete(keyOf('job')), LockLostError)
      await second.onComplete(keyOf('job'))
    },
  )
})
