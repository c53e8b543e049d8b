import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { MemoryServer } from '#src/engine/memory/server.js'
import { ReplyError } from '#src/engine/memory/reply.js'
import { FakeClock } from './fake-clock.js'

/** Time passes whenever somebody looks: a script is stopped at its fifth look, if it lets anybody look. */
class RacingClock extends FakeClock {
  looks = 0
  override monotonic(): number {
    return 1000 * this.looks++
  }
}

const run = (script: string, clock = new FakeClock()): string => {
  const server = new MemoryServer(clock)
  const reply = server.execute(['EVAL', script, '0'])
  server.close()
  return reply instanceof ReplyError ? reply.message : JSON.stringify(reply)
}

/** What would go on for minutes, or for ever. */
const LONG: Readonly<Record<string, string>> = {
  'a loop': 'while true do end',
  'a pattern of many stars': "return string.rep('a', 40):match(string.rep('a*', 20) .. 'b')",
  'a pattern of many shortest matches': "return (string.rep('a', 20000)):find('.-.-.-.-b')",
  'a replacement that never matches': "return (string.rep('a', 1000000)):gsub('a*b', '')",
  'balanced brackets that never close': "return (string.rep('(', 1000000)):find('%b()')",
  'a large set in a pattern': "return ('x'):rep(1e6):find('[' .. ('ab'):rep(1e5) .. ']+y')",
  'sorting again and again': 'local t = {} for i = 1, 1e5 do t[i] = -i end while true do table.sort(t) end',
  'inserting at the front': 'local t = {} while true do table.insert(t, 1, 0) end',
  'joining again and again': 'local t = {} for i = 1, 1e5 do t[i] = i end while true do table.concat(t) end',
  'the first of an emptied table': 'local t = {} for i = 1, 1e6 do t[i] = i end while next(t) do t[next(t)] = nil end',
  'comparing long strings':
    "local a, b = ('x'):rep(1e8), ('x'):rep(1e8) for i = 1, 1e9 do if a ~= b then return end end",
  'a long string as a number': "local s = (' '):rep(1e7) .. '1' local n while true do n = s + 1 end",
  'hashing a long string': "local s = ('x'):rep(1e7) while true do redis.sha1hex(s) end",
  'a table of itself many times, encoded': 'local t = {1} for i = 1, 40 do t = {t, t} end return cjson.encode(t)',
  'a table of itself many times, answered': 'local t = {1} for i = 1, 40 do t = {t, t} end return t',
  'compiling again and again': "while true do loadstring('return ' .. ('1+'):rep(10000) .. '1') end",
  'tail calls': 'local function f() return f() end return f()',
  'commands that take long': `for i = 1, 1000 do redis.call('SADD', 's', i) end
    while true do redis.call('SINTERSTORE', 'd', 's', 's') end`,
}

const STOPPED = /^(BUSY Script did not end|ERR Script took too much memory) and was stopped/

/** One command that would take long by itself: it must be refused before it begins. */
const HUGE: Readonly<Record<string, string>> = {
  'random fields': "redis.call('HSET', 'k', 'a', 1) return #redis.call('HRANDFIELD', 'k', -30000000)",
  'random fields with values':
    "redis.call('HSET', 'k', 'a', 1) return #redis.call('HRANDFIELD', 'k', -30000000, 'WITHVALUES')",
  'random members': "redis.call('SADD', 'k', 'a') return #redis.call('SRANDMEMBER', 'k', -30000000)",
  'random sorted members': "redis.call('ZADD', 'k', 1, 'a') return #redis.call('ZRANDMEMBER', 'k', -30000000)",
  'random sorted members with scores':
    "redis.call('ZADD', 'k', 1, 'a') return #redis.call('ZRANDMEMBER', 'k', -5000000, 'WITHSCORES')",
  'a long set in a pattern for a key':
    "redis.call('SET', ('a'):rep(1e5), 1) return redis.call('KEYS', '*[' .. ('b'):rep(1e5) .. ']x')",
  'a pattern for a key': "redis.call('SET', ('a'):rep(1e6), 1) return redis.call('KEYS', '*' .. ('a'):rep(5e5) .. 'b')",
}

/** What commands make counts as well as what the script makes itself. */
const MADE: Readonly<Record<string, string>> = {
  SETRANGE: "for i = 1, 100 do redis.call('SETRANGE', i, 100000000, 'x') end",
  SETBIT: "for i = 1, 100 do redis.call('SETBIT', i, 800000000, 1) end",
  APPEND: "local s = ('x'):rep(60000) for i = 1, 20000 do redis.call('APPEND', i % 100, s) end",
  COPY: `for i = 1, 10000 do redis.call('SADD', 's', i) end
    for i = 1, 10000 do redis.call('COPY', 's', i) end`,
  SUNIONSTORE: `for i = 1, 10000 do redis.call('SADD', 's', i) end
    for i = 1, 10000 do redis.call('SUNIONSTORE', i, 's') end`,
  ZUNIONSTORE: `for i = 1, 10000 do redis.call('ZADD', 's', i, i) end
    for i = 1, 10000 do redis.call('ZUNIONSTORE', i, 1, 's') end`,
  ZRANGESTORE: `for i = 1, 10000 do redis.call('ZADD', 's', i, i) end
    for i = 1, 10000 do redis.call('ZRANGESTORE', i, 's', 0, -1) end`,
}

describe('what a script on memory: may take', () => {
  for (const [what, script] of Object.entries(HUGE)) {
    it(`one command: ${what}`, () => {
      const before = process.cpuUsage()
      assert.match(run(script), STOPPED)
      const { user, system } = process.cpuUsage(before)
      assert.ok(user + system < 2_000_000, `${(user + system) / 1000} ms of the processor`)
    })
  }

  for (const [what, script] of Object.entries(MADE)) {
    it(`memory: ${what}`, () => {
      assert.match(run(script), STOPPED)
    })
  }

  it('the time is looked at after each command', () => {
    const script = "for i = 1, 7 do redis.call('PING') end return 1"
    assert.match(run(script, new RacingClock()), /^BUSY Script did not end and was stopped/)
  })

  it('commands that look at much cost more than others', () => {
    const script = `redis.call('SETBIT', 'k', 80000000, 1)
      for i = 1, 1000 do redis.call('BITCOUNT', 'k') end`
    assert.match(run(script), /^BUSY Script did not end and was stopped/)
  })

  for (const [what, script] of Object.entries(LONG)) {
    it(`time: ${what}`, () => {
      assert.match(run(script, new RacingClock()), /^BUSY Script did not end and was stopped/)
    })
  }

  it('steps, where time stands still', () => {
    assert.match(run("while true do redis.call('PING') end"), /^BUSY Script did not end and was stopped/)
  })

  it('a script that is stopped for one large step → those after it run', () => {
    const server = new MemoryServer(new FakeClock())
    const [stopped, ...after] = ["return #string.reverse(string.rep('x', 6e7))", 'return 1', 'return 2'].map((script) =>
      server.execute(['EVAL', script, '0']),
    )
    server.close()
    assert.ok(stopped instanceof ReplyError)
    assert.match(stopped.message, /^BUSY Script did not end and was stopped/)
    assert.deepEqual(after, [1, 2])
  })

  for (const [what, script] of Object.entries({
    'a table': 'local t = {} for i = 1, 1e9 do t[i] = true end',
    'long strings': "local t = {} for i = 1, 1e4 do t[i] = ('x'):rep(1e6) .. i end",
    'long strings, caught': "while true do pcall(string.rep, 'x', 5e8) end",
  })) {
    it(`memory: ${what}`, () => {
      assert.match(run(script), /^ERR Script took too much memory and was stopped/)
    })
  }

  it('no string is longer than any that can be', () => {
    assert.match(run("local s = 'x' for i = 1, 40 do s = s .. s end"), /^ERR user_script:1: not enough memory/)
    assert.match(run("return #string.rep('x', 2 ^ 29)"), /^ERR user_script:1: not enough memory/)
  })

  it('short strings are built without a limit but that of steps', () => {
    assert.equal(run("local s = '' for i = 1, 60000 do s = s .. 'x' end return #s"), '60000')
    assert.equal(run("local n = 0 for i = 1, 1e5 do n = redis.call('INCR', 'n') end return n"), '100000')
  })
})

describe('strings near 512 MB', () => {
  const LONGEST = 512 * 1024 * 1024
  const TOO_LONG = 'ERR string exceeds maximum allowed size (proto-max-bulk-len)'

  it('what would be longer is refused as by Redis', () => {
    const server = new MemoryServer(new FakeClock())
    const refused = (...argv: string[]) => {
      const reply = server.execute(argv)
      assert.ok(reply instanceof ReplyError)
      assert.equal(reply.message, TOO_LONG)
    }
    server.execute(['SET', 'long', 'x'.repeat(400_000_000)])
    refused('APPEND', 'long', 'x'.repeat(200_000_000))
    refused('SETRANGE', 'long', String(LONGEST), 'x')
    refused('SETRANGE', 'none', String(LONGEST - 1), 'xx')
    assert.equal(server.execute(['STRLEN', 'long']), 400_000_000)
    server.close()
  })
})

describe('scans of the key space', () => {
  const scanned = (server: MemoryServer, cursor: string, count: number): [string, string[]] =>
    server.execute(['SCAN', cursor, 'COUNT', String(count)]) as [string, string[]]

  it('any number of them may be under way, while keys come and go: each ends, and has seen what was there throughout', () => {
    const server = new MemoryServer(new FakeClock())
    for (let i = 0; i < 500; i++) server.execute(['SET', `key${i}`, ''])
    const scans = Array.from({ length: 300 }, () => ({ cursor: '', seen: new Set<string>(), steps: 0 }))
    for (let step = 0; scans.some(({ cursor }) => cursor !== '0'); step++) {
      assert.ok(step < 200, 'they end')
      for (const scan of scans) {
        if (scan.cursor === '0') continue
        const [next, keys] = scanned(server, scan.cursor === '' ? '0' : scan.cursor, 7)
        for (const key of keys) scan.seen.add(key)
        scan.cursor = next
      }
      server.execute(['DEL', `key${step * 2}`])
      for (let i = 0; i < 10; i++) server.execute(['SET', `new${step}:${i}`, ''])
    }
    for (const { seen } of scans) for (let i = 401; i < 500; i += 2) assert.ok(seen.has(`key${i}`))
    server.close()
  })

  it('a cursor that is asked for twice goes on from the same place', () => {
    const server = new MemoryServer(new FakeClock())
    for (let i = 0; i < 50; i++) server.execute(['SET', `key${i}`, ''])
    const [cursor] = scanned(server, '0', 10)
    const [first, second] = [scanned(server, cursor, 10), scanned(server, cursor, 10)]
    assert.deepEqual(first, second)
    assert.notEqual(first[0], '0')
    server.close()
  })
})
