/** Random Lua programs that behave the same wherever they run: no addresses, no clock, no endless loops. */
export class ProgramWriter {
  readonly #random: () => number

  constructor(random: () => number) {
    this.#random = random
  }

  program(): string {
    const statements = Array.from({ length: 2 + this.#below(5) }, () => this.#statement())
    const last = this.#chance(0.7) ? 'return out' : `return ${this.#any(3)}`
    return [PRELUDE, ...statements, last].join(this.#chance(0.5) ? '\n' : ' ')
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n)
  }

  #chance(p: number): boolean {
    return this.#random() < p
  }

  #pick<T>(options: readonly T[]): T {
    return options[this.#below(options.length)] as T
  }

  #statement(): string {
    const value = this.#any(3)
    switch (this.#below(9)) {
      case 0:
        return `a = ${value};`
      case 1:
        return `b = ${value};`
      case 2:
        // Answered, a table within itself nests deeper than clients of Redis can read.
        return `t[key(${this.#any(1)})] = ${/\bt\b(?![[.])/.test(value) ? 'n' : value};`
      case 3:
        return `for i = ${this.#below(3)}, ${this.#below(6)} do n = n + i; put(${value}) end;`
      case 4:
        return `if ${this.#any(2)} then put(${value}) else put(${this.#any(2)}) end;`
      case 5:
        return `for k, v in pairs(${this.#table(2)}) do put(k); put(v) end;`
      default:
        return `put((pcall(function() return ${value} end)));put(select(2, pcall(function() return ${value} end)));`
    }
  }

  #any(depth: number): string {
    if (depth <= 0) return this.#pick([() => this.#number(0), () => this.#string(0), () => this.#simple()])()
    const kinds = [
      () => this.#number(depth), () => this.#number(depth), () => this.#string(depth), () => this.#string(depth),
      () => this.#table(depth), () => this.#logic(depth), () => this.#compare(depth), () => this.#wild(depth),
      () => this.#formats(depth), () => this.#simple(),
    ] // prettier-ignore
    return this.#pick(kinds)()
  }

  #simple(): string {
    return this.#pick([
      'a',
      'b',
      'n',
      's',
      't',
      'nil',
      'true',
      'false',
      't.x',
      't[1]',
      's',
      '#t',
      '#s',
      'nope',
      'KEYS[1]',
    ])
  }

  #number(depth: number): string {
    if (depth <= 0) return this.#pick(NUMBERS)
    const one = (): string => (this.#chance(0.85) ? this.#number(depth - 1) : this.#any(depth - 1))
    switch (this.#below(8)) {
      case 0:
      case 1:
        return `(${one()} ${this.#pick(['+', '-', '*', '/', '%'])} ${one()})`
      case 2:
        // Not of a constant: Lua 5.1 has one place for 0 and -0 in a function's constants, and whichever comes first is both.
        return `(-(n + ${one()}))`
      case 3:
        return `math.${this.#pick(['floor', 'ceil', 'abs', 'sqrt'])}(${one()})`
      case 4:
        return `math.${this.#pick(['max', 'min', 'fmod'])}(${one()}, ${one()})`
      case 5:
        return `bit.${this.#pick(['band', 'bor', 'bxor', 'lshift', 'rshift', 'arshift', 'rol', 'ror'])}(${one()}, ${one()})`
      case 6:
        return `tonumber(${this.#string(depth - 1)}${this.#chance(0.3) ? `, ${this.#pick(['2', '8', '10', '16', '36'])}` : ''})`
      default:
        return this.#pick([`#${this.#string(depth - 1)}`, `#${this.#table(depth - 1)}`, one()])
    }
  }

  #string(depth: number): string {
    if (depth <= 0) return this.#pick(STRINGS)
    const one = (): string => (this.#chance(0.85) ? this.#string(depth - 1) : this.#any(depth - 1))
    const small = (): string => this.#pick(['0', '1', '2', '3', '-1', '-2', '10', '1.5'])
    switch (this.#below(11)) {
      case 0:
      case 1:
        return `(${one()} .. ${one()})`
      case 2:
        return `string.sub(${one()}, ${small()}, ${small()})`
      case 3:
        return `string.rep(${one()}, ${small()})`
      case 4:
        return `string.${this.#pick(['upper', 'lower', 'reverse', 'len', 'byte'])}(${one()})`
      case 5:
        return `string.format(${this.#pick(FORMATS)}, ${this.#any(depth - 1)}, ${this.#any(depth - 1)})`
      case 6:
        return `(string.gsub(${one()}, ${this.#pick(PATTERNS)}, ${this.#pick(REPLACEMENTS)}))`
      case 7:
        return `string.${this.#pick(['find', 'match'])}(${one()}, ${this.#pick(PATTERNS)}${this.#chance(0.3) ? `, ${small()}` : ''})`
      case 8:
        return `text(${this.#any(depth - 1)})`
      case 9:
        return `table.concat(${this.#table(depth - 1)}, ${this.#pick(STRINGS)})`
      default:
        return `(${one()}):${this.#pick(['upper()', 'len()', 'rep(2)', 'sub(2)', 'nope()', 'byte()'])}`
    }
  }

  #table(depth: number): string {
    if (depth <= 0) return this.#pick(['{}', 't', '{1, 2, 3}', '{x = 1}'])
    const count = this.#below(5)
    const fields = Array.from({ length: count }, () => {
      const value = this.#any(depth - 1)
      return this.#pick([
        value,
        value,
        `${this.#pick(['x', 'y', 'name', 'id'])} = ${value}`,
        `[${this.#number(0)}] = ${value}`,
      ])
    })
    return `{${fields.join(', ')}}`
  }

  #logic(depth: number): string {
    const one = (): string => this.#any(depth - 1)
    return this.#pick([`(${one()} and ${one()})`, `(${one()} or ${one()})`, `(not ${one()})`])
  }

  #compare(depth: number): string {
    const operator = this.#pick(['==', '~=', '<', '<=', '>', '>='])
    const kind = this.#pick([() => this.#number(depth - 1), () => this.#string(depth - 1), () => this.#any(depth - 1)])
    return `(${kind()} ${operator} ${kind()})`
  }

  /** What mostly fails, so that messages are compared. */
  #wild(depth: number): string {
    const one = (): string => this.#any(depth - 1)
    switch (this.#below(9)) {
      case 0:
        return `error(raisable(${one()}))`
      case 1:
        return `(${this.#simple()}).${this.#pick(['x', 'y', 'z'])}`
      case 2:
        return `(${this.#simple()})(${one()})`
      case 3:
        return `select(${one()}, ${one()}, ${one()})`
      case 4:
        return `(function(...) local p, q = ... return ${this.#pick(['p', 'q', 'p .. q', 'p + q', 'p.x', '#p'])} end)(${one()}, ${one()})`
      case 5:
        return `t.${this.#pick(['x', 'y'])}.${this.#pick(['x', 'z'])}`
      case 6:
        return `unpack(${this.#table(depth - 1)})`
      case 7:
        return `redis.${this.#pick(['call', 'pcall'])}('echo', ${one()})`
      default:
        return `${this.#pick(['redis.sha1hex', 'redis.error_reply', 'redis.status_reply', 'type', 'next', 'ipairs', 'rawget', 'assert', 'tostring(nil) .. type', 'math.floor', 'string.rep'])}(${one()})`
    }
  }

  #formats(depth: number): string {
    const one = (): string => this.#any(depth - 1)
    const number = (): string => this.#number(depth - 1)
    switch (this.#below(8)) {
      case 0:
        return `cjson.encode(${one()})`
      case 1:
        return `cjson.decode(cjson.encode(${one()}))`
      case 2:
        return `cjson.decode(${this.#pick(JSONS)})`
      case 3:
        return `struct.pack('${this.#structFormat()}', ${number()}, ${number()}, ${number()})`
      case 4:
        return `struct.unpack('${this.#structFormat()}', ${this.#string(depth - 1)})`
      case 5:
        return `cmsgpack.pack(${one()})`
      case 6:
        return `cmsgpack.unpack(cmsgpack.pack(${one()}))`
      default:
        return `bit.tohex(${number()})`
    }
  }

  #structFormat(): string {
    const parts = Array.from({ length: 1 + this.#below(4) }, () =>
      this.#pick([
        'b',
        'B',
        'h',
        'H',
        'i',
        'I',
        'l',
        'L',
        'i3',
        'I2',
        'd',
        'f',
        's',
        'x',
        '>',
        '<',
        '!4',
        '!',
        'c0',
        'c2',
      ]),
    )
    return parts.join('')
  }
}

/**
 * A NaN's sign is the processor's affair, and a table's or function's address the server's.
 * What a program shows is cut, as it may double its strings many times over.
 * The server itself crashes when a table without `err` is raised and not caught.
 */
const PRELUDE = `
local out, t, n, s, a, b = {}, {1, 2, 3, x = 'y'}, 5, 'str', 1, 'b'
local function text(v) if type(v) == 'number' or type(v) == 'string' then return string.sub(tostring(v), 1, 100) end return type(v) end
local function key(v) if v == nil or v ~= v or type(v) == 'table' or type(v) == 'function' then return 1 end return v end
local function show(v, d)
  if type(v) ~= 'table' then return text(v) == 'boolean' and tostring(v) or text(v) end
  if d > 3 then return 'deep' end
  local parts = {}
  for k, e in pairs(v) do if #parts > 7 then break end parts[#parts + 1] = show(k, d + 1) .. '=' .. show(e, d + 1) end
  return '{' .. string.sub(table.concat(parts, ','), 1, 1000) .. '}'
end
local function raisable(v) if type(v) == 'table' then return {err = 'E ' .. text(v.err)} end return v end
local function put(v) out[#out + 1] = show(v, 0) end
`
  .replaceAll(/\s*\n\s*/g, ' ')
  .trim()

const NUMBERS = [
  '0', '1', '2', '3', '-1', '0.5', '10', '255', '256', '1e3', '0x10', '1e15', '2^53', '2^31', '-2^31', '1/3', '0.1',
  '123456789', '1e100', '-7', '3.7', '-3.7', '100', '65535', '1e14', '12345.678',
] // prettier-ignore

const STRINGS = [
  `''`, `'a'`, `'abc'`, `'hello world'`, `'10'`, `' 5 '`, `'0x1F'`, `'1e2'`, `'a\\0b'`, `'%d'`, `'key=value'`,
  `'\\1\\2\\3\\4'`, `'AbC'`, `'x.y.z'`, `'\\255\\254'`, `'line\\nline'`, `"it's"`, `'a/b"c'`,
] // prettier-ignore

const PATTERNS = [
  `'%a'`, `'%d+'`, `'.'`, `'(.)(.)'`, `'^a'`, `'c$'`, `'[%w_]+'`, `'%s*'`, `'l+'`, `'()o'`, `'[^a]'`, `'%('`, `'a-b'`,
  `'(%w+)=(%w+)'`, `'('`, `'%'`, `'[a'`, `''`, `'%1'`, `'.-o'`, `'%f[%w]%w'`, `'x*'`, `'.?'`,
] // prettier-ignore

const REPLACEMENTS = [
  `'x'`, `'%0%0'`, `'%1'`, `''`, `'[%0]'`, `'%%'`, `{a = 'A', b = 'B'}`, `function(c) return c end`, `string.upper`,
  `function() return nil end`, `5`, `nil`, `'%2'`,
] // prettier-ignore

const FORMATS = [
  `'%s'`, `'%d'`, `'%5.1f'`, `'%x'`, `'%q'`, `'%g'`, `'%s-%s'`, `'%10s|'`, `'%-5d|'`, `'%c'`, `'%e'`, `'%i%%'`,
  `'%.3s'`, `'%05d'`, `'%+d'`, `'%z'`, `'%.14g'`, `'%X %o'`, `'%u'`,
] // prettier-ignore

const JSONS = [
  `'[1,2,3]'`, `'{"a":1}'`, `'{"a":{"b":[1,{"c":null}]}}'`, `'[1,'`, `'{"a"'`, `'"x'`, `'tru'`, `'1e5'`, `'[]'`, `'{}'`,
  `'[true,false,null]'`, `'"\\\\u00e9\\\\n"'`, `' 12 '`, `'[1 2]'`, `'-'`, `'01'`, `'0x1f'`, `'{"a":1,}'`, `'[[[]]]'`,
] // prettier-ignore
