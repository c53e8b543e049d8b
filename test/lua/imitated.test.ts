import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import type { Script } from '#src/lua/script.js'
import type { Arg } from '#src/lua/values.js'
import { seeded } from '../support/random.js'
import { startRedis, type RedisServer } from '../support/redis-server.js'
import { imitation, lockScripts, type Word } from './imitated.js'

/** HOLDFAST_HOSTILE=20000 HOLDFAST_SEED=1 node --test .build/test/lua/imitated.test.js: so many cases of each sort. */
const CASES = Number(process.env['HOLDFAST_HOSTILE'] ?? 1500)
const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1e6)

/** Who passes a hold on has been answered by another script before. */
const covered = lockScripts.filter(({ name }) => !name.endsWith('pass'))

const told = (script: Script, fill: unknown, args: unknown): string =>
  `seed ${seed}: ${script.name} ${JSON.stringify(args)}, after ${JSON.stringify(fill)}`

/** Whatever it is, the link takes it for an answer. */
const check = (script: Script, { fill, keys, args }: ReturnType<typeof imitation>, reply: unknown): void => {
  const what = told(script, fill, args)
  if (reply instanceof Error)
    assert.doesNotMatch(reply.message, /^BUSY|attempt to|bad argument|WRONGTYPE|valid float/, what)
  else {
    const sent: readonly Arg[] = ['EVALSHA', script.sha, String(keys.length), ...keys, ...args.map(String)]
    assert.ok(script.fits(reply ?? null, sent), `${what} → ${JSON.stringify(reply)}`)
  }
}
void describe('keys that look as if a lock had written them, with numbers and expiries of another', () => {
  let server: RedisServer
  let redis: Redis
  before(async () => {
    server = await startRedis()
    redis = new Redis(server.port, { protocolVersion: 2 } as object)
  })
  after(async () => {
    redis.disconnect()
    await server.stop()
  })

  test(`${CASES} cases on a server (seed ${seed}) → each reply is one that the link takes`, async () => {
    const draw = seeded(seed)
    for (let i = 0; i < CASES; i++) {
      const script = covered[i % covered.length] as Script
      const it = imitation(script, draw)
      const { fill, keys, args } = it
      const line = redis.pipeline().call('FLUSHALL')
      for (const [command, ...words] of fill) line.call(command, ...words)
      line.call('EVAL', script.text, keys.length, ...keys, ...args)
      const results = (await line.exec()) ?? []
      for (const [error] of results.slice(0, -1)) assert.equal(error, null, told(script, fill, args))
      const [failed, reply] = results.at(-1) as [Error | null, unknown]
      check(script, it, failed ?? reply)
    }
  })

  test(`${CASES} cases on the embedded server (seed ${seed}) → each reply is one that the link takes`, () => {
    const draw = seeded(seed)
    const embedded = new MemoryServer(systemClock)
    const execute = (...words: readonly Word[]): unknown => embedded.execute(words.map(String))
    for (let i = 0; i < CASES; i++) {
      const script = covered[i % covered.length] as Script
      const it = imitation(script, draw)
      const { fill, keys, args } = it
      execute('FLUSHALL')
      for (const words of fill) assert.ok(!(execute(...words) instanceof Error), told(script, fill, args))
      check(script, it, execute('EVAL', script.text, keys.length, ...keys, ...args))
    }
    embedded.close()
  })
})
