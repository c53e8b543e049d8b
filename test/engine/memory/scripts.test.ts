import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Redis } from 'ioredis'
import { systemClock } from '#src/base/clock.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { type RedisServer, startRedis } from '../../support/redis-server.js'
import type { Argv } from './random-commands.js'
import { Servers } from './servers.js'

const SET = "redis.call('SET', KEYS[1], 'v') return 'done'"

/** Each is asked of both servers in this order. */
const COMMANDS: readonly Argv[] = [
  ['EVAL', `#!lua flags=no-writes\n${SET}`, '1', 'a'],
  ['EVAL', `#!lua flags=no-writes\nreturn redis.pcall('SET', KEYS[1], 'v')`, '1', 'a'],
  ['EVAL', `#!lua flags=no-writes,allow-oom\nreturn redis.call('GET', KEYS[1])`, '1', 'a'],
  ['EVAL', `#!lua\n${SET}`, '1', 'a'],
  ['EVAL', `#!lua name=x\n${SET}`, '1', 'a'],
  ['EVAL', `#!lua flags=\n${SET}`, '1', 'a'],
  ['EVAL', `#!lua flags=nonsense\n${SET}`, '1', 'a'],
  ['EVAL', `#!lua flags=no-writes,nonsense\n${SET}`, '1', 'a'],
  ['EVAL', `#!js\n${SET}`, '1', 'a'],
  ['EVAL', '#!lua', '0'],
  ['EVAL_RO', `#!lua\nreturn redis.call('GET', KEYS[1])`, '1', 'a'],
  ['EVAL_RO', `#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])`, '1', 'a'],
  ['EVAL_RO', `return redis.call('GET', KEYS[1])`, '1', 'a'],
  ['EVAL_RO', SET, '1', 'a'],
  ['SCRIPT', 'LOAD', 'return 1'],
  ['SCRIPT', 'LOAD', 'return'],
  ['SCRIPT', 'LOAD', ''],
  ['SCRIPT', 'LOAD', 'retrun 1'],
  ['SCRIPT', 'LOAD', 'return 1 1'],
  ['SCRIPT', 'LOAD', '#!lua flags=nonsense\nreturn 1'],
  ['SCRIPT', 'LOAD', '#!js\nreturn 1'],
  ['EVAL', 'retrun 1', '0'],
  ['SCRIPT', 'EXISTS', '5a2f0cbc7c5fc2cea8bcbbff68ed2ca4ec6ed4ad', 'e0e1f9fabfc9d4800c877a703b823ac0578ff8db'],
  ...['MULTI', 'EXEC', 'WATCH k', 'SUBSCRIBE c', 'AUTH x', 'HELLO', 'SAVE', 'MONITOR', 'BLPOP k 1', 'FCALL f 0']
    .concat(['DEBUG SLEEP 0', 'CLIENT LIST', 'CONFIG GET x', 'SCRIPT LOAD x', 'EVAL x 0', 'WAIT 0 0', 'SHUTDOWN'])
    .map((line): Argv => ['EVAL', `return redis.pcall(unpack(ARGV))`, '0', ...line.split(' ')]),
]

describe('scripts on memory: are loaded, flagged and refused as by Redis', () => {
  let server: RedisServer | undefined
  let redis: Redis | undefined
  before(async () => {
    try {
      server = await startRedis()
      redis = new Redis({ port: server.port, protocol: 2, stringNumbers: true })
    } catch (error) {
      const missing = error instanceof Error && 'code' in error && error.code === 'NO_REDIS'
      if (!missing || (process.env['HOLDFAST_REQUIRE'] ?? '').includes('redis')) throw error
    }
  })
  after(async () => {
    redis?.disconnect()
    await server?.stop()
  })

  it('command by command', async (t) => {
    if (redis === undefined) {
      t.skip('no redis')
      return
    }
    const memory = new MemoryServer(systemClock)
    const answers = await new Servers(memory, redis).ask(COMMANDS)
    memory.close()
    for (const [i, { memory: ours, redis: theirs }] of answers.entries())
      assert.deepEqual(ours, theirs, JSON.stringify(COMMANDS[i]))
  })

  it('integers near 2^53 and 2^63, with either sign, in commands, as replies and as numbers of Lua', async (t) => {
    if (redis === undefined) {
      t.skip('no redis')
      return
    }
    const near = (): string => {
      const edge = [2n ** 53n, 2n ** 54n, 2n ** 62n, 2n ** 63n, 10n ** 16n][Math.floor(Math.random() * 5)] ?? 0n
      const value = edge + BigInt(Math.floor(Math.random() * 40) - 20)
      return String(Math.random() < 0.5 ? value : -value)
    }
    const commands = Array.from({ length: 300 }, () => {
      const [start, by, number] = [
        Math.random() < 0.5 ? near() : String(Math.floor(Math.random() * 20)),
        near(),
        near(),
      ]
      return [
        ['SET', 'n', start],
        ['DECRBY', 'n', by],
        ['EVAL', "return redis.pcall('INCRBY', 'n', ARGV[1])", '0', number],
        ['EVAL', `return redis.pcall('DECRBY', 'n', ${by})`, '0'],
        ['EVAL', `return { ${number}, tonumber(ARGV[1]), tostring(${by}), -tonumber(ARGV[1]) / 3 }`, '0', by],
        ['GET', 'n'],
        ['HINCRBY', 'h', start, by],
        [
          'EVAL',
          "local n = redis.pcall('HINCRBY', 'h', ARGV[1], 1) return type(n) == 'number' and n + 1 or n",
          '0',
          start,
        ],
      ]
    }).flat()
    const memory = new MemoryServer(systemClock)
    const answers = await new Servers(memory, redis).ask(commands)
    memory.close()
    for (const [i, { memory: ours, redis: theirs }] of answers.entries())
      assert.deepEqual(ours, theirs, JSON.stringify(commands[i]))
  })
})
