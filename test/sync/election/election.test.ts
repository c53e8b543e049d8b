import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { ClosedError, DeadlockError, LockLostError, NotOwnerError, type Leader, type Term } from 'holdfast'
import { type Client, engines, scenarios, type World } from '../../support/engines.js'

const name = ({ id }: World): string => `${id}:e`

/** A loaded machine may keep the process from renewing for seconds. */
const leaseOf = ({ virtual }: World): number => (virtual ? 2000 : 6000)

/** Work that goes on until its term is over. */
const whileLed = ({ signal }: Term): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve())
  })

/** A candidate whose terms are written down. */
const candidate = (client: Client, world: World, options: { value?: unknown; lease?: number } = {}) => {
  const terms: Term[] = []
  const stop = new AbortController()
  const led = client.election(name(world)).lead({ signal: stop.signal, ...options }, async (term) => {
    terms.push(term)
    await whileLed(term)
    return terms.length
  })
  return { terms, stop, led }
}

for (const engine of engines)
  describe(`an election on ${engine.name}`, { concurrency: engine.concurrency }, () => {
    const scenario = scenarios(engine)

    scenario('work that returns → its value; the next candidate leads, in a greater term', async (world) => {
      const [one, two] = [await world.connect({ label: 'one' }), await world.connect()]
      const seen: (Leader | undefined)[] = []
      const first = one.election(name(world)).lead({ value: { at: 'one' } }, async ({ term }) => {
        seen.push(await two.election(name(world)).leader())
        await world.pause(50)
        return term
      })
      await world.eventually(() => seen.length === 1)
      const second = two.election(name(world)).lead(({ term }) => term)
      const terms = [await world.run(first), await world.run(second)]
      assert.ok(terms[1]! > terms[0]!, terms.join())
      const { since, ...leader } = seen[0]!
      assert.deepEqual(leader, { term: terms[0], value: { at: 'one' }, client: one.id, label: 'one' })
      assert.ok(since > 0)
      assert.equal(await world.run(one.election(name(world)).leader()), undefined)
    })

    scenario(
      'work that throws during its term → lead rejects with that, and the next candidate leads',
      async (world) => {
        const [one, two] = [await world.connect(), await world.connect()]
        const broken = new Error('broken')
        let fail: (() => void) | undefined
        const work = (): Promise<void> => new Promise((_resolve, reject) => (fail = () => reject(broken)))
        const failed = assert.rejects(one.election(name(world)).lead(work), broken)
        await world.eventually(() => fail !== undefined)
        const next = candidate(two, world)
        await world.pass(50)
        fail!()
        await world.run(failed)
        await world.eventually(() => next.terms.length === 1)
        next.stop.abort()
        assert.equal(await world.run(next.led), 1)
      },
    )

    scenario('its signal aborts while it waits → resolves with undefined, and leaves nothing', async (world) => {
      const [one, two] = [await world.connect(), await world.connect()]
      const leader = candidate(one, world)
      await world.eventually(() => leader.terms.length === 1)
      const waiting = candidate(two, world)
      await world.pass(100)
      waiting.stop.abort()
      assert.equal(await world.run(waiting.led), undefined)
      const never = two.election(name(world)).lead({ signal: AbortSignal.abort() }, () => assert.fail())
      assert.equal(await world.run(never), undefined)
      leader.stop.abort()
      await world.run(leader.led)
    })

    scenario('its signal aborts while it leads → the lease is kept until the work has settled', async (world) => {
      const [one, two] = [await world.connect(), await world.connect()]
      const stop = new AbortController()
      let finish: (() => void) | undefined
      const led = one.election(name(world)).lead({ signal: stop.signal, lease: leaseOf(world) }, async (term) => {
        await whileLed(term)
        await new Promise<void>((resolve) => (finish = resolve))
        return 'settled'
      })
      await world.eventually(async () => (await world.run(two.election(name(world)).leader())) !== undefined)
      const next = candidate(two, world)
      stop.abort()
      await world.eventually(() => finish !== undefined)
      await world.pass(1.5 * leaseOf(world))
      assert.equal(next.terms.length, 0, 'the work goes on')
      finish!()
      assert.equal(await world.run(led), 'settled')
      await world.eventually(() => next.terms.length === 1)
      next.stop.abort()
      await world.run(next.led)
    })

    scenario('resign → the next one leads, and this one again after it', async (world) => {
      const [one, two] = [await world.connect(), await world.connect()]
      const first = candidate(one, world)
      await world.eventually(() => first.terms.length === 1)
      const second = candidate(two, world)
      await world.pass(100)
      assert.equal(await world.run(two.election(name(world)).resign()), false, 'it does not lead')
      assert.equal(await world.run(one.election(name(world)).resign()), true)
      assert.ok(first.terms[0]!.signal.aborted)
      await world.eventually(() => second.terms.length === 1)
      second.stop.abort()
      await world.run(second.led)
      await world.eventually(() => first.terms.length === 2)
      assert.ok(first.terms[1]!.term > second.terms[0]!.term)
      first.stop.abort()
      assert.equal(await world.run(first.led), 2)
    })

    scenario('resign inside the work → at once, and the work is run again in the next term', async (world) => {
      const client = await world.connect()
      const election = client.election(name(world))
      const terms: bigint[] = []
      const led = election.lead(async ({ term }) => {
        terms.push(term)
        if (terms.length === 1) await election.resign()
        return terms.length
      })
      assert.equal(await world.run(led), 2)
      assert.ok(terms[1]! > terms[0]!)
    })

    scenario('the lock is taken by force → the term ends with LockLostError, and it leads again', async (world) => {
      const client = await world.connect()
      const one = candidate(client, world, { lease: leaseOf(world) })
      await world.eventually(() => one.terms.length === 1)
      assert.ok(await world.run(client.fencedLock(name(world)).forceRelease()))
      await world.eventually(() => one.terms.length === 2)
      assert.ok(one.terms[0]!.signal.reason instanceof LockLostError)
      one.stop.abort()
      await world.run(one.led)
    })

    scenario('work that throws something else after its term → an error event, and it leads again', async (world) => {
      const client = await world.connect()
      const errors: unknown[] = []
      client.on('error', (error) => errors.push(error))
      const election = client.election(name(world))
      const broken = new Error('cleaning up failed')
      let runs = 0
      const led = election.lead(async ({ signal }) => {
        runs++
        if (runs > 2) return
        await election.resign()
        if (runs === 1) throw broken
        signal.throwIfAborted()
      })
      await world.run(led)
      assert.deepEqual(errors, [broken])
      assert.equal(runs, 3)
    })

    scenario('two candidates of one client → one after the other', async (world) => {
      const client = await world.connect()
      let inside = 0
      const lead = (): Promise<bigint | undefined> =>
        client.election(name(world)).lead(async ({ term }) => {
          assert.equal(++inside, 1)
          await world.pause(30)
          inside--
          return term
        })
      const terms = await world.run(Promise.all([lead(), lead(), lead()]))
      assert.ok(terms[0]! < terms[1]! && terms[1]! < terms[2]!, terms.join())
    })

    scenario('lead inside its own work → DeadlockError', async (world) => {
      const election = (await world.connect()).election(name(world))
      await world.run(
        election.lead(() =>
          assert.rejects(
            election.lead(() => undefined),
            DeadlockError,
          ),
        ),
      )
    })

    scenario('proclaim → observers see the new value in the same term; nobody else may', async (world) => {
      const [one, two] = [await world.connect(), await world.connect()]
      const [mine, theirs] = [one.election<number>(name(world)), two.election<number>(name(world))]
      await assert.rejects(world.run(mine.proclaim(1)), NotOwnerError)
      const led = mine.lead({ value: 1 }, async () => {
        assert.equal((await theirs.leader())?.value, 1)
        await mine.proclaim(2)
        assert.equal((await theirs.leader())?.value, 2)
        await assert.rejects(theirs.proclaim(3), NotOwnerError)
      })
      await world.run(led)
      await assert.rejects(world.run(mine.proclaim(1)), NotOwnerError)
    })

    scenario('observe → now, each change, and nobody', async (world) => {
      const [one, two] = [await world.connect(), await world.connect()]
      const seen: unknown[] = []
      const leaders = two.election(name(world)).observe()
      const loop = (async () => {
        for await (const leader of leaders) {
          seen.push(leader?.value)
          if (seen.length === 4) break
        }
      })()
      await world.eventually(() => seen.length === 1)
      const first = candidate(one, world, { value: 'a' })
      await world.eventually(() => seen.length === 2)
      await world.run(one.election(name(world)).proclaim('b'))
      await world.eventually(() => seen.length === 3)
      first.stop.abort()
      await world.run(first.led)
      await world.run(loop)
      assert.deepEqual(seen, [undefined, 'a', 'b', undefined])
    })

    scenario('a leader that dies → observers see nobody when its lease ends, and the next one leads', async (world) => {
      const [one, two] = [await world.connect(), await world.connect()]
      const seen: [unknown, number][] = []
      const stop = new AbortController()
      const loop = (async () => {
        for await (const leader of two.election(name(world)).observe({ signal: stop.signal }))
          seen.push([leader?.value, world.now()])
      })()
      const first = candidate(one, world, { value: 'a', lease: 1500 })
      await world.eventually(() => seen.at(-1)?.[0] === 'a')
      const died = world.now()
      await world.run(one.close({ release: false }))
      await world.run(first.led)
      const next = candidate(two, world, { value: 'b', lease: 1500 })
      await world.eventually(() => next.terms.length === 1)
      assert.ok(world.now() - died < 1500 + world.slack, `${world.now() - died} ms`)
      await world.eventually(() => seen.at(-1)?.[0] === 'b')
      stop.abort(new Error('enough'))
      await assert.rejects(world.run(loop), /enough/)
      next.stop.abort()
      await world.run(next.led)
    })

    scenario('what others wrote as the leader → nobody, unless the lock is its', async (world) => {
      const client = await world.connect()
      const key = `holdfast_leader:{${name(world)}}`
      const forged = ['owner', 'somebody', 'term', '7', 'revision', '0', 'since', '1', 'form', 'text', 'value', '"x"']
      await world.raw('HSET', key, ...forged)
      assert.equal(await world.run(client.election(name(world)).leader()), undefined)
      await world.raw('DEL', key)
      await world.raw('HSET', key, 'something', 'else')
      await assert.rejects(world.run(client.election(name(world)).lead(() => 1)), /WRONG|another program/i)
      assert.equal(await world.run(client.fencedLock(name(world)).isLocked()), false)
      await world.raw('DEL', key)
      await world.raw('SET', key, 'text')
      await assert.rejects(world.run(client.election(name(world)).leader()))
      await world.raw('DEL', key)
    })

    scenario('numbers that cannot work → RangeError, TypeError', async (world) => {
      const election = (await world.connect()).election(name(world))
      const refuse = (options: object, error: unknown): Promise<void> =>
        assert.rejects(
          election.lead(options, () => 1),
          error as Error,
        )
      await refuse({ lease: 0 }, RangeError)
      await refuse({ lease: 10_000, renewDeadline: 10_000 }, /must be from 4001 to 9499/)
      await refuse({ lease: 10_000, renewDeadline: 4000 }, RangeError)
      await refuse({ lease: 10_000, renewdeadline: 5000 }, /did you mean 'renewDeadline'/)
      await refuse({ signal: 1 }, TypeError)
      await refuse({ value: () => 1 }, TypeError)
      await assert.rejects(election.lead(1 as never), TypeError)
      assert.throws(() => election.observe({ buffer: 1 } as never), TypeError)
    })

    scenario('a term that a failover has given twice → the second leader is shown', async (world) => {
      const [one, two, three] = [await world.connect(), await world.connect(), await world.connect()]
      const key = name(world)
      const stop = new AbortController()
      const seen: (string | undefined)[] = []
      const loop = (async () => {
        for await (const leader of three.election(key).observe({ signal: stop.signal })) seen.push(leader?.client)
      })()
      const first = candidate(one, world)
      await world.eventually(() => seen.at(-1) === one.id)
      await world.run(one.close({ release: false }))
      await world.run(first.led)
      await world.raw('DEL', key)
      await world.raw('DEL', `redisson_lock_token:{${key}}`)
      const next = candidate(two, world)
      await world.eventually(() => next.terms.length === 1)
      assert.equal(next.terms[0]!.term, first.terms[0]!.term)
      await world.eventually(() => seen.at(-1) === two.id)
      stop.abort()
      await assert.rejects(world.run(loop))
      next.stop.abort()
      await world.run(next.led)
    })

    scenario('a value that cannot be read → one error event for each value', async (world) => {
      const [one, two] = [await world.connect(), await world.connect()]
      const errors: Error[] = []
      two.on('error', (error) => errors.push(error))
      const leader = candidate(one, world, { value: 1 })
      const election = two.election(name(world))
      await world.eventually(async () => (await world.run(election.leader()))?.value === 1)
      await world.raw('HSET', `holdfast_leader:{${name(world)}}`, 'value', '{')
      for (let i = 0; i < 3; i++) assert.equal((await world.run(election.leader()))?.value, undefined)
      assert.equal(errors.length, 1)
      leader.stop.abort()
      await world.run(leader.led)
    })

    scenario('lead on a closed client → ClosedError', async (world) => {
      const client = await world.connect()
      const election = client.election(name(world))
      await world.run(client.close())
      await assert.rejects(
        election.lead(() => assert.fail()),
        ClosedError,
      )
    })

    scenario(
      'work that ignores its signal after resign → no longer leading, and overdue after a lease',
      async (world) => {
        const client = await world.connect()
        const lease = leaseOf(world)
        let finish: (() => void) | undefined
        const led = client.election(name(world)).lead({ lease }, async ({ signal }) => {
          if (finish === undefined) await new Promise<void>((resolve) => (finish = resolve))
          return signal.aborted
        })
        await world.eventually(() => finish !== undefined)
        const resigned = client.election(name(world)).resign()
        const { leading, overdue } = await world.run(client.health())
        assert.deepEqual([leading, overdue], [0, 0])
        await world.pass(1.5 * lease)
        assert.equal((await world.run(client.health())).overdue, 1)
        finish!()
        assert.equal(await world.run(resigned), true)
        assert.equal(await world.run(led), false)
      },
    )

    scenario('close with a drain → the signal aborts at once, and the work may come to its end', async (world) => {
      const [one, two] = [await world.connect(), await world.connect()]
      let term: Term | undefined
      const led = one.election(name(world)).lead(async (it) => {
        term = it
        await whileLed(it)
        await world.pause(200)
        return 'done'
      })
      await world.eventually(() => term !== undefined)
      assert.equal((await world.run(one.health())).leading, 1)
      const next = candidate(two, world)
      const closed = one.close({ drain: 5000 })
      assert.ok(term!.signal.aborted)
      assert.equal(await world.run(led), 'done')
      await world.run(closed)
      await world.eventually(() => next.terms.length === 1)
      next.stop.abort()
      await world.run(next.led)
      assert.equal((await world.run(two.health())).leading, 0)
    })
  })
