import assert from 'node:assert/strict'
import { describe } from 'node:test'
import type { Returns } from 'holdfast'
import { ClosedError, EngineError } from 'holdfast'
import type { Scenario } from '../../support/engines.js'
import { engines, memoryEngine, scenarios } from '../../support/engines.js'
import { isBadArgument, rejection } from './lock/kind.js'

/** A key of slot 0: where a script without keys goes in a cluster. */
const FOO = '{06S}foo'
const GET_FOO = `return redis.call('get', '${FOO}')`
const UNKNOWN = 'f'.repeat(40)

const refused = async (code: string, text: RegExp, work: Promise<unknown>): Promise<void> => {
  const error = await rejection(work)
  assert.ok(error instanceof EngineError, String(error))
  assert.equal(error.code, code)
  assert.match(error.message, text)
}

/** Redisson's own tests of its scripts. */
const redissonLines = (scenario: Scenario): void => {
  scenario('SC03: lists within a list → as they are', async (w) => {
    const client = await w.connect()
    const members = Array.from({ length: 100 }, (_, i) =>
      String.fromCharCode(97 + (i % 26)).repeat(1 + Math.floor(i / 26)),
    )
    await w.raw('ZADD', w.id, ...members.flatMap((member) => [0, member]))
    const script = client.script(`
      local all = {}
      for i, limit in ipairs(ARGV) do all[i] = redis.call('ZRANGEBYLEX', KEYS[1], '-', '+', 'LIMIT', 0, limit) end
      return all
    `)
    const lists = (await script.run({ keys: [w.id], args: [5, 15, 25], returns: 'list' })) as string[][]
    assert.deepEqual(
      lists.map((list) => list.length),
      [5, 15, 25],
    )
    assert.deepEqual(lists[0], [...members].sort().slice(0, 5))
    await w.raw('DEL', w.id)
  })

  scenario('SC04, SC05, SC06: text as text; a list ends at its first nil', async (w) => {
    const client = await w.connect()
    assert.equal(await client.script("return 'hello'").run({ returns: 'status' }), 'hello')
    assert.equal(await client.script("return 'hello'").run(), 'hello')
    const list = client.script("return {'1','2','3.3333','foo',nil,'bar'}")
    assert.deepEqual(await list.run({ returns: 'list' }), ['1', '2', '3.3333', 'foo'])
  })

  scenario('SC08: an argument by a codec → what comes back is equal', async (w) => {
    const client = await w.connect()
    const value = { text: 'ä€🔒', list: [1, { deep: null }], yes: true }
    for (const codec of ['json', 'jackson'] as const)
      assert.deepEqual(await client.script('return ARGV[1]', { codec }).run({ args: [value] }), value)
  })

  scenario(
    'SC09, SC10: known by its SHA until the scripts are flushed, and not loaded behind one’s back',
    async (w) => {
      const { scripts } = await w.connect()
      await w.raw('SET', FOO, 'bar')
      const sha = await scripts.load(GET_FOO)
      assert.equal(sha, 'f9b76e6e1125d65aa48b549e1766839dfbd0aa0a')
      assert.deepEqual(await scripts.exists(sha, UNKNOWN), [true, false])
      assert.equal(await scripts.run(sha), 'bar')
      await scripts.flush()
      assert.deepEqual(await scripts.exists(sha), [false])
      await refused('NOSCRIPT', /^NOSCRIPT No matching script/, scripts.run(sha))
      await refused('NOSCRIPT', /^NOSCRIPT/, scripts.run(sha, { readOnly: true }))
      assert.deepEqual(await scripts.exists(sha), [false])
      await w.raw('DEL', FOO)
    },
  )

  scenario('SC11, SC12, SC13, SC14: loaded or run before → run by its SHA', async (w) => {
    const client = await w.connect()
    await w.raw('SET', FOO, 'bar')
    assert.equal(await client.scripts.run(await client.scripts.load(GET_FOO), { returns: 'status' }), 'bar')
    await client.scripts.flush()
    const script = client.script(GET_FOO)
    assert.equal(await script.run(), 'bar')
    assert.equal(await client.scripts.run(script.sha), 'bar')
    await w.raw('DEL', FOO)
  })
}

const answers = (scenario: Scenario): void => {
  const read = async (w: Parameters<Parameters<Scenario>[1]>[0], lua: string): Promise<Partial<Returns>> => {
    const script = (await w.connect()).script(lua)
    const all: Record<string, unknown> = {}
    for (const returns of ['value', 'boolean', 'integer', 'status', 'list'] as const)
      all[returns] = await script.run({ returns }).catch((error: unknown) => (error as Error).name)
    return all
  }

  scenario('what a script answers → read as it was asked for', async (w) => {
    const no = 'TypeError'
    const table: [lua: string, value: unknown, boolean: unknown, integer: unknown, status: unknown, list: unknown][] = [
      ['return nil', undefined, false, undefined, undefined, []],
      ['return false', undefined, false, undefined, undefined, []],
      ['return true', 1, true, 1, no, no],
      ['return 0', 0, false, 0, no, no],
      ['return -7.9', -7, false, -7, no, no],
      ["return redis.status_reply('OK')", 'OK', true, no, 'OK', no],
      ["return redis.status_reply('NO')", 'NO', false, no, 'NO', no],
      ["return '12'", '12', false, 12, '12', no],
      ["return 'ä'", 'ä', false, no, 'ä', no],
      ["return {1, 'a', {false, 2}}", [1, 'a', [undefined, 2]], false, no, no, [1, 'a', [undefined, 2]]],
      ['return {}', [], false, no, no, []],
    ]
    for (const [lua, value, boolean, integer, status, list] of table)
      assert.deepEqual(await read(w, lua), { value, boolean, integer, status, list }, lua)
  })

  scenario(
    'a status, by a codec that has no such value → its text; what else it cannot read → its error',
    async (w) => {
      const client = await w.connect()
      for (const codec of ['json', 'jackson', 'long'] as const) {
        const run = (lua: string): Promise<unknown> => w.run(client.script(lua, { codec }).run({ keys: ['k'] }))
        assert.equal(await run("return redis.call('SET', KEYS[1], '5')"), 'OK')
        assert.deepEqual(await run("return {redis.status_reply('OK'), redis.call('GET', KEYS[1])}"), ['OK', 5])
        await assert.rejects(run("return 'no value'"))
      }
      await w.raw('DEL', 'k')
    },
  )

  scenario(
    'an error among what is answered → an error with its code there; alone it rejects',
    async (w) => {
      const client = await w.connect()
      const [one, error] = (await client.script("return {1, redis.error_reply('OOM no room')}").run()) as unknown[]
      assert.equal(one, 1)
      assert.ok(error instanceof EngineError)
      assert.deepEqual([error.code, error.message], ['OOM', 'OOM no room'])
      await refused('OOM', /^OOM no room/, client.script("return redis.error_reply('OOM no room')").run())
      await refused(
        'WRONGTYPE',
        /^WRONGTYPE /,
        client
          .script(
            `redis.call('LPUSH', KEYS[1], 1) local all = redis.pcall('GET', KEYS[1])
      redis.call('DEL', KEYS[1]) return all`,
          )
          .run({ keys: [w.id] }),
      )
      await refused('SERVER', /^ERR .*oh dear/, client.script("error('oh dear')").run())
      await refused('SERVER', /^ERR .*compiling/, client.script('this is no Lua').run())
    },
    'errors within replies',
  )
}

const arguments_ = (scenario: Scenario): void => {
  scenario('keys and arguments → in their order; text, numbers and bytes as they are', async (w) => {
    const client = await w.connect()
    const echo = client.script('return {KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3], #ARGV[4], tonumber(ARGV[2]) + 1}')
    const bytes = Uint8Array.of(0, 255, 10, 13)
    assert.deepEqual(await echo.run({ keys: ['{a}1', '{a}2'], args: ['ä', 41, 2n ** 62n, bytes] }), [
      ...['{a}1', '{a}2', 'ä', '41', '4611686018427387904', 4, 42],
    ])
    const same = client.script('return ARGV[1]', { codec: 'bytes' })
    assert.deepEqual(await same.run({ args: [bytes] }), bytes)
    assert.equal(await client.script('return #KEYS + #ARGV').run(), 0)
  })

  scenario('a codec of one’s own → asked for each argument and each answer', async (w) => {
    const client = await w.connect()
    const codec = {
      encode: (value: unknown) => `<${String(value)}>`,
      decode: (data: Uint8Array) => Buffer.from(data).toString().slice(1, -1).toUpperCase(),
    }
    const script = client.script('return {ARGV[1], ARGV[1] .. 1}', { codec })
    assert.deepEqual(await script.run({ args: ['a'] }), ['A', 'A>'])
    const broken = client.script('return 1', { codec: { ...codec, encode: () => 7 as unknown as string } })
    assert.ok((await rejection(broken.run({ args: [1] }))) instanceof TypeError)
  })

  scenario('mapName → names of keys are mapped, arguments are not', async (w) => {
    const client = await w.connect({ mapName: (name) => `app:${name}` })
    const script = client.script('return {KEYS[1], ARGV[1]}')
    assert.deepEqual(await script.run({ keys: ['k'], args: ['k'] }), ['app:k', 'k'])
    assert.deepEqual(await client.scripts.run(script.sha, { keys: ['k'], args: ['k'] }), ['app:k', 'k'])
  })

  scenario('readOnly → what writes is refused, and has not written', async (w) => {
    const client = await w.connect()
    const write = client.script("return redis.call('SET', KEYS[1], 'x')", { readOnly: true })
    await refused('SERVER', /^ERR Write commands are not allowed from read-only scripts/, write.run({ keys: [w.id] }))
    assert.equal(await w.raw('EXISTS', w.id), 0)
    await w.raw('SET', w.id, 'there')
    assert.equal(
      await client.script("return redis.call('GET', KEYS[1])", { readOnly: true }).run({ keys: [w.id] }),
      'there',
    )
    await w.raw('DEL', w.id)
  })

  scenario('bad arguments → TypeError before anything is sent', async (w) => {
    const client = await w.connect()
    const script = client.script('return redis.call("SET", "sent", 1)')
    const bad = (argument: string, value: unknown) => (error: unknown) => isBadArgument(error, argument, value)
    assert.throws(() => client.script(''), bad('lua', ''))
    assert.throws(() => client.script(7 as never), bad('lua', 7))
    assert.throws(() => client.script('return 1', { codec: 'xml' as never }), bad('codec', 'xml'))
    assert.throws(() => client.script('return 1', { readOnly: 'yes' as never }), bad('readOnly', 'yes'))
    for (const [call, argument, value] of [
      [{ keys: 'k' }, 'keys', 'k'],
      [{ keys: ['a', 7] }, 'keys[1]', 7],
      [{ keys: [''] }, 'keys[0]', ''],
      [{ args: 'a' }, 'args', 'a'],
      [{ returns: 'LONG' }, 'returns', 'LONG'],
      [{ args: [undefined] }, 'string codec', undefined],
      [{ args: new Array(3) }, 'string codec', undefined],
      [{ keys: new Array(1) }, 'keys[0]', undefined],
      [{ args: [null] }, 'string codec', null],
      [{ args: [{}] }, 'string codec', {}],
      [7, 'options', 7],
    ] as const)
      bad(argument, value)(await rejection(script.run(call as never)))
    bad('lua', '')(await rejection(client.scripts.load('')))
    bad('sha', 7)(await rejection(client.scripts.run(7 as never)))
    bad('shas[1]', 7)(await rejection(client.scripts.exists('a', 7 as never)))
    assert.equal(await w.raw('EXISTS', 'sent'), 0)
  })

  scenario('on a closed client → ClosedError', async (w) => {
    const client = await w.connect()
    const script = client.script('return 1')
    await client.close()
    for (const call of [
      script.run(),
      client.scripts.load('return 1'),
      client.scripts.run(UNKNOWN),
      client.scripts.kill(),
    ])
      assert.ok((await rejection(call)) instanceof ClosedError)
  })
}

const keeping = (scenario: Scenario): void => {
  scenario('the scripts are flushed → a script and a lock go on', async (w) => {
    const client = await w.connect()
    const script = client.script("return redis.call('INCR', KEYS[1])")
    const hold = await client.lock(`${w.id}:lock`).acquire()
    assert.equal(await script.run({ keys: [w.id] }), 1)
    await client.scripts.flush()
    assert.equal(await script.run({ keys: [w.id] }), 2)
    assert.equal(await hold.release(), true)
    await w.raw('DEL', w.id)
  })

  scenario('kill where no script runs → NOTBUSY', async (w) => {
    const client = await w.connect()
    await refused('NOTBUSY', /^NOTBUSY No scripts in execution/, client.scripts.kill())
  })
}

describe('scripts that do not end, on memory', () => {
  const scenario = scenarios(memoryEngine)
  for (const [what, lua] of [
    ['a loop', 'while true do end'],
    ['a loop that catches all errors', 'while true do pcall(function() while true do end end) end'],
    ['a coroutine, by a jump on a condition', 'coroutine.wrap(function() repeat until false end)()'],
    ['calls of commands', "while true do redis.call('PING') end"],
  ] as const) {
    scenario(`${what} → stopped with BUSY; what was written stays, and the next script runs`, async (w) => {
      const client = await w.connect()
      const endless = client.script(`redis.call('INCR', KEYS[1]) ${lua}`)
      await refused('BUSY', /^BUSY Script did not end and was stopped/, endless.run({ keys: [w.id] }))
      assert.equal(await client.script("return redis.call('GET', KEYS[1])").run({ keys: [w.id] }), '1')
      const hold = await client.lock(`${w.id}:lock`).acquire()
      assert.equal(await hold.release(), true)
      await w.raw('DEL', w.id)
    })
  }
})

for (const engine of engines) {
  describe(`scripts on ${engine.name}`, () => {
    const scenario = scenarios(engine, undefined, 0, 'topics and scripts')
    redissonLines(scenario)
    answers(scenario)
    arguments_(scenario)
    keeping(scenario)
  })
}
