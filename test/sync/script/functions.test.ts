import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect, EngineError } from 'holdfast'
import { rejection } from '../../suites/contract/lock/kind.js'
import { startCluster } from '../../support/redis-cluster.js'
import { type Broken, onServer } from '../../support/server.js'

const CODE = `#!lua name=orders
redis.register_function('add', function(keys, args) return redis.call('INCRBY', keys[1], args[1]) end)
redis.register_function{function_name='look', callback=function(keys, args) return redis.call('GET', keys[1]) end,
  description='reads', flags={'no-writes'}}
redis.register_function('echo', function(keys, args) return {keys[1], args[1], 7} end)
redis.register_function('same', function(keys, args) return args[1] end)
redis.register_function('endless', function() while true do end end)
`
const NAMES = ['add', 'echo', 'endless', 'look', 'same']

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await rejection(work)
  assert.ok(error instanceof EngineError, String(error))
  return error.code
}

const isBusy = ({ redis }: Broken): Promise<boolean> =>
  redis.get('x').then(
    () => false,
    (error: unknown) => (error as Error).message.startsWith('BUSY '),
  )

describe('Redis Functions on a server', () => {
  onServer('load, call, list, replace and delete', async ({ open, redis }) => {
    const { functions } = await open({ mapName: (name) => `app:${name}` })
    assert.equal(await functions.load(CODE), 'orders')
    assert.equal(await functions.call('add', { keys: ['n'], args: [3], returns: 'integer' }), 3)
    assert.equal(await redis.get('app:n'), '3')
    assert.equal(await functions.call('look', { keys: ['n'], readOnly: true }), '3')
    const value = { text: 'ä€🔒' }
    assert.deepEqual(await functions.call('same', { args: [value], codec: 'json' }), value)
    assert.deepEqual(await functions.call('echo', { keys: ['k'], args: ['a'], returns: 'list' }), ['app:k', 'a', 7])
    assert.equal(await codeOf(functions.call('add', { keys: ['n'], args: [1], readOnly: true })), 'SERVER')
    assert.equal(await redis.get('app:n'), '3')
    const [library, ...others] = await functions.list({ code: true })
    assert.deepEqual([others, library?.name, library?.engine, library?.code], [[], 'orders', 'LUA', CODE])
    assert.deepEqual(library?.functions.map(({ name }) => name).sort(), NAMES)
    const look = library.functions.find(({ name }) => name === 'look')
    assert.deepEqual(look, { name: 'look', description: 'reads', flags: ['no-writes'] })
    assert.deepEqual(await functions.list({ pattern: 'x*' }), [])
    assert.equal((await functions.list({ pattern: 'ord*' }))[0]?.code, undefined)
    assert.equal(await codeOf(functions.load(CODE)), 'SERVER')
    assert.equal(await functions.load(CODE, { replace: true }), 'orders')
    assert.deepEqual(await functions.stats(), { libraries: 1, functions: 5 })
    await functions.delete('orders')
    assert.deepEqual(await functions.stats(), { libraries: 0, functions: 0 })
    assert.equal(await codeOf(functions.call('look', { keys: ['n'] })), 'SERVER')
  })

  onServer('dump and restore, by each policy; flush', async ({ open }) => {
    const { functions } = await open()
    await functions.load(CODE)
    const dump = await functions.dump()
    assert.equal(await codeOf(functions.restore(dump)), 'SERVER')
    await functions.restore(dump, { policy: 'replace' })
    await functions.load("#!lua name=other\nredis.register_function('other', function() return 1 end)")
    await functions.restore(dump, { policy: 'flush' })
    assert.deepEqual(
      (await functions.list()).map(({ name }) => name),
      ['orders'],
    )
    await functions.flush()
    assert.deepEqual(await functions.list(), [])
    await functions.restore(dump)
    assert.equal(await functions.call('add', { keys: ['n'], args: [1] }), 1)
    await functions.flush()
  })

  onServer('wrong arguments → TypeError, nothing sent', async ({ open, redis }) => {
    const { functions } = await open()
    const before = await redis.info('commandstats')
    for (const call of [
      () => functions.load(''),
      () => functions.load(CODE, { replace: 1 as never }),
      () => functions.call(7 as never),
      () => functions.call('x', { returns: 'nonsense' as never }),
      () => functions.delete(''),
      () => functions.list({ pattern: 7 as never }),
      () => functions.restore('text' as never),
      () => functions.restore(new Uint8Array(1), { policy: 'nonsense' as never }),
    ])
      assert.ok((await rejection(call())) instanceof TypeError, String(call))
    const calls = (text: string): string[] => text.match(/cmdstat_(fcall|function)\S*/g) ?? []
    assert.deepEqual(calls(await redis.info('commandstats')), calls(before))
  })

  onServer(
    'a function that does not end → stats names it, and kill ends it',
    async (broken) => {
      const { functions } = await broken.open({ commandTimeout: 30_000 })
      await functions.load(CODE)
      const endless = rejection(functions.call('endless', { args: ['a'] }))
      await broken.until(() => isBusy(broken))
      const { running } = await functions.stats()
      assert.deepEqual([running?.name, running?.command], ['endless', ['FCALL', 'endless', '0', 'a']])
      assert.ok((running?.duration ?? 0) > 0)
      await functions.kill()
      assert.ok((await endless) instanceof EngineError)
      assert.equal(await codeOf(functions.kill()), 'NOTBUSY')
      await functions.flush()
    },
    ['--lua-time-limit', '50'],
  )
})

test('Redis Functions on a cluster → every node that accepts writes has them', { timeout: 60_000 }, async () => {
  const cluster = await startCluster()
  const client = await connect({ url: cluster.url })
  try {
    await client.functions.load(CODE)
    for (const key of ['a', 'b', 'c', 'd', 'e', 'f'])
      assert.equal(await client.functions.call('add', { keys: [key], args: [2] }), 2)
    await client.functions.delete('orders')
    assert.deepEqual(await client.functions.list(), [])
  } finally {
    await client.close()
    await cluster.stop()
  }
})

test('Redis Functions on memory: → the error says that there are none, and scripts stay as they were', async () => {
  const client = await connect('memory:')
  const error = await rejection(client.functions.load(CODE))
  assert.match(String(error), /does not support the command 'function'/)
  assert.equal(await client.script('return 1', { readOnly: true }).run(), 1)
  await client.close()
})
