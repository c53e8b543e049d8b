import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { declareScript } from '../../scripts/build-lua.mjs'
import { checkFragment } from '../../scripts/lua/check.mjs'
import { readConstants, unusedConstants } from '../../scripts/lua/constants.mjs'
import { withFunctions } from '../../scripts/lua/functions.mjs'
import { parseReply } from '../../scripts/lua/reply-type.mjs'
import { minify, tokenize } from '../../scripts/lua/tokens.mjs'

const GOOD = `-- Takes the lock when it is free.
-- Second line.
-- KEYS lock
-- ARGV owner, lease (ms)
--   owner: its name
-- returns nil held | integer ttl

redis.call('HSET', lock, owner, 1) -- why
return redis.call('PEXPIRE', lock, lease)
`

const declare = (text: string, fragments: Record<string, string> = {}): string =>
  declareScript('some-lock/force-take', text, new Map(Object.entries(fragments)))

/** GOOD with some of its text replaced. */
const changed = (from: string, to: string): string => {
  assert.ok(GOOD.includes(from))
  return GOOD.replace(from, to)
}

describe('a script becomes a typed constant', () => {
  test('named by folder and file, typed by its header, described by its purpose', () => {
    const code = declare(GOOD)
    assert.match(code, /export const someLockForceTake: Script</)
    assert.match(
      code,
      /^ {2}readonly \[lock: string\],\n {2}readonly \[owner: string, lease: number\],\n {2}null \| number$/m,
    )
    assert.match(code, /script\(\n {2}'some-lock\/force-take',\n {2}'[0-9a-f]{40}',\n/)
    assert.match(
      code,
      /^ \* Takes the lock when it is free\.\n \* Second line\.\n \* Returns nil held \| integer ttl$/m,
    )
    assert.doesNotMatch(code, /why/)
  })

  test('units give the types of arguments', () => {
    const code = declare(`-- Does it.
-- ARGV a, b (count), c (integer text), d (bytes), e (any)
-- returns nil
return redis.call('ECHO', a .. b .. c .. d .. e)`)
    assert.match(code, /readonly \[\],\n {2}readonly \[a: string, b: number, c: number, d: Uint8Array, e: Arg\]/)
    assert.match(code, /"local a,b,c,d,e=ARGV\[1\],tonumber\(ARGV\[2\]\),ARGV\[3\],ARGV\[4\],ARGV\[5\]return/)
  })

  test('a variable rest has the whole table, and is text in it', () => {
    const code = declare(`-- Does it.
-- KEYS locks[1..]
-- ARGV lease (ms), owners[2..] (count)
-- returns integer[]
for i = 2, #owners do redis.call('HSET', locks[i], owners[i], lease) end
return {}`)
    assert.match(
      code,
      /readonly \[\.\.\.locks: string\[\]\],\n {2}readonly \[lease: number, \.\.\.owners: number\[\]\]/,
    )
    assert.match(code, / {2}0,\n {2}many\(integer\),\n\)/)
    assert.match(code, /"local locks=KEYS\\nlocal lease,owners=tonumber\(ARGV\[1\]\),ARGV\\nfor /)
  })
})

describe('a script has the functions that it calls', () => {
  const fn = (name: string, body = ''): string => `-- Why.\nlocal function ${name}() ${body} end\n`
  const texts = (fragments: Record<string, string>) => new Map(Object.entries(fragments))
  /** The names of the functions, and the words around them, in their order. */
  const order = (lua: string): string =>
    [...lua.matchAll(/local function (\w+)|^\s*(\w+)\(/gm)].map(([, name, word]) => name ?? `${word}()`).join(' ')

  test('in front, each behind those that it calls itself', () => {
    const fragments = texts({ a: fn('a', 'c() b()'), b: fn('b', 'c()'), c: fn('c'), d: fn('d') })
    const { text, names } = withFunctions('lock', 'x = a()\n', fragments)
    assert.equal(order(text), 'c b a')
    assert.deepEqual(names, ['c', 'b', 'a'])
    assert.match(
      declare(changed('redis.call', 'local now = c()\nredis.call'), { c: fn('c') }),
      /local function c\(\)end/,
    )
  })

  test('also those that it hands on', () => {
    assert.deepEqual(
      withFunctions('lock', 'local f = { a = b, c = 1 } redis.call(f.d)', texts({ a: fn('a'), b: fn('b') })).names,
      ['b'],
    )
  })

  test('of its own kind, of the one that it leans on, of the line, of outsiders, or of all', () => {
    const everywhere = ['', 'lock/', 'line/', 'outsiders/', 'semaphore/', 'permit-semaphore/']
    const from = (kind: string, folders: readonly string[]): readonly string[] =>
      withFunctions(kind, 'isIn()', new Map(folders.map((folder) => [`${folder}is-in`, fn('isIn')]))).names
    assert.deepEqual(from('lock', everywhere), ['lock/is-in'])
    assert.deepEqual(from('fenced-lock', everywhere), ['lock/is-in'])
    assert.deepEqual(from('permit-semaphore', everywhere), ['permit-semaphore/is-in'])
    assert.deepEqual(from('permit-semaphore', everywhere.slice(0, 5)), ['semaphore/is-in'])
    assert.deepEqual(from('spin-lock', everywhere), ['line/is-in'])
    assert.deepEqual(from('spin-lock', ['', 'outsiders/']), ['outsiders/is-in'])
    assert.deepEqual(from('spin-lock', ['', 'lock/']), ['is-in'])
  })

  test('which its own take the place of, as do its locals', () => {
    const fragments = texts({ a: fn('a'), b: fn('b'), c: fn('c') })
    const body = 'local function a(b)\n  b()\nend\nfor _, c in a() do\n  x(c)\nend\nlocal function x() end\n'
    assert.deepEqual(withFunctions('lock', body, fragments).names, [])
  })

  test('at the marker, where they are called below it only', () => {
    const fragments = texts({ a: fn('a'), b: fn('b', 'a()'), c: fn('c', 'a()'), d: fn('d') })
    const body = 'b()\nif x() then return 1 end\n--functions\nc()\nd()\nlocal function x() end\n'
    assert.equal(order(withFunctions('lock', body, fragments).text), 'a b b() c d c() d() x')
  })

  const inBlock = 'a()\nif 1 then\n  --functions\n  b()\n'
  for (const rest of ['end\nc()\n', 'else\n  c()\nend\n', 'elseif c() then\n  c()\nend\n'])
    test(`in front, where they are called behind the block of the marker: ${JSON.stringify(rest)}`, () => {
      const fragments = texts({ a: fn('a'), b: fn('b'), c: fn('c') })
      assert.match(order(withFunctions('lock', inBlock + rest, fragments).text), /^a c a\(\) b b\(\)/)
    })

  test('again, in another block', () => {
    const body = `${inBlock}end\nif 2 then\n  --functions\n  b()\nend\n`
    assert.equal(order(withFunctions('lock', body, texts({ a: fn('a'), b: fn('b') })).text), 'a a() b b() b b()')
  })

  const refused: readonly (readonly [why: string, body: string, message: RegExp])[] = [
    ['one that is nowhere', 'redis.call(a)\nnowhere(1)', /there is no nowhere$/],
    ['one that is nowhere, called by another', 'lost()', /there is no nowhere, which lost\.lua uses/],
    ['a circle', 'a()', /a calls b calls a/],
    ['an odd marker', '--function\na()', /'--function' is neither/],
  ]
  for (const [why, body, message] of refused)
    test(`${why} does not build`, () => {
      const fragments = { a: fn('a', 'b()'), b: fn('b', 'a()'), lost: fn('lost', 'nowhere()') }
      const fine = body.startsWith('redis') ? { ...fragments, a: fn('a') } : fragments
      assert.throws(() => withFunctions('lock', `${body}\n`, texts(fine)), message)
    })
})

describe('a header and a body that disagree do not build', () => {
  const cases: readonly (readonly [why: string, text: string, message: RegExp])[] = [
    ['no purpose', GOOD.split('\n').slice(2).join('\n'), /no purpose/],
    ['no returns', changed('-- returns nil held | integer ttl\n', ''), /no 'returns'/],
    [
      'a rest at another place',
      changed('(ms)', '(ms), more[4..]'),
      /'more\[4\.\.\]' stands where 'more\[3\.\.\]' is due/,
    ],
    ['a slot that is never used', changed('lock, owner, 1', 'lock, 1, 1'), /owner is in the header and never used/],
    ['a slot used as a field only', changed('lock, owner, 1', 'lock, lock.owner, 1'), /owner is .* never used/],
    ['a slot that the header lacks', changed('lock, owner, 1', 'lock, owner, own'), /there is no own/],
    ['a slot read past the header', changed("'PEXPIRE', lock", "'PEXPIRE', KEYS[1]"), /KEYS is read/],
    ['a table read past the header', changed('owner, 1', 'owner, unpack(ARGV)'), /ARGV is read/],
    ['a rest never read', changed('(ms)', '(ms), more[3..]'), /more is in the header and never used/],
    ['two slots of one name', changed('lease (ms)', 'lock (ms)'), /two slots are 'lock'/],
    ['a text that is no number', changed('(ms)', '(bytes text)'), /\(bytes text\): only a number/],
    ['a slot after the rest', changed('(ms)', '(ms), more[3..], x'), /'x' follows 'more', which must be the last/],
    ['an unknown unit', changed('(ms)', '(s)'), /unknown unit \(s\); there are ms/],
    ['a unit of a key', changed('KEYS lock', 'KEYS lock (ms)'), /KEYS have no unit/],
    ['a name not in camelCase', changed('ARGV owner', 'ARGV the_owner'), /'the_owner' is no 'camelCase'/],
    ['a slot out of shape', changed('KEYS lock', 'KEYS: lock'), /': lock' is no 'camelCase'/],
    ['keys that come twice', changed('-- ARGV', '-- KEYS queue\n-- ARGV'), /'KEYS queue' stands behind KEYS/],
    ['keys behind the reply', changed('ttl\n', 'ttl\n-- ARGV queue\n'), /'ARGV queue' stands behind returns/],
    ['a word on what is not there', changed('  owner: its', '  own: its'), /own: its name' stands among KEYS and ARGV/],
    ['an unknown reply', changed('nil held', 'nothing held'), /begins with none of nil/],
    ['a function that is not there', changed('redis.call', 'nowhere()\nredis.call'), /there is no nowhere/],
    ['76 lines of code', GOOD + 'x = 1\n'.repeat(72), /76 lines of code/],
    ['what is no Lua 5.1', changed("'HSET'", '$'), /is not Lua 5\.1/],
  ]
  for (const [why, text, message] of cases) test(why, () => assert.throws(() => declare(text), message))

  test('but 60 lines of code do, whatever the comments', () => {
    declare(GOOD + 'x = 1\n-- why\n\n'.repeat(55))
  })
})

describe('a fragment', () => {
  const good = 'local function serverTime()\n  return 1\nend\n'
  test('is one local function named as its file', () => {
    checkFragment(good, 'server-time')
    assert.throws(() => {
      checkFragment(good, 'other')
    }, /must be 'other'/)
    assert.throws(() => {
      checkFragment('x = 1', 'x')
    }, /one 'local function'/)
  })
  test('has no marker and reads no KEYS or ARGV', () => {
    assert.throws(() => {
      checkFragment(`--functions\n${good}`, 'server-time')
    }, /only a script says/)
    assert.throws(() => {
      checkFragment(good.replace('1', 'KEYS[1]'), 'server-time')
    }, /no KEYS or ARGV/)
  })
})

describe('a constant', () => {
  const text = `/** Why. */
export const LEASE = 3_000
/** Why. */
export const LONG_LEASE = 2 * LEASE + 0.5
export const NEVER = '99'
`
  const named = (name: string): string => changed('lock, lease)', `lock, ${name})`).replace('owner, 1', 'owner, lease')

  test('is a number, a text, or made of others', () => {
    assert.deepEqual(readConstants(text), { LEASE: 3000, LONG_LEASE: 6000.5, NEVER: '99' })
  })
  test('has its value in the script where its name stands', () => {
    const values = readConstants(text)
    assert.match(declareScript('a/b', named('-LONG_LEASE'), new Map(), values), /'PEXPIRE',lock,-6000\.5\)/)
    assert.match(declareScript('a/b', named('NEVER'), new Map(), values), /'PEXPIRE',lock,'99'\)/)
  })
  test('that is not there does not build', () => {
    assert.throws(() => declare(named('LEASE')), /there is no constant LEASE/)
  })
  test('that stands nowhere is found, also where a comment names it', () => {
    assert.deepEqual(unusedConstants(text, ['x = LONG_LEASE -- NEVER']), ['NEVER'])
  })
})

describe('the reply grammar', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['nil', 'null'],
    ["integer 1 passed, 0 when it wasn't", 'number'],
    ['nil held | integer ttl', 'null | number'],
    ['integer a | integer b', 'number'],
    ['string[] owners', 'readonly string[]'],
    ['list whatever', 'readonly Reply[]'],
    ['[string owner, integer ttl] both', 'readonly [owner: string, ttl: number]'],
    ['[integer, string]', 'readonly [number, string]'],
    ['[integer state, string | nil token]', 'readonly [number, string | null]'],
    ['[integer state, string token | nil]', 'readonly [state: number, token: string | null]'],
    ['[string owner, integer count][]', 'readonly (readonly [owner: string, count: number])[]'],
    ["['held', integer ttl] | ['taken']", "readonly ['held', number] | readonly ['taken']"],
    ['1 taken | 0 not', '1 | 0'],
    ['digits stamp', 'string'],
    ['string[pairs] names and values in turn', 'readonly string[]'],
  ]
  for (const [text, type] of cases) test(text, () => assert.equal(parseReply(text).type, type))
  test('a bracket without its partner', () => {
    assert.throws(() => parseReply('[integer'), /a '\]' is missing/)
    assert.throws(() => parseReply('integer]'), /a '\]' too many/)
  })
})

describe('what is generated to check a reply with', () => {
  const slot = (name: string, rest: boolean) => ({ name, rest, type: 'string', number: false })
  const args = [slot('lease', false), slot('owners', true)]
  const cases: readonly (readonly [string, string])[] = [
    ["integer 1 passed, 0 when it wasn't", 'integer'],
    ['nil held | integer ttl', 'either(nil, integer)'],
    ['integer a | integer b', 'integer'],
    ['string[] owners', 'many(text)'],
    ['string[pairs] names and values', 'pairs'],
    ['integer[owners] ms left', 'oneFor(integer, 2, 1)'],
    ['[digits stamp, integer[owners/2] states] both', 'tuple(digits, oneFor(integer, 2, 2))'],
    ['list whatever', 'list'],
    ['[integer state, string token | nil]', 'tuple(integer, either(text, nil))'],
    ["['held', integer ttl] | ['taken']", "either(tuple(just('held'), integer), tuple(just('taken')))"],
    ['1 taken | 0 not', 'either(just(1), just(0))'],
  ]
  for (const [text, shape] of cases) test(text, () => assert.equal(parseReply(text, args).shape, shape))

  test('a list for arguments that are not there', () => {
    assert.throws(() => parseReply('integer[others]', args), /no ARGV\[n\.\.\] others/)
    assert.throws(() => parseReply('integer[lease]', args), /no ARGV\[n\.\.\] lease/)
  })
})

describe('the minifier', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['local a  =  1 -- why\nlocal b = 2', 'local a=1\nlocal b=2'],
    ['return a - -b', 'return a- -b'],
    ['return 1 ..x .. 2 .. .5', 'return 1 ..x.. 2 .. .5'],
    ["x = 'a  --  b' .. \"it's\"", "x='a  --  b'..\"it's\""],
    ["x = 'a\\'  b'", "x='a\\'  b'"],
    ['x = [[ a\n -- b ]] .. y', 'x=[[ a\n -- b ]]..y'],
    ['x = [==[ ]] ]=] ]==]', 'x=[==[ ]] ]=] ]==]'],
    ['--[[ long\n comment ]] x = 1 --[==[ ]] ]==] y = 2', 'x=1 y=2'],
    ['a[ [[k]] ] = b[ [=[k]=] ]', 'a[ [[k]]]=b[ [=[k]=]]'],
    ["f 'x' {y} (z)", "f'x'{y}(z)"],
    ['local x = f\n\n(g or h)()', 'local x=f\n(g or h)()'],
    ['if a ~= b then return not c end', 'if a~=b then return not c end'],
    ['x = 0xFF + 1e-5 + 3.', 'x=0xFF+1e-5+3.'],
    ['f(...)', 'f(...)'],
    ['x = #t % 2 ^ 3', 'x=#t%2^3'],
  ]
  for (const [text, expected] of cases) {
    test(JSON.stringify(text), () => {
      assert.equal(minify(text), expected)
      const words = (lua: string): string[] => tokenize(lua).map((token) => token.text)
      assert.deepEqual(words(minify(text)), words(text))
    })
  }
  test('a long bracket that does not end', () => {
    assert.throws(() => minify('x = [[ a'), /not closed/)
  })
})
