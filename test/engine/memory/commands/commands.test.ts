import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Bytes, type Reply, ReplyError, Status } from '#src/engine/memory/reply.js'
import { MemoryServer } from '#src/engine/memory/server.js'
import { FakeClock } from '../fake-clock.js'

const plain = (reply: Reply): unknown => {
  if (reply instanceof Status) return reply.text
  if (reply instanceof ReplyError) return `-${reply.message}`
  return Array.isArray(reply) ? reply.map(plain) : reply
}

const start = () => {
  const clock = new FakeClock()
  const server = new MemoryServer(clock)
  const run = (...argv: (Bytes | number)[]): unknown => plain(server.execute(argv.map(String)))
  return { clock, server, run }
}

/** One line each: the words of the command, and what comes back. */
const pinned = (lines: readonly (readonly [command: string, reply: unknown])[]): void => {
  const { run } = start()
  for (const [command, reply] of lines) {
    const words = command.split(' ').map((word) => (word === "''" ? '' : word))
    assert.deepEqual(run(...words), reply, command)
  }
}

const NOT_INTEGER = '-ERR value is not an integer or out of range'
const SYNTAX = '-ERR syntax error'
const WRONG_TYPE = '-WRONGTYPE Operation against a key holding the wrong kind of value'

describe('commands: which ones there are', () => {
  test('unknown names, unknown second words, too few words', () =>
    pinned([
      ['foo a b', "-ERR unknown command 'foo', with args beginning with: 'a' 'b' "],
      ['config foo', "-ERR unknown subcommand 'foo'. Try CONFIG HELP."],
      ['config', "-ERR wrong number of arguments for 'config' command"],
      ['config get', "-ERR wrong number of arguments for 'config|get' command"],
      ['GeT', "-ERR wrong number of arguments for 'get' command"],
      ['mset a b c', "-ERR wrong number of arguments for 'mset' command"],
      ['ping a b', "-ERR wrong number of arguments for 'ping' command"],
    ]))

  test('every table is there', () =>
    pinned([
      ['RPUSH l a', 1],
      ['SADD s a', 1],
      ['ZADD z 1 a', 1],
      ['PiNg', 'PONG'],
      ['ping hello', 'hello'],
      ['echo x', 'x'],
      ['select 0', 'OK'],
      ['select 1', '-ERR DB index is out of range'],
      ['wait 1 0', 0],
      ['wait 0 -1', '-ERR timeout is negative'],
      ['client setname me', 'OK'],
      ['client getname', 'me'],
      ['config set maxmemory-policy allkeys-lru', 'OK'],
      ['config get maxmemory*', ['maxmemory', '0', 'maxmemory-policy', 'allkeys-lru']],
      ['script kill', '-NOTBUSY No scripts in execution right now.'],
    ]))

  test('info says what a lock client asks', () => {
    const { run } = start()
    const info = String(run('INFO'))
    for (const line of ['redis_version:7.0.15', 'maxmemory_policy:noeviction', 'role:master', 'loading:0']) {
      assert.ok(info.includes(`${line}\r\n`), line)
    }
    assert.match(String(run('INFO', 'replication')), /^# Replication\r\nrole:master\r\n/)
  })
})

describe('commands: strings', () => {
  test('SET and its options', () =>
    pinned([
      ['set a 1 nx', 'OK'],
      ['set a 2 nx', null],
      ['set a 2 nx get', '1'],
      ['set a 2 xx get', '1'],
      ['set b 2 xx', null],
      ['set a 3 px 1000', 'OK'],
      ['set a 4 keepttl', 'OK'],
      ['pttl a', 1000],
      ['set a 4', 'OK'],
      ['pttl a', -1],
      ['set a 4 nx xx', SYNTAX],
      ['set a 4 ex 10 keepttl', SYNTAX],
      ['set a 4 ex', SYNTAX],
      ['set a 4 ex 1 ex 2', 'OK'],
      ['ttl a', 2],
      ['set a 4 ex 0', "-ERR invalid expire time in 'set' command"],
      ['set a 4 px x', NOT_INTEGER],
      ['setex a 0 x', "-ERR invalid expire time in 'setex' command"],
      ['getex a persist', '4'],
      ['ttl a', -1],
      ['getex a pxat 1', '4'],
      ['exists a', 0],
      ['hset h f 1', 1],
      ['set h x get', WRONG_TYPE],
      ['set h x', 'OK'],
    ]))

  test('counters are exact to 64 bits', () =>
    pinned([
      ['incrby n 9007199254740993', 2 ** 53],
      ['get n', '9007199254740993'],
      ['incrby n 9214364837600034814', 2 ** 63],
      ['get n', '9223372036854775807'],
      ['incr n', '-ERR increment or decrement would overflow'],
      ['decrby n -9223372036854775808', '-ERR decrement would overflow'],
      ['set n 007', 'OK'],
      ['incr n', NOT_INTEGER],
      ['set n -1', 'OK'],
      ['incr n', 0],
      ['incrby n +1', NOT_INTEGER],
      ['incrby n 9223372036854775808', NOT_INTEGER],
    ]))

  test('sums of fractions are those of the server, digit for digit', () =>
    pinned([
      ['set f 0.1', 'OK'],
      ['incrbyfloat f 0.2', '0.3'],
      ['set f 1000', 'OK'],
      ['incrbyfloat f 0.1', '1000.09999999999999998'],
      ['set f -0.5', 'OK'],
      ['incrbyfloat f 0.5', '0'],
      ['incrbyfloat f inf', '-ERR increment would produce NaN or Infinity'],
      ['incrbyfloat f 1x', '-ERR value is not a valid float'],
      ["set f ''", 'OK'],
      ['incrbyfloat f 1', '-ERR value is not a valid float'],
    ]))

  test('ranges and bits', () =>
    pinned([
      ['append s Hello', 5],
      ['setrange s 7 x', 8],
      ['get s', 'Hello\0\0x'],
      ['getrange s -3 -1', '\0\0x'],
      ['getrange s 3 1', ''],
      ['setrange s -1 x', '-ERR offset is out of range'],
      ['set s foobar', 'OK'],
      ['bitcount s', 26],
      ['bitcount s 0 0', 4],
      ['bitcount s 5 30 BIT', 17],
      ['bitcount s 0', SYNTAX],
      ['setbit s 0 1', 0],
      ['getbit s 0', 1],
      ['setbit s 0 2', '-ERR bit is not an integer or out of range'],
      ['setbit s -1 1', '-ERR bit offset is not an integer or out of range'],
    ]))

  test('any byte in keys and values', () => {
    const { run } = start()
    const bytes = String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i))
    run('SET', bytes, bytes)
    assert.equal(run('GET', bytes), bytes)
    assert.equal(run('STRLEN', bytes), 256)
  })
})

describe('commands: hashes', () => {
  test('an emptied hash is no key', () =>
    pinned([
      ['hset h a 1 b 2', 2],
      ['hset h a 3 c 4', 1],
      ['hgetall h', ['a', '3', 'b', '2', 'c', '4']],
      ['hmget h a x', ['3', null]],
      ['hscan h 0 match [ab]', ['0', ['a', '3', 'b', '2']]],
      ['hrandfield h -2', ['b', 'b']],
      ['hrandfield h 5 withvalues', ['a', '3', 'b', '2', 'c', '4']],
      ['pexpire h 1000', 1],
      ['hdel h a b c d', 3],
      ['exists h', 0],
      ['hset h a 1', 1],
      ['pttl h', -1],
      ['get h', WRONG_TYPE],
    ]))

  test('counters', () =>
    pinned([
      ['hincrby h n 9223372036854775807', 2 ** 63],
      ['hincrby h n 1', '-ERR increment or decrement would overflow'],
      ['hincrby h n -9223372036854775808', -1],
      ['hset h f x', 1],
      ['hincrby h f 1', '-ERR hash value is not an integer'],
      ['hincrbyfloat h f 1', '-ERR hash value is not a float'],
      ['hincrby g n 1.5', NOT_INTEGER],
      ['exists g', 0],
    ]))
})

describe('commands: keys', () => {
  test('RENAME and COPY take the expiry along', () =>
    pinned([
      ['set a 1 px 5000', 'OK'],
      ['rename a b', 'OK'],
      ['pttl b', 5000],
      ['copy b c', 1],
      ['copy b c', 0],
      ['set b 2', 'OK'],
      ['copy b c replace', 1],
      ['pttl c', -1],
      ['get c', '2'],
      ['rename x y', '-ERR no such key'],
      ['copy b b', '-ERR source and destination objects are the same'],
      ['hset h f 1', 1],
      ['copy h g', 1],
      ['hset h f 2', 0],
      ['hget g f', '1'],
      ['type h', 'hash'],
      ['type x', 'none'],
    ]))

  test('patterns', () => {
    const { run } = start()
    for (const key of ['lock:a', 'lock:b', 'lock:c', 'other', 'a*b']) run('SET', key, 1)
    assert.deepEqual(run('KEYS', 'lock:[^c]'), ['lock:a', 'lock:b'])
    assert.deepEqual(run('KEYS', '*o*:?'), ['lock:a', 'lock:b', 'lock:c'])
    assert.deepEqual(run('KEYS', 'a\\*b'), ['a*b'])
    assert.deepEqual(run('KEYS', '[a-l]ock:[b-c]'), ['lock:b', 'lock:c'])
  })

  test('SCAN yields every key that stays, whatever comes and goes meanwhile', () => {
    const { run } = start()
    for (let i = 0; i < 100; i++) run('SET', `k${i}`, 1)
    const seen = new Set<string>()
    let cursor = '0'
    let step = 0
    do {
      const [next, keys] = run('SCAN', cursor, 'COUNT', 7) as [string, string[]]
      for (const key of keys) seen.add(key)
      run('DEL', `k${step * 2}`)
      run('SET', `new${step++}`, 1)
      cursor = next
    } while (cursor !== '0')
    for (let i = 1; i < 100; i += 2) assert.ok(seen.has(`k${i}`))
    assert.equal(run('SCAN', 'x'), '-ERR invalid cursor')
    assert.equal(run('SCAN', '0', 'COUNT', '0'), SYNTAX)
  })
})

describe('commands: expiry', () => {
  test('a key is gone after the millisecond at which it expires', () => {
    const { run, clock } = start()
    run('SET', 'a', 1, 'PX', 1000)
    clock.pass(999)
    assert.equal(run('PTTL', 'a'), 1)
    clock.pass(1)
    assert.deepEqual([run('GET', 'a'), run('PTTL', 'a'), run('DBSIZE')], ['1', 0, 1])
    clock.pass(1)
    for (const command of ['GET', 'PTTL', 'TYPE']) assert.ok([null, -2, 'none'].includes(run(command, 'a') as null))
    assert.equal(run('DBSIZE'), 0)
    assert.equal(run('DEL', 'a'), 0)
  })

  test('no key expires in the middle of a command', () => {
    const { run, clock } = start()
    run('HSET', 'h', 'f', 5)
    run('PEXPIRE', 'h', 3)
    let now = clock.now()
    clock.now = () => (now += 1)
    assert.equal(run('HINCRBY', 'h', 'f', 1), 6)
    assert.equal(run('PTTL', 'h'), 1)
    assert.equal(run('HINCRBY', 'h', 'f', 1), 7)
    assert.equal(run('HINCRBY', 'h', 'f', 1), 1)
  })

  test('conditions', () =>
    pinned([
      ['set a 1', 'OK'],
      ['expire a 10 xx', 0],
      ['expire a 10 gt', 0],
      ['expire a 10 lt', 1],
      ['expire a 20 nx', 0],
      ['expire a 5 gt', 0],
      ['expire a 5 lt', 1],
      ['ttl a', 5],
      ['expire a 1 nx xx', '-ERR NX and XX, GT or LT options at the same time are not compatible'],
      ['expire a 1 gt lt', '-ERR GT and LT options at the same time are not compatible'],
      ['expire a 1 foo', '-ERR Unsupported option foo'],
      ['expire a 9223372036854775807', "-ERR invalid expire time in 'expire' command"],
      ['pexpire a 9223372036854775807', "-ERR invalid expire time in 'pexpire' command"],
      ['persist a', 1],
      ['persist a', 0],
      ['expire a -1', 1],
      ['exists a', 0],
      ['expire a 1', 0],
    ]))

  test('leases beyond what a number holds exactly', () =>
    pinned([
      ['set a 1', 'OK'],
      ['pexpire a 9007199254740991', 1],
      ['pttl a', Number.MAX_SAFE_INTEGER],
      ['pexpiretime a', 1_700_000_000_000 + Number.MAX_SAFE_INTEGER],
      ['pexpire a 9223370336854775807', 1],
      ['pttl a', Number(9223370336854775807n)],
    ]))

  test('nobody has to ask: a sweep removes what is due, and no timer stays when nothing expires', () => {
    const { server, clock } = start()
    for (let i = 0; i < 5000; i++) server.execute(['SET', `k${i}`, '1', 'PX', '500'])
    assert.equal(clock.timers, 1)
    clock.pass(2000)
    assert.deepEqual([...server.database.walk()], [])
    assert.equal(clock.timers, 0)
  })

  test('a million short-lived names take little room also when no timer gets its turn', () => {
    const { server, clock } = start()
    let now = clock.now()
    clock.now = () => (now += 1)
    let most = 0
    for (let i = 0; i < 100_000; i++) {
      server.execute(['SET', `k${i}`, '1', 'PX', '50'])
      if (i % 1000 === 0) most = Math.max(most, [...server.database.walk()].length)
    }
    assert.ok(most < 300, `${most} keys`)
  })
})

describe('commands: messages', () => {
  const listen = (heard: string[], name: string) => ({
    message: (channel: Bytes, payload: Bytes, pattern?: Bytes) =>
      void heard.push([name, channel, payload, ...(pattern === undefined ? [] : [pattern])].join(' ')),
  })

  test('in order, a microtask later, by name and by pattern', async () => {
    const { server, run } = start()
    const heard: string[] = []
    const a = listen(heard, 'a')
    server.pubsub.subscribe(a, 'x', 'plain')
    server.pubsub.subscribe(listen(heard, 'b'), 'x*', 'pattern')
    server.pubsub.subscribe(listen(heard, 's'), 'x', 'sharded')
    assert.equal(run('PUBLISH', 'x', 1), 2)
    assert.equal(run('SPUBLISH', 'x', 2), 1)
    assert.equal(run('PUBLISH', 'y', 3), 0)
    assert.equal(run('PUBLISH', 'xy', 4), 1)
    assert.deepEqual(heard, [])
    await Promise.resolve()
    assert.deepEqual(heard, ['a x 1', 'b x 1 x*', 's x 2', 'b xy 4 x*'])
    assert.deepEqual(run('PUBSUB', 'CHANNELS'), ['x'])
    assert.deepEqual(run('PUBSUB', 'NUMSUB', 'x', 'y'), ['x', 1, 'y', 0])
    assert.deepEqual(run('PUBSUB', 'SHARDNUMSUB', 'x'), ['x', 1])
    assert.equal(run('PUBSUB', 'NUMPAT'), 1)
    server.pubsub.leave(a)
    assert.deepEqual(run('PUBSUB', 'CHANNELS'), [])
  })

  test('what a listener publishes comes after what was published before', async () => {
    const { server, run } = start()
    const heard: string[] = []
    server.pubsub.subscribe(
      {
        message(_channel, payload) {
          heard.push(`first ${payload}`)
          if (payload === '1') run('PUBLISH', 'x', 3)
        },
      },
      'x',
      'plain',
    )
    server.pubsub.subscribe(listen(heard, 'second'), 'x', 'plain')
    run('PUBLISH', 'x', 1)
    run('PUBLISH', 'x', 2)
    await Promise.resolve()
    assert.deepEqual(heard, ['first 1', 'second x 1', 'first 2', 'second x 2', 'first 3', 'second x 3'])
  })
})

describe('commands: scripts', () => {
  test('by text, by SHA, and with the errors of a script', () => {
    const { run } = start()
    const at = (sha: string): string => ` script: ${sha}, on @user_script:1.`
    assert.equal(run('EVALSHA', 'abc', 'x'), '-NOSCRIPT No matching script. Please use EVAL.')
    const sha = run('SCRIPT', 'LOAD', 'return {KEYS[1], ARGV[1]}') as string
    assert.deepEqual(run('EVALSHA', sha.toUpperCase(), 1, 'k', 'a'), ['k', 'a'])
    assert.deepEqual(run('SCRIPT', 'EXISTS', sha, 'x'), [1, 0])
    assert.equal(run('EVAL', 'return 1', 2, 'k'), "-ERR Number of keys can't be greater than number of args")
    assert.equal(run('EVAL', 'return 1', -1), "-ERR Number of keys can't be negative")
    assert.equal(run('EVAL', 'return 1', 'x'), NOT_INTEGER)
    const errors = [
      ["return redis.call('foo')", 'Unknown Redis command called from script'],
      ["return redis.call('get')", 'Wrong number of args calling Redis command from script'],
      ["return redis.call('config','get','x')", 'This Redis command is not allowed from script'],
      ["return redis.call('config','foo','x')", 'Unknown Redis command called from script'],
    ] as const
    for (const [script, text] of errors) {
      const loaded = run('SCRIPT', 'LOAD', script) as string
      assert.equal(run('EVAL', script, 0), `-ERR ${text}${at(loaded)}`)
    }
    const write = "return redis.call('set','a','b')"
    const refused = `-ERR Write commands are not allowed from read-only scripts.${at(run('SCRIPT', 'LOAD', write) as string)}`
    assert.equal(run('EVAL_RO', write, 0), refused)
    assert.equal(run('EVAL', write, 0), 'OK')
    assert.equal(run('SCRIPT', 'FLUSH'), 'OK')
    assert.deepEqual(run('SCRIPT', 'EXISTS', sha), [0])
  })

  test('time stands still within a script', () => {
    const { run, clock } = start()
    let now = clock.now()
    clock.now = () => (now += 10)
    run('SET', 'a', 1, 'PX', 100)
    const script = `local first = redis.call('PTTL', KEYS[1])
      for i = 1, 50 do redis.call('GET', KEYS[1]) end
      return redis.call('PTTL', KEYS[1]) - first`
    assert.equal(run('EVAL', script, 1, 'a'), 0)
  })
})
