import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { LockLostError, type SlotResult, type SlotRun } from 'holdfast'
import { type Client, engines, scenarios, type World } from '../../support/engines.js'
import { afterWarmUp } from '../../support/warm.js'

const name = ({ id }: World): string => `${id}:s`

/** Runs, waits, and skips. */
const warm = async (world: World, [one, two]: readonly [Client, Client]): Promise<void> => {
  const options = { retry: 1 }
  const first = one.slots('warm').run('x', options, () => world.pause(150))
  await Promise.all([first, two.slots('warm').run('x', options, () => 1)])
  await two.slots('warm').skip('y')
}

/** ms. Longer than a busy machine keeps this process from its timers. */
const leaseOf = ({ virtual }: World): number => (virtual ? 1500 : 10_000)

const reasonOf = <T>(result: SlotResult<T>): string =>
  result.outcome === 'skipped' ? `skipped: ${result.reason}` : result.outcome

for (const engine of engines)
  describe(`slots on ${engine.name}`, { concurrency: Math.min(engine.concurrency, 4) }, () => {
    const scenario = afterWarmUp(scenarios(engine), warm)

    scenario('three come for one slot, one after the other → it runs once; the others hear by whom', async (world) => {
      world.leavesKeys = true
      const [one, two, three] = [await world.connect({ label: 'one' }), await world.connect(), await world.connect()]
      const slot = (client: typeof one) => client.slots(name(world)).run('day 1', ({ token }) => token)
      const first = await world.run(slot(one))
      assert.ok(first.outcome === 'ran' && first.value === first.token && first.attempt === 1)
      for (const client of [two, three, one]) {
        const by = { client: one.id, label: 'one' }
        assert.deepEqual(await world.run(slot(client)), { outcome: 'skipped', reason: 'ran', by })
      }
      const next = await world.run(two.slots(name(world)).run('day 2', () => 2))
      assert.ok(next.outcome === 'ran' && next.token > first.token)
      const state = await world.run(three.slots(name(world)).inspect('day 1'))
      assert.equal(state?.state, 'ran')
      assert.ok(state.ended! >= state.began!)
      assert.equal(await world.run(three.slots(name(world)).inspect('day 3')), undefined)
    })

    scenario('nine come at once → it runs once, without a retry nobody waits', async (world) => {
      world.leavesKeys = true
      const clients = [await world.connect(), await world.connect(), await world.connect()]
      let runs = 0
      const work = async (): Promise<void> => {
        runs++
        await world.pause(300)
      }
      const came = clients.flatMap((client) => [1, 2, 3].map(() => client.slots(name(world)).run('x', work)))
      const results = (await world.run(Promise.all(came))).map(reasonOf)
      assert.equal(runs, 1)
      assert.equal(results.filter((result) => result === 'ran').length, 1, results.join())
      assert.ok(
        results.every((result) => result === 'ran' || result.startsWith('skipped: r')),
        results.join(),
      )
    })

    scenario('work that throws → failed here and for others, and it is not run again', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const broken = new Error('broken')
      const failed = await world.run(
        one.slots(name(world)).run('x', { retry: 3 }, () => {
          throw broken
        }),
      )
      assert.ok(failed.outcome === 'failed' && failed.error === broken)
      const other = await world.run(two.slots(name(world)).run('x', { retry: 3 }, () => assert.fail()))
      assert.equal(reasonOf(other), 'skipped: failed')
    })

    scenario('a process that dies, with a retry → one of those that wait takes over', async (world) => {
      world.leavesKeys = true
      const [one, two, three] = [await world.connect(), await world.connect(), await world.connect()]
      const options = { retry: 1, lease: leaseOf(world) }
      let first: SlotRun | undefined
      const dying = one.slots(name(world)).run('x', options, async (run) => {
        first = run
        await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()))
        run.signal.throwIfAborted()
      })
      await world.eventually(() => first !== undefined)
      const runs: SlotRun[] = []
      const waiting = [two, three].map((client) =>
        client.slots(name(world)).run('x', options, (run) => void runs.push(run)),
      )
      await world.pass(300)
      assert.equal(reasonOf(await world.run(two.slots(name(world)).run('x', () => assert.fail()))), 'skipped: running')
      await world.run(one.close({ release: false }))
      assert.equal((await world.run(dying)).outcome, 'failed')
      const results = (await world.run(Promise.all(waiting))).map(reasonOf).sort()
      assert.deepEqual(results, ['ran', 'skipped: ran'])
      assert.ok(runs[0]!.token > first!.token)
      assert.deepEqual([runs.length, runs[0]!.attempt], [1, 2])
    })

    scenario('two die one after the other, with one retry → the third hears that it crashed', async (world) => {
      world.leavesKeys = true
      const clients = [await world.connect(), await world.connect(), await world.connect()] as const
      const [one, two, three] = clients
      const options = { retry: 1, lease: leaseOf(world) }
      const runs: SlotRun[] = []
      const run = (client: typeof one) =>
        client.slots(name(world)).run('x', options, async (it) => {
          runs.push(it)
          await new Promise<void>((resolve) => it.signal.addEventListener('abort', () => resolve()))
          it.signal.throwIfAborted()
        })
      const first = run(one)
      await world.eventually(() => runs.length === 1)
      const second = run(two)
      await world.pass(200)
      const third = run(three)
      await world.pass(200)
      for (const [count, client, dying] of [
        [1, one, first],
        [2, two, second],
      ] as const) {
        await world.eventually(() => runs.length === count)
        await world.run(client.close({ release: false }))
        await world.run(dying)
      }
      assert.equal(reasonOf(await world.run(third)), 'skipped: crashed')
      assert.deepEqual(
        runs.map(({ attempt }) => attempt),
        [1, 2],
      )
    })

    scenario('a process that dies, without a retry → crashed, and nobody runs it again', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      let begun = false
      const dying = one.slots(name(world)).run('x', { lease: leaseOf(world) }, async ({ signal }) => {
        begun = true
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
        signal.throwIfAborted()
      })
      await world.eventually(() => begun)
      await world.run(one.close({ release: false }))
      await world.run(dying)
      await world.pass(leaseOf(world) + 500)
      const slots = two.slots(name(world))
      assert.equal(reasonOf(await world.run(slots.run('x', () => assert.fail()))), 'skipped: crashed')
      assert.equal((await world.run(slots.inspect('x')))?.state, 'crashed')
      const again = await world.run(slots.run('x', { retry: 1 }, ({ attempt }) => attempt))
      assert.ok(again.outcome === 'ran' && again.value === 2)
    })

    scenario('it is renewed while it runs → work longer than the lease runs once', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const lease = leaseOf(world)
      const options = { retry: 1, lease }
      const first = one.slots(name(world)).run('x', options, () => world.pause(1.5 * lease))
      await world.pass(300)
      const second = await world.run(two.slots(name(world)).run('x', options, () => assert.fail()))
      assert.equal(reasonOf(second), 'skipped: ran')
      assert.equal((await world.run(first)).outcome, 'ran')
    })

    scenario('a Date → by the server’s clock: early, in time, late', async (world) => {
      world.leavesKeys = true
      const slots = (await world.connect()).slots(name(world))
      const now = await world.run(slots.now())
      const early = await world.run(slots.run(new Date(now + 60_000), () => assert.fail()))
      assert.equal(reasonOf(early), 'skipped: early')
      assert.ok(early.outcome === 'skipped' && early.late! < -50_000)
      const late = await world.run(slots.run(new Date(now - 60_000), { grace: 30_000 }, () => assert.fail()))
      assert.equal(reasonOf(late), 'skipped: late')
      assert.equal(await world.run(slots.last()), undefined)
      const due = new Date(now - 10_000)
      const ran = await world.run(slots.run(due, { grace: 30_000 }, ({ slot }) => slot))
      assert.ok(ran.outcome === 'ran' && ran.value === due.toISOString())
      assert.deepEqual(await world.run(slots.last()), due)
      await world.run(slots.run(new Date(now - 20_000), () => 1))
      assert.deepEqual(await world.run(slots.last()), due, 'the newest')
      await world.run(slots.skip(new Date(now + 86_400_000)))
      assert.deepEqual(await world.run(slots.last()), due, 'one that is not due yet is not the last')
      await world.raw('SET', `{${name(world)}}:slots:last`, now + 86_400_000)
      await world.run(slots.skip(new Date(now - 15_000)))
      assert.deepEqual(await world.run(slots.last()), new Date(now - 15_000), 'the clock was ahead')
      assert.equal(
        await world.raw('PTTL', `{${name(world)}}:slots:last`),
        -1,
        'slots may lie further apart than they are kept',
      )
    })

    scenario('a slot that is named as the lock of another → both run', async (world) => {
      world.leavesKeys = true
      const slots = (await world.connect()).slots(name(world))
      for (const slot of ['1:lock', '1', '1-lock'])
        assert.equal(reasonOf(await world.run(slots.run(slot, () => 1))), 'ran', slot)
    })

    scenario('work that is longer than the retention → it runs once', async (world) => {
      world.leavesKeys = true
      const slots = (await world.connect()).slots(name(world), { retention: 1000 })
      const first = await world.run(slots.run('x', { lease: 10_000 }, () => world.pause(2500)))
      assert.equal(first.outcome, 'ran')
      const state = await world.run(slots.inspect('x'))
      assert.deepEqual([state?.state, state?.attempt], ['ran', 1])
      assert.equal(reasonOf(await world.run(slots.run('x', () => 1))), 'skipped: ran')
    })

    scenario('work that returns after another has taken over → failed, with what it returned', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const options = { retry: 1, lease: leaseOf(world) }
      let finish: (() => void) | undefined
      const first = one.slots(name(world)).run('x', options, async ({ token }) => {
        await new Promise<void>((resolve) => (finish = resolve))
        return token
      })
      await world.eventually(() => finish !== undefined)
      await world.raw('DEL', `{${name(world)}}:slot-lock:x`)
      assert.equal(reasonOf(await world.run(two.slots(name(world)).run('x', options, () => 1))), 'ran')
      finish!()
      const result = await world.run(first)
      assert.ok(result.outcome === 'failed' && result.error instanceof LockLostError, result.outcome)
      assert.equal(result.error.result, result.token)
    })

    scenario('skip → nobody runs it; once', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      assert.equal(await world.run(one.slots(name(world)).skip('x')), true)
      assert.equal(await world.run(two.slots(name(world)).skip('x')), false)
      const result = await world.run(two.slots(name(world)).run('x', () => assert.fail()))
      assert.equal(reasonOf(result), 'skipped: skipped')
    })

    scenario('the retention is over → it may run again; before, it may not', async (world) => {
      world.leavesKeys = true
      const retention = leaseOf(world)
      const slots = (await world.connect()).slots(name(world), { retention })
      await world.run(slots.run('x', () => 1))
      assert.equal(reasonOf(await world.run(slots.run('x', () => 1))), 'skipped: ran')
      await world.pass(retention + 500)
      assert.equal(reasonOf(await world.run(slots.run('x', () => 1))), 'ran')
    })

    scenario('the same slot inside its own work → skipped, or DeadlockError with a retry', async (world) => {
      world.leavesKeys = true
      const slots = (await world.connect()).slots(name(world))
      await world.run(
        slots.run('x', async () => {
          assert.equal(reasonOf(await slots.run('x', () => 1)), 'skipped: running')
          await assert.rejects(
            slots.run('x', { retry: 1 }, () => 1),
            { code: 'DEADLOCK' },
          )
        }),
      )
    })

    scenario('what others wrote there → refused or claimed, never run', async (world) => {
      world.leavesKeys = true
      const slots = (await world.connect()).slots(name(world))
      const key = (slot: string): string => `{${name(world)}}:slot:${slot}`
      await world.raw('HSET', key('a'), 'something', 'else')
      await assert.rejects(world.run(slots.run('a', () => assert.fail())), { code: 'WRONG_KIND' })
      await world.raw('SET', key('b'), 'text')
      await assert.rejects(world.run(slots.run('b', () => assert.fail())))
      await world.raw('HSET', key('c'), 'state', 'running', 'attempt', 'nan', 'run', 'x', 'token', '-')
      const c = await world.run(slots.run('c', { retry: 5 }, () => assert.fail()))
      assert.equal(reasonOf(c), 'skipped: crashed')
    })

    scenario('another program has counted to the end → an error that says so, at once', async (world) => {
      world.leavesKeys = true
      const client = await world.connect()
      const id = name(world)
      for (const counter of [`{${id}}:slots:token`, `{${id}}:flights:token`])
        await world.raw('SET', counter, '9223372036854775807')
      const began = world.now()
      const ended = { code: 'WRONG_KIND' }
      await assert.rejects(world.run(client.slots(id).run('a', () => assert.fail())), ended)
      await assert.rejects(world.run(client.flight(id).run('a', () => assert.fail())), ended)
      assert.ok(world.now() - began < 15_000)
    })

    scenario('arguments that cannot work → TypeError, RangeError', async (world) => {
      const client = await world.connect()
      const slots = client.slots(name(world))
      await assert.rejects(
        slots.run('', () => 1),
        TypeError,
      )
      await assert.rejects(
        slots.run(new Date(NaN), () => 1),
        RangeError,
      )
      await assert.rejects(
        slots.run('x', { grace: 5 }, () => 1),
        /a Date/,
      )
      await assert.rejects(
        slots.run('x', { retry: -1 }, () => 1),
        RangeError,
      )
      await assert.rejects(
        slots.run('x', { retri: 1 } as never, () => 1),
        /did you mean 'retry'/,
      )
      await assert.rejects(slots.run('x', 5 as never), TypeError)
      assert.throws(() => client.slots('x', { retention: 0 }), RangeError)
    })

    scenario('close with a drain → the run comes to its end, and is written', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      let begun = false
      const running = one.slots(name(world)).run('x', async ({ signal }) => {
        begun = true
        await world.pause(300)
        return signal.aborted
      })
      await world.eventually(() => begun)
      const closed = one.close({ drain: 5000 })
      const result = await world.run(running)
      assert.ok(result.outcome === 'ran' && !result.value)
      await world.run(closed)
      assert.equal((await world.run(two.slots(name(world)).inspect('x')))?.state, 'ran')
    })
  })
