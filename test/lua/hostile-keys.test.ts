import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import type { Script } from '#src/lua/script.js'
import * as generated from '#src/lua/scripts.gen.js'
import type { Arg } from '#src/lua/values.js'
import { seeded } from '../support/random.js'
import { startRedis, type RedisServer } from '../support/redis-server.js'
import { argumentsOf, type Content, contents, large, slotsOf } from './hostile.js'

/** HOLDFAST_HOSTILE=20000 HOLDFAST_SEED=1 node --test .build/test/lua/hostile-keys.test.js: so many cases of each sort. */
const CASES = Number(process.env['HOLDFAST_HOSTILE'] ?? 500)
const seed = Number(process.env['HOLDFAST_SEED'] ?? Date.now() % 1e6)
const scripts = Object.values(generated) as readonly Script[]

/** What a script may do whatever stands there; and more where it keeps a line, which it must go along. */
const MOST = 2600
const MOST_IN_LINE = 12_000
/** Of the server's time, ms. */
const LONGEST = 5
/** Whose caller asks for as many: the keys of two thousand reads go, and all fields. */
const LONGER: Readonly<Record<string, number>> = { 'read-write-lock/force-release': 15, 'read-write-lock/steal': 15 }
const longestOf = ({ name }: Script): number => LONGER[name] ?? LONGEST

interface Case {
  readonly script: Script
  readonly position: number
  readonly content: Content
  readonly args: (string | number | Buffer)[]
  /** Whether the other keys hold something as well. */
  readonly others: readonly Content[]
}

const rests = (script: Script): number => {
  if (slotsOf(script).KEYS.at(-1)?.rest !== true) return 0
  // The line of a group: its queue, turn, sets and deadlines.
  const line = { 'keyed-lock/acquire': 3, 'keyed-lock/release': 4 }[script.name]
  // A lock and its owner's levels.
  return line ?? (script.name.endsWith('read-renew') ? 2 : 1)
}
const width = (script: Script): number => script.keys + rests(script)
const keyOf = (position: number): string => (position === 0 ? 'k' : `k${position}`)

const drawCase = (draw: () => number, among: readonly Content[]): Case => {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(draw() * list.length)] as T
  const script = pick(scripts)
  return {
    script,
    position: Math.floor(draw() * width(script)),
    content: pick(among),
    args: argumentsOf(script, draw),
    others: draw() < 0.3 ? Array.from({ length: width(script) }, () => pick(contents)) : [],
  }
}

const told = ({ script, position, content, others }: Case): string =>
  `seed ${seed}: ${script.name}, KEYS[${position + 1}] holds ${content.title}${others.length > 0 ? `, others hold ${others.map(({ title }) => title).join('; ')}` : ''}`

const bound = ({ script: { name }, args }: Case): number =>
  (/fair|semaphore|^(?:read-write|keyed)-lock\/(?:ask|release|force-release)$/.test(name) ? MOST_IN_LINE : MOST) +
  20 * args.length

/** A reply as the script's header declares it: any other makes a client replace its connections. No fraction is one, and no text of an error that the script caught. */
const checkReply = (it: Case, reply: unknown): void => {
  const keys = Array.from({ length: width(it.script) }, (_, place) => keyOf(place))
  const sent = ['EVALSHA', it.script.sha, keys.length, ...keys, ...it.args] as Arg[]
  assert.ok(it.script.fits(reply, sent), `${told(it)} → ${inspect(reply)}`)
}

void describe('hostile keys on a server', () => {
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

  const fill = async (key: string, { commands }: Content): Promise<void> => {
    const line = redis.pipeline()
    for (const [command, ...words] of commands) line.call(command, key, ...words)
    const filled = await line.exec()
    for (const [error] of filled ?? []) assert.equal(error, null)
  }

  /** How many commands ran inside, and for how long it ran, ms. */
  const run = async ({ script, args }: Case): Promise<{ reply: unknown; commands: number; took: number }> => {
    const keys = Array.from({ length: width(script) }, (_, i) => keyOf(i))
    const [, reply, stats] = (await redis
      .pipeline()
      .call('CONFIG', 'RESETSTAT')
      .call('EVAL', script.text, keys.length, ...keys, ...args)
      .call('INFO', 'commandstats')
      .exec()) as [unknown, [Error | null, unknown], [null, string]]
    let [commands, took] = [0, 0]
    for (const [, name, calls, usec] of stats[1].matchAll(/cmdstat_([\w|]+):calls=(\d+),usec=(\d+)/g)) {
      if (name === 'eval') took = Number(usec) / 1000
      else if (!/^(config|info)/.test(name ?? '')) commands += Number(calls)
    }
    return { reply: reply[0] ?? reply[1], commands, took }
  }

  const check = (it: Case, reply: unknown, commands: number): void => {
    assert.ok(commands <= bound(it), `${told(it)}: ${commands} commands`)
    if (reply instanceof Error) assert.doesNotMatch(reply.message, /^BUSY|attempt to|NOSCRIPT/, told(it))
    else checkReply(it, reply)
  }

  test(`${CASES} cases (seed ${seed}) → few commands, and a reply or an error`, async () => {
    const draw = seeded(seed)
    for (let i = 0; i < CASES; i++) {
      const it = drawCase(draw, contents)
      await redis.flushdb()
      for (const [position, content] of it.others.entries()) await fill(keyOf(position), content)
      await redis.del(keyOf(it.position))
      await fill(keyOf(it.position), it.content)
      const { reply, commands } = await run(it)
      check(it, reply, commands)
    }
  })

  /** A few of them, save in a long run. */
  const some = CASES < 5000 ? large.filter((_, i) => (i + seed) % 3 === 0) : large
  for (const content of some) {
    test(`${content.title}, at any key of any script (seed ${seed}) → no more than ${LONGEST} ms`, async () => {
      const draw = seeded(seed)
      await redis.flushdb()
      await fill('template', content)
      const all = scripts.flatMap((script) =>
        Array.from({ length: width(script) }, (_, position) => [script, position] as const),
      )
      const share = Math.min(1, CASES / 20_000)
      const late: string[] = []
      for (const [script, position] of all) {
        if (draw() > share) continue
        const it = { script, position, content, args: argumentsOf(script, draw), others: [] }
        let shortest = Infinity
        for (let tries = 0; tries < 4 && shortest > LONGEST; tries++) {
          for (let i = 0; i < width(script); i++) await redis.unlink(keyOf(i))
          await redis.copy('template', keyOf(position))
          const { reply, commands, took } = await run(it)
          shortest = Math.min(shortest, took)
          check(it, reply, commands)
        }
        if (shortest > longestOf(script)) late.push(`${told(it)}: ${shortest} ms`)
      }
      assert.deepEqual(late, [])
    })
  }
})

void describe('hostile keys on the embedded server', () => {
  /** As the script, but that it ends where it does too much. */
  const counted = (it: Case): string => `local real, calls = redis, 0
local redis = setmetatable({}, { __index = real })
redis.call = function(...)
  calls = calls + 1
  if calls > ${bound(it)} then error('too many commands') end
  return real.call(...)
end
${it.script.text}`

  test(`${CASES} cases (seed ${seed}) → few commands, and a reply or an error`, () => {
    const draw = seeded(seed)
    const server = new MemoryServer(systemClock)
    const execute = (...words: readonly (string | number | Buffer)[]): unknown =>
      server.execute(words.map((word) => (Buffer.isBuffer(word) ? word.toString('latin1') : String(word))))
    const supported = contents.filter(({ commands: [first] }) => first?.[0] !== 'XADD')
    for (let i = 0; i < CASES; i++) {
      const it = drawCase(draw, i % 125 === 0 ? large : supported)
      execute('FLUSHALL')
      for (const [command, ...words] of it.content.commands) execute(command, keyOf(it.position), ...words)
      const keys = Array.from({ length: width(it.script) }, (_, place) => keyOf(place))
      const reply = execute('EVAL', counted(it), keys.length, ...keys, ...it.args)
      if (reply instanceof Error)
        assert.doesNotMatch(reply.message, /BUSY|too many commands|attempt to|overflow/, told(it))
      else checkReply(it, reply)
    }
    server.close()
  })
})
