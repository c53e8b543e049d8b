import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { AcquireTimeoutError, DeadlockError, type Client, FlightError, type FlightResult } from 'holdfast'
import { engines, scenarios, type World } from '../../support/engines.js'
import { afterWarmUp } from '../../support/warm.js'
import { warmFlights } from './warm-flights.js'

const name = ({ id }: World): string => `${id}:f`
const recordOf = (world: World, key: string): string => `{${name(world)}}:flight:${key}`
const lockOf = (world: World, key: string): string => `{${name(world)}}:flight-lock:${key}`
const channelOf = (world: World, key: string): string => `holdfast_flight:{${name(world)}}:${key}`

/** A computation that is over when it is told to be. */
const gate = <T>() => {
  let open!: (value: T) => void
  let fail!: (error: unknown) => void
  const promise = new Promise<T>((resolve, reject) => ([open, fail] = [resolve, reject]))
  promise.catch(() => undefined)
  return { promise, open, fail }
}

/** A computation that has begun, and ends when the test says so. */
const underWay = async <T>(world: World, client: Client) => {
  const end = gate<T>()
  let begun = false
  const call = client.flight(name(world)).run('a', () => {
    begun = true
    return end.promise
  })
  await world.eventually(() => Promise.resolve(begun))
  return { end, call }
}

for (const engine of engines)
  describe(`flights on ${engine.name}`, { concurrency: engine.virtual ? 1 : 32 }, () => {
    const scenario = afterWarmUp(scenarios(engine), warmFlights)

    scenario('three processes, five calls in each → one computes, all have its value', async (world) => {
      world.leavesKeys = true
      const clients = [await world.connect(), await world.connect(), await world.connect()]
      let computed = 0
      const work = async (): Promise<object> => {
        computed++
        await world.pause(200)
        return { total: 42 }
      }
      const calls = clients.flatMap((client) => [1, 2, 3, 4, 5].map(() => client.flight(name(world)).run('a', work)))
      const results = await world.run(Promise.all(calls))
      assert.equal(computed, 1)
      assert.deepEqual(
        results.map(({ value }) => value),
        results.map(() => ({ total: 42 })),
      )
      assert.equal(results.filter(({ shared }) => !shared).length, 1)
      for (const { age } of results) assert.ok(age >= 0 && age <= world.slack, String(age))
    })

    scenario('keys have nothing to do with each other; tokens grow over all of them', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const tokens: bigint[] = []
      for (const [client, key] of [
        [one, 'a'],
        [two, 'b'],
        [one, 'a'],
      ] as const) {
        const { value } = await world.run(
          client.flight(name(world)).run(key, (run) => {
            tokens.push(run.token)
            return run.key
          }),
        )
        assert.equal(value, key)
      }
      assert.deepEqual(tokens, [1n, 2n, 3n])
    })

    scenario('without ttl a value that was there before the call is computed again', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      let count = 0
      const run = (client: typeof one): Promise<FlightResult<number>> =>
        world.run(client.flight(name(world)).run('a', () => ++count))
      assert.deepEqual(await run(one), { value: 1, shared: false, age: 0 })
      assert.deepEqual(await run(two), { value: 2, shared: false, age: 0 })
      assert.deepEqual(await run(one), { value: 3, shared: false, age: 0 })
    })

    scenario('ttl → it is returned until it is too old, and says how old it is', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      let count = 0
      const run = (client: typeof one, ttl: number): Promise<FlightResult<number>> =>
        world.run(client.flight(name(world)).run('a', { ttl }, () => ++count))
      const began = world.now()
      assert.equal((await run(one, 60_000)).value, 1)
      await world.pass(300)
      const kept = await run(two, 60_000)
      // A busy machine may take longer than 300 ms; the value is as old as that.
      const most = world.now() - began + world.slack
      assert.ok(kept.value === 1 && kept.shared && kept.age >= 300 && kept.age <= most, `${kept.age} of ${most} ms`)
      assert.deepEqual(await run(two, 200), { value: 2, shared: false, age: 0 })
    })

    scenario('stale → the old value at once, and one computation behind it for all', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      let count = 0
      const options = { ttl: 100, stale: 60_000 }
      const run = (client: typeof one): Promise<FlightResult<number>> =>
        world.run(
          client.flight(name(world)).run('a', options, async () => {
            count++
            await world.pause(50)
            return count
          }),
        )
      assert.equal((await run(one)).value, 1)
      await world.pass(150)
      const results = await world.run(Promise.all([run(one), run(one), run(two), run(two)]))
      assert.deepEqual(
        results.map(({ value, shared }) => [value, shared]),
        results.map(() => [1, true]),
      )
      await world.eventually(async () => (await run(two)).value === 2)
      assert.ok(count <= 3, `computed ${count} times`)
    })

    scenario(
      'a refresh that fails → an error event that names flight and key, and the old value stays',
      async (world) => {
        world.leavesKeys = true
        const one = await world.connect()
        const errors: Error[] = []
        one.on('error', (error) => errors.push(error))
        const flight = one.flight(name(world))
        await world.run(flight.run('a', { ttl: 60_000, stale: 60_000 }, () => 1))
        await world.pass(50)
        const broken = new Error('broken')
        const again = await world.run(
          flight.run('a', { ttl: 10, stale: 60_000 }, () => {
            throw broken
          }),
        )
        assert.equal(again.value, 1)
        await world.eventually(() => errors.length > 0)
        assert.deepEqual(
          errors.map(({ message, cause }) => [message, cause]),
          [[`could not refresh '${name(world)}: a', whose old value stays: broken`, broken]],
        )
      },
    )

    scenario(
      'work that throws → its very error in its process, a FlightError in others; who comes later computes',
      async (world) => {
        world.leavesKeys = true
        const [one, two] = [await world.connect(), await world.connect()]
        const started = gate<void>()
        const end = gate<number>()
        const broken = new TypeError('it broke')
        const flight = one.flight(name(world))
        const first = flight.run('a', () => {
          started.open()
          return end.promise
        })
        await world.run(started.promise)
        const beside = flight.run('a', () => assert.fail('another computes'))
        const elsewhere = two.flight(name(world)).run('a', () => assert.fail('another computes'))
        const retried = two.flight(name(world)).run('a', { failure: 'retry' }, () => 'computed here')
        const failures = [
          assert.rejects(first, (error) => error === broken),
          assert.rejects(beside, (error) => error === broken),
          assert.rejects(elsewhere, (error) => {
            assert.ok(error instanceof FlightError)
            assert.deepEqual([error.code, error.thrown, error.target], ['FLIGHT', 'TypeError', `${name(world)}: a`])
            assert.match(error.message, /failed in another process: TypeError: it broke$/)
            return true
          }),
        ]
        await world.pass(100)
        end.fail(broken)
        await world.run(Promise.all(failures))
        assert.equal((await world.run(retried)).value, 'computed here')
        assert.equal((await world.run(one.flight(name(world)).run('a', () => 'later'))).value, 'later')
      },
    )

    scenario('it is forgotten while it is computed → nobody sees its result, all compute anew', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const values = [gate<string>(), gate<string>()]
      let begun = 0
      const work = (): Promise<string> => values[begun++]?.promise ?? Promise.resolve('more')
      const first = one.flight(name(world)).run('a', work)
      await world.eventually(() => Promise.resolve(begun === 1))
      const waits = two.flight(name(world)).run('a', work)
      await world.pass(100)
      assert.equal(await world.run(two.flight(name(world)).forget('a')), true)
      values[0]?.open('old')
      await world.eventually(() => Promise.resolve(begun === 2))
      values[1]?.open('new')
      assert.equal((await world.run(first)).value, 'new')
      assert.equal((await world.run(waits)).value, 'new')
      assert.equal(begun, 2)
      assert.equal(await world.run(two.flight(name(world)).forget('a')), true)
      assert.equal(await world.run(two.flight(name(world)).forget('a')), false)
    })

    scenario('forgotten by its own client → its signal aborts at once', async (world) => {
      world.leavesKeys = true
      const one = await world.connect()
      const flight = one.flight(name(world))
      let times = 0
      const call = flight.run('a', async ({ signal }) => {
        if (++times > 1) return times
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
        throw new Error('stopped')
      })
      await world.eventually(() => Promise.resolve(times === 1))
      assert.equal(await world.run(flight.forget('a')), true)
      assert.equal((await world.run(call)).value, 2)
    })

    scenario(
      'its lock is deleted under it → another takes over, the late result is refused, its caller has the newer one',
      async (world) => {
        world.leavesKeys = true
        const [one, two] = [await world.connect(), await world.connect()]
        const { end: late, call: first } = await underWay<string>(world, one)
        const second = two.flight(name(world)).run('a', { ttl: 60_000 }, () => 'newer')
        await world.pass(100)
        await world.raw('DEL', lockOf(world, 'a'))
        assert.equal((await world.run(second)).value, 'newer')
        late.open('late')
        assert.deepEqual((await world.run(first)).value, 'newer')
        const kept = await world.run(two.flight(name(world)).run('a', { ttl: 60_000 }, () => assert.fail('it is kept')))
        assert.equal(kept.value, 'newer')
      },
    )

    scenario('wait and signal end a call, not the computation', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const end = gate<number>()
      let begun = 0
      const stop = new AbortController()
      const mine = one.flight(name(world)).run('a', { signal: stop.signal }, () => {
        begun++
        return end.promise
      })
      await world.eventually(() => Promise.resolve(begun === 1))
      const never = (): never => assert.fail('another computes')
      const flight = two.flight(name(world))
      await world.run(assert.rejects(flight.run('a', { wait: 100 }, never), AcquireTimeoutError))
      await world.run(assert.rejects(flight.run('a', { wait: 0 }, never), AcquireTimeoutError))
      await world.run(assert.rejects(one.flight(name(world)).run('a', { wait: 0 }, never), AcquireTimeoutError))
      const waits = flight.run('a', never)
      await world.pass(50)
      stop.abort(new Error('enough'))
      await world.run(assert.rejects(mine, /enough/))
      end.open(7)
      assert.equal((await world.run(waits)).value, 7)
    })

    scenario('wait does not count while its own work runs', async (world) => {
      world.leavesKeys = true
      const one = await world.connect()
      const { value } = await world.run(
        one.flight(name(world)).run('a', { wait: 1000 }, async () => {
          await world.pause(1500)
          return 'done'
        }),
      )
      assert.equal(value, 'done')
      assert.equal((await world.run(one.flight(name(world)).run('b', { wait: 0 }, () => 1))).value, 1)
    })

    scenario('a computation that wants itself → DeadlockError; that wants another key → it has that', async (world) => {
      world.leavesKeys = true
      const one = await world.connect()
      const flight = one.flight(name(world))
      const { value } = await world.run(
        flight.run('a', async () => {
          await assert.rejects(
            flight.run('a', () => 1),
            DeadlockError,
          )
          return (await flight.run('b', () => 2)).value + 1
        }),
      )
      assert.equal(value, 3)
    })

    scenario('values of every size and kind reach the others', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
      for (const [what, value, codec] of [
        ['small', { text: 'a b\nc' }, 'json'],
        ['large', 'x'.repeat(300_000), 'json'],
        ['bytes', bytes, 'bytes'],
        ['nothing', undefined, 'json'],
        ['text', 'grüße 🙂', 'string'],
      ] as const) {
        let begun = false
        const end = gate<unknown>()
        const first = one.flight(name(world), { codec }).run(what, () => {
          begun = true
          return end.promise
        })
        await world.eventually(() => Promise.resolve(begun))
        const second = two.flight(name(world), { codec }).run(what, () => assert.fail('another computes'))
        await world.pass(100)
        end.open(value)
        assert.equal((await world.run(first)).value, value)
        assert.deepEqual((await world.run(second)).value, value, what)
        const kept = await world.run(
          two.flight(name(world), { codec }).run(what, { ttl: 60_000 }, () => assert.fail('it is kept')),
        )
        assert.deepEqual(kept.value, value, what)
      }
    })

    scenario('messages of strangers are not believed: made up, changed, repeated, huge', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const heard = await world.messages(channelOf(world, 'a'))
      const compute = async (value: string): Promise<[FlightResult<string>, FlightResult<string>]> => {
        const { end, call: first } = await underWay<string>(world, one)
        const second = two.flight(name(world)).run('a', () => assert.fail('another computes'))
        await world.pass(100)
        const forged = ['', '1', `${'0'.repeat(64)}99 value text "evil"`, 'x'.repeat(100_000), '\0\xff']
        const said = heard.filter((message) => message.length > 64)
        for (const message of [...forged, ...said, ...said.map((text) => text.replace('first', 'evil '))])
          await world.raw('PUBLISH', channelOf(world, 'a'), message)
        await world.pass(50)
        end.open(value)
        return world.run(Promise.all([first, second]))
      }
      for (const value of ['first', 'later']) {
        const [mine, theirs] = await compute(value)
        assert.deepEqual([mine.value, theirs.value], [value, value])
      }
    })

    scenario(
      'a value that cannot be read, found while waiting → an error event, and the waiter computes',
      async (world) => {
        world.leavesKeys = true
        const [one, two] = [await world.connect(), await world.connect()]
        const errors: Error[] = []
        two.on('error', (error) => errors.push(error))
        const { end, call: first } = await underWay<string>(world, one)
        const second = two.flight(name(world)).run('a', () => 'mine')
        await world.pass(100)
        const [seconds] = (await world.raw('TIME')) as [string]
        const record = ['state', 'value', 'token', '5', 'ended', `${seconds}000`, 'form', 'text', 'value', '{bad']
        await world.raw('HSET', recordOf(world, 'a'), ...record)
        await world.raw('DEL', lockOf(world, 'a'))
        await world.raw('PUBLISH', channelOf(world, 'a'), '')
        const { value, shared } = await world.run(second)
        assert.deepEqual([value, shared], ['mine', false])
        assert.deepEqual(
          errors.map(({ message, cause }) => [message.split(',')[0], cause instanceof SyntaxError]),
          [[`cannot read the value of '${name(world)}: a'`, true]],
        )
        end.open('first')
        await world.run(Promise.allSettled([first]))
      },
    )

    scenario('what another program wrote is not believed', async (world) => {
      world.leavesKeys = true
      const one = await world.connect()
      const errors: Error[] = []
      one.on('error', (error) => errors.push(error))
      const flight = one.flight(name(world))
      const run = (): Promise<FlightResult<string>> => world.run(flight.run('a', { ttl: 60_000 }, () => 'computed'))
      const [seconds] = (await world.raw('TIME')) as [string]
      const now = `${seconds}000`
      for (const fields of [
        ['state', 'value', 'token', 'nan', 'ended', now, 'form', 'text', 'value', '"evil"'],
        ['state', 'value', 'token', '9223372036854775808', 'ended', now, 'form', 'text', 'value', '"evil"'],
        ['state', 'value', 'token', '5', 'ended', 'inf', 'form', 'text', 'value', '"evil"'],
        ['state', 'odd', 'token', '5', 'ended', now, 'form', 'text', 'value', '"evil"'],
        ['state', 'value', 'token', '5', 'ended', now, 'form', 'odd', 'value', '"evil"'],
        ['state', 'value', 'token', '5', 'ended', now, 'form', 'text', 'value', '{broken'],
      ]) {
        await world.raw('DEL', recordOf(world, 'a'))
        await world.raw('HSET', recordOf(world, 'a'), ...fields)
        assert.equal((await run()).value, 'computed', fields.join(' '))
      }
      assert.equal(errors.length, 1)
      await world.raw('DEL', recordOf(world, 'a'))
      await world.raw('HSET', recordOf(world, 'a'), 'theirs', '1')
      await world.run(assert.rejects(run(), { code: 'WRONG_KIND' }))
      assert.deepEqual(await world.raw('HGETALL', recordOf(world, 'a')), ['theirs', '1'])
      await world.raw('DEL', recordOf(world, 'a'))
      await world.raw('SET', recordOf(world, 'a'), 'theirs')
      await world.run(assert.rejects(run(), { code: 'WRONG_KIND' }))
    })

    scenario(
      'a record without a value, under a token of its own, while another computes → its followers compute, once',
      async (world) => {
        world.leavesKeys = true
        const [one, two] = [await world.connect(), await world.connect()]
        const { end, call: first } = await underWay<string>(world, one)
        const second = two.flight(name(world)).run('a', () => 'computed')
        await world.pass(100)
        await world.raw('DEL', lockOf(world, 'a'))
        await world.raw('HSET', recordOf(world, 'a'), 'state', 'value', 'token', '999', 'ended', '0', 'form', 'text')
        assert.equal((await world.run(second)).value, 'computed')
        end.open('late')
        assert.equal((await world.run(first)).value, 'computed')
      },
    )

    scenario(
      'tokens that another program wrote → counters that cannot be counted on are an error, others are not followed',
      async (world) => {
        world.leavesKeys = true
        const [one, two] = [await world.connect(), await world.connect()]
        const counter = `{${name(world)}}:flights:token`
        const run = (client: typeof one, key: string): Promise<FlightResult<string>> =>
          world.run(client.flight(name(world)).run(key, { ttl: 60_000 }, ({ token }) => String(token)))
        for (const count of ['9223372036854775807', 'text', '-5', '']) {
          await world.raw('SET', counter, count)
          await world.run(assert.rejects(run(one, `at ${count}`), { code: 'WRONG_KIND' }))
          assert.equal(await world.raw('GET', counter), count)
        }
        await world.raw('DEL', counter)
        await world.raw('SET', counter, '3')
        const far = ['state', 'failed', 'token', '999999999999999', 'ended', '0', 'form', 'none', 'value', '']
        await world.raw('HSET', recordOf(world, 'a'), ...far)
        assert.equal((await run(one, 'a')).value, '4')
        assert.equal((await run(two, 'a')).value, '4')
      },
    )

    scenario(
      'signals of a class of the caller’s own, and those that abort before it waits → it rejects, and nothing runs on',
      async (world) => {
        world.leavesKeys = true
        const [one, two] = [await world.connect(), await world.connect()]
        const { end, call: first } = await underWay<number>(world, one)
        const nothing = (): void => undefined
        const broken = {
          aborted: false,
          throwIfAborted: nothing,
          removeEventListener: nothing,
          addEventListener: (): never => {
            throw new Error('no listener')
          },
        } as unknown as AbortSignal
        const never = (): never => assert.fail('it works')
        for (const wait of [50, Infinity])
          await world.run(
            assert.rejects(two.flight(name(world)).run('a', { signal: broken, wait }, never), /no listener/),
          )
        for (const key of ['a', 'b']) {
          const controller = new AbortController()
          const call = assert.rejects(
            two.flight(name(world)).run(key, { signal: controller.signal }, never),
            /while it looks/,
          )
          controller.abort(new Error('while it looks'))
          await world.run(call)
        }
        await world.eventually(async () => {
          const [, count] = (await world.raw('PUBSUB', 'NUMSUB', channelOf(world, 'a'))) as [string, number]
          return count === 0
        })
        end.open(1)
        await world.run(first)
      },
    )

    scenario('all have gone, and it is forgotten → it is not computed again for nobody', async (world) => {
      world.leavesKeys = true
      const one = await world.connect()
      const stop = new AbortController()
      const end = gate<number>()
      let begun = 0
      const flight = one.flight(name(world))
      const call = assert.rejects(
        flight.run('a', { signal: stop.signal }, () => {
          begun++
          return end.promise
        }),
        /enough/,
      )
      await world.eventually(() => Promise.resolve(begun === 1))
      stop.abort(new Error('enough'))
      await world.run(call)
      assert.equal(await world.run(flight.forget('a')), true)
      end.open(1)
      await world.pass(300)
      assert.equal(begun, 1)
    })

    scenario('a refresh that fails leaves the old value to all', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      let failed = 0
      one.on('error', () => failed++)
      await world.run(one.flight(name(world)).run('a', { ttl: 60_000, stale: 60_000 }, () => 'old'))
      await world.pass(50)
      const broken = (): never => {
        throw new Error('broken')
      }
      await world.run(one.flight(name(world)).run('a', { ttl: 10, stale: 60_000 }, broken))
      await world.eventually(() => Promise.resolve(failed === 1))
      const kept = await world.run(two.flight(name(world)).run('a', { ttl: 60_000 }, () => 'new'))
      assert.deepEqual([kept.value, kept.shared], ['old', true])
    })

    scenario(
      'hashes of other programs, whatever fields they have, are neither written nor forgotten',
      async (world) => {
        world.leavesKeys = true
        const one = await world.connect()
        const flight = one.flight(name(world))
        for (const fields of [
          ['token', 'abc', 'user', '7'],
          ['state', 'paid', 'total', '7'],
        ]) {
          await world.raw('DEL', recordOf(world, 'a'))
          await world.raw('HSET', recordOf(world, 'a'), ...fields)
          await world.run(
            assert.rejects(
              flight.run('a', () => 1),
              { code: 'WRONG_KIND' },
            ),
          )
          await world.run(assert.rejects(flight.forget('a'), { code: 'WRONG_KIND' }))
          assert.deepEqual(await world.raw('HGETALL', recordOf(world, 'a')), fields)
          assert.equal(await world.raw('PTTL', recordOf(world, 'a')), -1)
        }
      },
    )

    scenario('an end in the future is no fresh one', async (world) => {
      world.leavesKeys = true
      const one = await world.connect()
      const [seconds] = (await world.raw('TIME')) as [string]
      const later = `${Number(seconds) + 86_400}000`
      await world.raw(
        'HSET',
        recordOf(world, 'a'),
        'state',
        'value',
        'token',
        '5',
        'ended',
        later,
        'form',
        'text',
        'value',
        '"old"',
      )
      const { value } = await world.run(one.flight(name(world)).run('a', { ttl: 60_000 }, () => 'computed'))
      assert.equal(value, 'computed')
    })

    scenario('messages are no place for why something failed', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const heard = await world.messages(channelOf(world, 'a'))
      const end = gate<number>()
      let begun = 0
      const first = assert.rejects(
        one.flight(name(world)).run('a', () => {
          begun++
          return end.promise
        }),
        /a secret/,
      )
      await world.eventually(() => Promise.resolve(begun === 1))
      const second = assert.rejects(
        two.flight(name(world)).run('a', () => 1),
        /a secret/,
      )
      await world.pass(100)
      end.fail(new Error('a secret'))
      await world.run(Promise.all([first, second]))
      assert.deepEqual(
        heard.filter((message) => message.includes('secret')),
        [],
      )
    })

    scenario('inspect says who computes, and how it ended', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect({ label: 'one' }), await world.connect()]
      const seen = () => world.run(two.flight(name(world)).inspect('a'))
      assert.deepEqual(await seen(), {})
      const { end, call: first } = await underWay<number>(world, one)
      assert.deepEqual(await seen(), { by: { client: one.id, label: 'one' } })
      end.open(1)
      await world.run(first)
      assert.equal((await seen()).ended?.outcome, 'value')
      assert.equal((await seen()).by, undefined)
    })

    scenario(
      'what it leaves expires: how it ended after ten seconds or its ttl, the counter of tokens stays',
      async (world) => {
        world.leavesKeys = true
        const one = await world.connect()
        await world.run(one.flight(name(world)).run('a', () => 1))
        await world.run(one.flight(name(world)).run('b', { ttl: 20_000, stale: 5000 }, () => 1))
        const left = async (key: string): Promise<number> => (await world.raw('PTTL', recordOf(world, key))) as number
        const [short, long] = [await left('a'), await left('b')]
        assert.ok(short > 0 && short <= 10_000, String(short))
        assert.ok(long > 20_000 && long <= 25_000, String(long))
        assert.deepEqual(
          ((await world.raw('KEYS', '*')) as string[]).filter((key) => key.includes('flight')).sort(),
          [recordOf(world, 'a'), recordOf(world, 'b'), `{${name(world)}}:flights:token`].sort(),
        )
      },
    )

    scenario('close ends those who wait; options are checked', async (world) => {
      world.leavesKeys = true
      const [one, two] = [await world.connect(), await world.connect()]
      const { end, call: first } = await underWay<number>(world, one)
      const waits = assert.rejects(
        two.flight(name(world)).run('a', () => 1),
        { code: 'CLOSED' },
      )
      await world.pass(50)
      await world.run(two.close())
      await world.run(waits)
      await world.run(
        assert.rejects(
          two.flight(name(world)).run('a', () => 1),
          { code: 'CLOSED' },
        ),
      )
      end.open(1)
      await world.run(first)
      const flight = one.flight(name(world))
      const bad: unknown[] = [
        { ttl: -1 },
        { ttl: 1.5 },
        { stale: NaN },
        { failure: 'other' },
        { wait: -1 },
        { lease: 0 },
        { ttll: 1 },
        { signal: {} },
      ]
      for (const options of bad)
        await world.run(
          assert.rejects(
            flight.run('a', options as object, () => 1),
            (error) => error instanceof TypeError || error instanceof RangeError,
          ),
        )
      await world.run(
        assert.rejects(
          flight.run('', () => 1),
          TypeError,
        ),
      )
      await world.run(assert.rejects(flight.run('a', undefined as never), TypeError))
      assert.throws(() => one.flight(name(world), { codecs: 1 } as object), TypeError)
    })
  })
