import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Client, connect } from 'holdfast'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import type { Arg } from '#src/lua/values.js'
import { seeded } from '../support/random.js'
import { cpuOf } from '../support/main-thread-cpu.js'
import { startRedis, type RedisServer } from '../support/redis-server.js'
import { slownessOf } from '../support/server-pace.js'
import {
  type Call,
  calls,
  type Commands,
  HEARD,
  ID,
  large,
  NORMAL,
  strange,
  type Word,
} from './hostile-synchronizers.js'

/** HOLDFAST_HOSTILE=20000 HOLDFAST_SEED=1 node --test .build/test/lua/hostile-synchronizers.test.js: all of the large ones, and larger ones. */
const ALL = Number(process.env['HOLDFAST_HOSTILE'] ?? 0) >= 20_000
const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1e6)

/** Of the processor's time, ms, since the machine does something else meanwhile; the least of so many tries, in so many rounds. */
const LONGEST = 5
const TRIES = 5
const ROUNDS = 4
const MOST = 3400

const keyOf = (position: number): string => `k${position}`
const keysOf = ({ roles }: Call): string[] => roles.map((_, i) => keyOf(i))
const told = ({ script, args }: Call): string => `${script.name} (${args.map(String).join(' ').slice(0, 60)})`

interface Case {
  readonly call: Call
  readonly position: number
  readonly title: string
  /** What is there before, with its keys. */
  readonly fill: readonly (readonly Word[])[]
}
const toldOf = ({ call, position, title }: Case): string => `${told(call)}: ${title} at KEYS[${position + 1}]`

const at = (key: string, commands: Commands): Word[][] =>
  commands.map(([command, ...words]) => [command, key, ...words])

/** What only clients of ours know: what stands there says nothing of the kind, and of a line the others may be served first. */
const KEPT_BESIDE = /^(?:note|queue|deadlines|amounts)$/

/** Each strange content at each key of each script; the other keys are in use, or empty. */
const cases: readonly Case[] = calls.flatMap((call) =>
  call.roles.flatMap((role, position) =>
    strange(role).flatMap(({ title, commands }) =>
      [true, false].map((inUse) => ({
        call,
        position,
        title: inUse ? `${title}, the others in use` : title,
        fill: call.roles.flatMap((other, i) =>
          at(keyOf(i), i === position ? commands : inUse && other !== 'note' ? (NORMAL[other] ?? []) : []),
        ),
      })),
    ),
  ),
)

/** A reply that the link believes, or an error that says what stands there. */
const check = (it: Case, reply: unknown): void => {
  const { script, args } = it.call
  const keys = keysOf(it.call)
  if (reply instanceof Error) {
    // That is none of what it counts.
    assert.ok(!it.title.startsWith('a far expiry'), `${toldOf(it)} → ${reply.message}`)
    assert.match(
      reply.message,
      /^(?:WRONGKIND|WRONGTYPE|ERR (?:hash )?value is not an integer|ERR increment or decrement would overflow)/,
      toldOf(it),
    )
    return
  }
  const sent = ['EVALSHA', script.sha, keys.length, ...keys, ...args] as readonly Arg[]
  assert.ok(script.fits(reply, sent), `${toldOf(it)} → ${JSON.stringify(reply)}, which is no reply of its kind`)
}

void describe('what another program wrote at the keys of a synchronizer', () => {
  let server: RedisServer
  let redis: Redis
  let listener: Redis
  before(async () => {
    server = await startRedis(['--enable-debug-command', 'yes'])
    redis = new Redis(server.port, { protocolVersion: 2 } as object)
    listener = new Redis(server.port)
    await listener.subscribe(`g:${HEARD}`)
  })
  after(async () => {
    listener.disconnect()
    redis.disconnect()
    await server.stop()
  })

  test('anything strange → a reply of its kind, or an error before anything is written', async () => {
    for (let from = 0; from < cases.length; from += 100) {
      const some = cases.slice(from, from + 100)
      const line = redis.pipeline()
      for (const { call, fill } of some) {
        line.call('FLUSHDB')
        for (const [command, ...rest] of fill) line.call(String(command), ...rest)
        line.call('DEBUG', 'DIGEST')
        line.call('EVAL', call.script.text, call.roles.length, ...keysOf(call), ...call.args)
        line.call('DEBUG', 'DIGEST')
      }
      const replies = (await line.exec()) as [Error | null, unknown][]
      let place = 0
      for (const it of some) {
        place += it.fill.length + 1
        const [was, [error, reply], is] = replies.slice(place, place + 3) as [
          [null, string],
          [Error | null, unknown],
          [null, string],
        ]
        place += 3
        check(it, error ?? reply)
        if (error !== null && !KEPT_BESIDE.test(it.call.roles[it.position] as string))
          assert.equal(is[1], was[1], `${toldOf(it)} → ${error.message}, and something has changed`)
      }
    }
  })

  const draw = seeded(seed)
  for (const count of ALL ? [100_000, 300_000] : [100_000]) {
    test(`${count} of anything (seed ${seed}) → no more than ${LONGEST} ms`, async () => {
      const late: string[] = []
      for (const { title, state } of large(count)) {
        if (!ALL && draw() > 0.12) continue
        await redis.flushall()
        for (const [role, commands] of Object.entries(state)) {
          const line = redis.pipeline()
          for (const [command, ...words] of at(`all ${role}`, commands)) line.call(String(command), ...words)
          for (const [error] of (await line.exec()) ?? []) assert.equal(error, null)
        }
        for (const call of calls) {
          if (!ALL && draw() > 0.5) continue
          // Of another program it is at any key; what has our layout is all there is.
          const places =
            '*' in state ? call.roles.map((_, i) => [i]) : [call.roles.flatMap((role, i) => (role in state ? [i] : []))]
          for (const position of places) {
            if (position.length === 0 || (!ALL && '*' in state && draw() > 0.4)) continue
            const copies = position.map((i): [string, string] => [
              `all ${'*' in state ? '*' : call.roles[i]}`,
              keyOf(i),
            ])
            const run = [call.script.text, keysOf(call), call.args, copies] as const
            const { shortest, commands } = await shortestOf(...run)
            const what = `${told(call)}: ${title} at ${position.map((i) => i + 1).join()}`
            assert.ok(commands <= MOST, `${what}: ${commands} commands`)
            const ms = shortest > LONGEST ? await tooLong(...run) : undefined
            if (ms !== undefined) late.push(`${what}: ${ms} ms`)
          }
        }
      }
      assert.deepEqual(late, [])
    })
  }

  /** What a script takes, in ms of a quiet machine, if that is too long in each round. */
  const tooLong = async (...run: Parameters<typeof shortestOf>): Promise<number | undefined> => {
    let shortest = Infinity
    for (let round = 0; round < ROUNDS && shortest > LONGEST; round++) {
      const slowness = await slownessOf(redis, 'commands')
      shortest = Math.min(shortest, (await shortestOf(...run)).shortest / slowness)
    }
    return shortest > LONGEST ? shortest : undefined
  }

  const shortestOf = async (
    text: string,
    keys: readonly string[],
    args: readonly Word[],
    copies: readonly [string, string][],
  ) => {
    let [shortest, commands] = [Infinity, 0]
    for (let tries = 0; tries < TRIES && shortest > LONGEST; tries++) {
      const line = redis.pipeline().unlink(...keys)
      for (const [from, to] of copies) line.call('COPY', from, to)
      line.call('CONFIG', 'RESETSTAT').call('INFO', 'cpu')
      line.call('EVAL', text, keys.length, ...keys, ...args)
      line.call('INFO', 'cpu').call('INFO', 'commandstats')
      const replies = ((await line.exec()) ?? []).map(([, reply]) => reply)
      const [began, , ended, stats] = replies.slice(-4) as [string, unknown, string, string]
      shortest = Math.min(shortest, cpuOf(ended) - cpuOf(began))
      commands = 0
      for (const [, name, times] of stats.matchAll(/cmdstat_([\w|]+):calls=(\d+)/g))
        if (!/^(?:config|info|eval$)/.test(name ?? '')) commands += Number(times)
    }
    return { shortest, commands }
  }
})

void describe('what another program wrote at the keys of a synchronizer, on the embedded server', () => {
  const limited = ({ script }: Call): string => `local real, calls = redis, 0
local redis = setmetatable({}, { __index = real })
redis.call = function(...)
  calls = calls + 1
  if calls > ${MOST} then error('too many commands') end
  return real.call(...)
end
${script.text}`

  test(`anything strange (seed ${seed}) → a reply of its kind, or an error`, () => {
    const draw = seeded(seed)
    const server = new MemoryServer(systemClock)
    const execute = (...words: readonly Word[]): unknown =>
      server.execute(words.map((word) => (Buffer.isBuffer(word) ? word.toString('latin1') : String(word))))
    for (const it of cases) {
      if (draw() > (ALL ? 1 : 0.1) || it.title.startsWith('a stream')) continue
      execute('FLUSHALL')
      for (const words of it.fill) execute(...words)
      check(it, execute('EVAL', limited(it.call), it.call.roles.length, ...keysOf(it.call), ...it.call.args))
    }
    server.close()
  })
})

void describe('a client at keys that another program wrote', () => {
  let server: RedisServer
  let redis: Redis
  let client: Client
  before(async () => {
    server = await startRedis()
    redis = new Redis(server.port)
    client = await connect(server.url)
  })
  after(async () => {
    await client.close()
    redis.disconnect()
    await server.stop()
  })
  const FAR = '9000000000000000000'

  test('an expiry in very many years → remaining() tells of it', async () => {
    await redis.set('s', 5)
    await redis.call('PEXPIREAT', 's', FAR)
    assert.ok(((await client.semaphore('s').remaining()) ?? 0) > 1e15)
  })

  test('the leader’s lock expires in very many years → who leads is known', async () => {
    const election = client.election('e')
    const leader = await election.lead(async () => {
      assert.equal(await redis.call('PEXPIREAT', 'e', FAR), 1)
      return election.leader()
    })
    assert.equal(leader?.term, 1n)
  })

  test('a permit ends never, as another program writes it → its lease time is told', async () => {
    await redis.set('p', 5)
    await redis.zadd('{p}:timeout', 'inf', Buffer.from(ID, 'hex'))
    assert.ok((await client.permitSemaphore('p').leaseTime(ID)) > 1e15)
    assert.equal(await client.permitSemaphore('p').extend(ID, 30_000), true)
  })

  test('a rate that is no number → WRONG_KIND', async () => {
    await redis.hset('r', 'rate', 'text', 'interval', '1000', 'type', '0')
    await assert.rejects(client.rateLimiter('r').rate(), { code: 'WRONG_KIND' })
    await assert.rejects(client.rateLimiter('r').tryAcquire(), { code: 'WRONG_KIND' })
    const name = `r\n${'x'.repeat(1000)}`
    await redis.hset(name, 'rate', 'text', 'interval', '1000', 'type', '0')
    await assert.rejects(client.rateLimiter(name).rate(), {
      message: `the key of 'r\\n${'x'.repeat(98)}… (1002 characters)' holds a rate that is no number: "text"`,
    })
  })

  test('a count that no number of a client’s says → WRONG_KIND for all that change it, and it stays', async () => {
    for (const count of ['9007199254740993', '9000000000000000000', '-9007199254740993']) {
      await redis.set('c', count)
      await redis.set('q', count)
      const [semaphore, permits] = [client.semaphore('c'), client.permitSemaphore('q')]
      for (const step of [
        () => semaphore.release(),
        () => semaphore.addPermits(-5),
        () => semaphore.drain(),
        () => semaphore.acquire({ wait: 500 }),
        () => permits.addPermits(1),
        () => permits.setPermits(5),
        () => permits.available(),
        () => permits.acquire({ wait: 500 }),
      ])
        await assert.rejects(step(), { code: 'WRONG_KIND' })
      assert.equal(await redis.get('c'), count)
      assert.equal(await redis.get('q'), count)
    }
  })
})
