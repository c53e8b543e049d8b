import assert from 'node:assert/strict'
import { describe } from 'node:test'
import { EngineError } from 'holdfast'
import type { Scenario } from '../../support/engines.js'
import { engines, scenarios } from '../../support/engines.js'
import { rejection } from './lock/kind.js'

/** At most so many in so many seconds, from the first on: who is refused counts, and does not make it longer. */
const LIMIT = `
  local count = redis.call('INCR', KEYS[1])
  if count == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
  if count > tonumber(ARGV[2]) then return 0 end
  return 1
`

const coded = async (work: Promise<unknown>): Promise<string> => {
  const error = await rejection(work)
  assert.ok(error instanceof EngineError, String(error))
  return error.code
}

/** What people type into redis-cli when they learn scripts and messages, and what they see there. */
const examples = (scenario: Scenario): void => {
  scenario(
    'EVAL "return {KEYS[1],KEYS[2],ARGV[1],ARGV[2]}" 2 key1 key2 first second',
    async (w) => {
      const client = await w.connect()
      const echo = client.script('return {KEYS[1],KEYS[2],ARGV[1],ARGV[2]}')
      const answer = await echo.run({ keys: ['key1', 'key2'], args: ['first', 'second'], returns: 'list' })
      assert.deepEqual(answer, ['key1', 'key2', 'first', 'second'])
    },
    'scripts over several slots',
  )

  scenario('EVAL "return redis.call(\'set\',KEYS[1],ARGV[1])" 1 foo bar, then GET foo', async (w) => {
    const client = await w.connect()
    const set = client.script("return redis.call('set',KEYS[1],ARGV[1])")
    assert.equal(await set.run({ keys: ['foo'], args: ['bar'], returns: 'status' }), 'OK')
    assert.equal(await set.run({ keys: ['foo'], args: ['bar'], returns: 'boolean' }), true)
    assert.equal(await w.raw('GET', 'foo'), 'bar')
    assert.equal(await client.script("return redis.call('get',KEYS[1])").run({ keys: ['foo'] }), 'bar')
    await w.raw('DEL', 'foo')
  })

  scenario('SCRIPT LOAD, EVALSHA, SCRIPT EXISTS, SCRIPT FLUSH', async (w) => {
    const { scripts } = await w.connect()
    const sha = await scripts.load("return 'hello moto'")
    assert.equal(sha, '232fd51614574cf0867b83d384a5e898cfd24e5a')
    assert.equal(await scripts.run(sha), 'hello moto')
    assert.deepEqual(await scripts.exists(sha, 'ffffffffffffffffffffffffffffffffffffffff'), [true, false])
    await scripts.flush()
    assert.deepEqual(await scripts.exists(sha), [false])
    assert.equal(await coded(scripts.run(sha)), 'NOSCRIPT')
  })

  scenario('SCRIPT KILL where nothing runs', async (w) => {
    const { scripts } = await w.connect()
    assert.equal(await coded(scripts.kill()), 'NOTBUSY')
  })

  scenario('INCR, EXPIRE and a limit: three in ten seconds', async (w) => {
    const client = await w.connect()
    const limit = client.script(LIMIT)
    const key = `LIMIT:${w.id}`
    const call = (): Promise<number | undefined> => limit.run({ keys: [key], args: [10, 3], returns: 'integer' })
    assert.deepEqual([await call(), await call(), await call(), await call(), await call()], [1, 1, 1, 0, 0])
    assert.equal(await w.raw('GET', key), '5')
    const left = Number(await w.raw('PTTL', key))
    assert.ok(left > 0 && left <= 10_000, String(left))
    // As if the ten seconds were over.
    await w.raw('PEXPIRE', key, 1)
    await w.pass(20)
    assert.equal(await call(), 1)
    await w.raw('DEL', key)
  })

  scenario('the same numbers as JSON → digits still, so EXPIRE takes them; as Java’s Long it does not', async (w) => {
    const client = await w.connect()
    const limit = client.script(LIMIT, { codec: 'jackson' })
    assert.equal(await limit.run({ keys: [`LIMIT:${w.id}`], args: [10, 3], returns: 'integer' }), 1)
    await w.raw('DEL', `LIMIT:${w.id}`)
    const error = await rejection(limit.run({ keys: [`LIMIT:${w.id}`], args: [10n, 3n] }))
    assert.match((error as Error).message, /^ERR value is not an integer or out of range/)
    await w.raw('DEL', `LIMIT:${w.id}`)
  })

  scenario('SUBSCRIBE news, PUBLISH news hello: who is there hears it, and nothing is kept', async (w) => {
    const [reader, writer] = [await w.connect(), await w.connect()]
    const news = writer.topic<string>('news', { codec: 'string' })
    assert.equal(await news.publish('too early'), 0)
    const heard: string[] = []
    const subscription = await reader
      .topic<string>('news', { codec: 'string' })
      .subscribe((text) => void heard.push(text))
    // A node of a cluster counts those who listen to it alone.
    const told = await news.publish('hello')
    assert.ok(w.slotted ? told <= 1 : told === 1, `${told} were told`)
    await w.eventually(() => heard.length === 1)
    assert.deepEqual(heard, ['hello'])
    await subscription.unsubscribe()
    assert.equal(await news.publish('too late'), 0)
  })
}

for (const engine of engines) {
  describe(`the examples of the console on ${engine.name}`, () => {
    examples(scenarios(engine, undefined, 0, 'topics and scripts'))
  })
}
