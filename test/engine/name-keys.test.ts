import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, EngineError } from 'holdfast'
import { keysOf, NameKeys } from '#src/engine/name-keys.js'
import { Redis } from 'ioredis'
import { type Client, redisEngine, scenarios, virtualEngine } from '../support/engines.js'
import { startRedis } from '../support/redis-server.js'

type Call = (client: Client, name: string) => Promise<unknown>

const never = (): never => assert.fail('it runs')

/** For each kind: a key beside the first one, and a call that needs it. */
const BESIDE: readonly (readonly [kind: string, key: (name: string) => string, call: Call])[] = [
  ['lock', (name) => `holdfast_line:{${name}}`, (client, name) => client.lock(name).acquire()],
  ['fairLock', (name) => `redisson_lock_queue:{${name}}`, (client, name) => client.fairLock(name).acquire()],
  ['fencedLock', (name) => `redisson_lock_token:{${name}}`, (client, name) => client.fencedLock(name).acquire()],
  ['keyedLock', (name) => `holdfast_keyed_line:{${name}}`, (client, name) => client.keyedLock(name, ['a']).acquire()],
  [
    'permits',
    (name) => `{${name}}:timeout`,
    async (client, name) => {
      await client.permitSemaphore(name).trySetPermits(1)
      await client.permitSemaphore(name).acquire()
    },
  ],
  ['election', (name) => `holdfast_leader:{${name}}`, (client, name) => client.election(name).lead(never)],
  ['observe', (name) => `holdfast_leader:{${name}}`, (client, name) => client.election(name).leader()],
  ['slots', (name) => `{${name}}:slots:token`, (client, name) => client.slots(name).run('a', never)],
  ['slot', (name) => `{${name}}:slot:a`, (client, name) => client.slots(name).inspect('a')],
  ['last slot', (name) => `{${name}}:slots:last`, (client, name) => client.slots(name).last()],
  ['flights', (name) => `{${name}}:flights:token`, (client, name) => client.flight(name).run('a', never)],
  ['flight', (name) => `{${name}}:flight:a`, (client, name) => client.flight(name).run('a', never)],
]

for (const engine of [virtualEngine, redisEngine])
  void describe(`something else in a key, on ${engine.name}`, () => {
    const scenario = scenarios(engine)
    for (const [kind, keyOf, call] of BESIDE)
      scenario(`${kind} → the error names that key and its type`, async (world) => {
        world.leavesKeys = true
        const client = await world.connect()
        const key = keyOf(world.id)
        await world.raw('SADD', key, 'a')
        await world.run(
          assert.rejects(call(client, world.id), (error: Error) => {
            assert.ok(error instanceof EngineError && error.code === 'WRONG_KIND', String(error))
            assert.ok(error.message.includes(`look at `) && error.message.includes(`'${key}' (set)`), error.message)
            return true
          }),
        )
        assert.deepEqual(await world.raw('SMEMBERS', key), ['a'])
      })
  })

void test('a user who may not ask for types → the keys are named without them', async () => {
  const server = await startRedis()
  const redis = new Redis(server.url)
  await redis.call('ACL', 'SETUSER', 'weak', 'reset', 'on', '>pw', '~*', '&*', '+@all', '-type')
  const client = await connect({ url: server.url.replace('redis://', 'redis://weak:pw@'), presence: false })
  try {
    await redis.set('x', 'text')
    await assert.rejects(client.lock('x').acquire(), (error: Error) => {
      assert.match(error.message, /look at 'x', /)
      return true
    })
  } finally {
    redis.disconnect()
    await client.close()
    await server.stop()
  }
})

void test('which keys a command has', () => {
  assert.deepEqual(keysOf(['EVALSHA', 'sha', 2, 'a', 'b', 'argument'], undefined), ['a', 'b'])
  assert.deepEqual(keysOf(['EVAL_RO', 'text', '0', 'argument'], 'route'), [])
  assert.deepEqual(keysOf(['GETRANGE', 'a', '0', '1'], 'a'), ['a'])
  assert.deepEqual(keysOf(['PING'], undefined), [])
  // Each once, and none that shows the name of an owner.
  const read = '{a}:00000000-0000-8100-8000-000000000001:1234567890:rwlock_timeout'
  assert.deepEqual(keysOf(['EVALSHA', 'sha', 5, 'a', 'a', read, `${read}:1`, 'b'], undefined), ['a', 'b'])
})

void test('many keys, long ones, and keys that are gone → the error stays short, and says what it did', async () => {
  const error = new EngineError('WRONG_KIND', 'a key of x holds something', { target: 'x' })
  const keys = Array.from({ length: 10_000 }, (_, n) => `${n}\n`.repeat(1000))
  let asked = 0
  const many = await new NameKeys().of(error, keys, () => Promise.resolve(`type ${asked++}`))
  assert.ok(asked <= 12 && many.message.length < 1100 && !many.message.includes('\n'), many.message)
  assert.deepEqual([many.code, many.target], ['WRONG_KIND', 'x'])
  const gone = await new NameKeys().of(error, ['a'], () => Promise.resolve('none'))
  assert.equal(gone.message, error.message)
})

void test('the same keys again → asked once a second', async () => {
  const error = new EngineError('WRONG_KIND', 'x', {})
  const names = new NameKeys()
  let asked = 0
  const typeOf = (): Promise<string> => Promise.resolve(`type ${++asked}`)
  const told = await Promise.all([1, 2, 3].map(async () => (await names.of(error, ['a', 'b'], typeOf)).message))
  assert.deepEqual([new Set(told).size, asked], [1, 2])
  for (let n = 0; n < 1000; n++) await names.of(error, [`${n}`], () => Promise.resolve('set'))
})
