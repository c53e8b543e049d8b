import { fail } from './arguments.js'
import { newTable, rawSet, stringToNumber } from './vm.gen.js'
import type { CjsonSettings } from './cjson-settings.js'
import type { LuaValue, Thread } from './vm.gen.js'

interface Token {
  readonly type: string
  readonly at: number
  readonly value?: LuaValue
}

const SIGNS: Record<string, string> = {
  '{': 'T_OBJ_BEGIN', '}': 'T_OBJ_END', '[': 'T_ARR_BEGIN', ']': 'T_ARR_END', ':': 'T_COLON', ',': 'T_COMMA',
} // prettier-ignore

const ESCAPES: Record<string, string> = {
  '"': '"', '\\': '\\', '/': '/', b: '\b', t: '\t', n: '\n', f: '\f', r: '\r',
} // prettier-ignore

const NUMBER =
  /[+-]?(?:0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)(?:[pP][+-]?\d+)?|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?|inf(?:inity)?|nan(?:\([0-9A-Za-z_]*\))?)/iy

const INVALID_NUMBER = /\+|-?(?:0[xX0-9]|inf|nan)/iy

const PLAIN = /[^"\\\0]*/y

const utf8 = (code: number): string => {
  if (code < 0x80) return String.fromCharCode(code)
  if (code < 0x800) return String.fromCharCode(0xc0 | (code >> 6), 0x80 | (code & 63))
  if (code < 0x10000) return String.fromCharCode(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63))
  return String.fromCharCode(
    0xf0 | (code >> 18),
    0x80 | ((code >> 12) & 63),
    0x80 | ((code >> 6) & 63),
    0x80 | (code & 63),
  )
}

/** cjson.decode: the same grammar, the same leniency and the same messages. */
export class CjsonDecoder {
  readonly #L: Thread
  readonly #text: string
  readonly #settings: CjsonSettings
  #at = 0
  #depth = 0

  constructor(L: Thread, text: string, settings: CjsonSettings) {
    this.#L = L
    this.#text = text
    this.#settings = settings
  }

  decode(): LuaValue {
    const value = this.#value(this.#next())
    const end = this.#next()
    return end.type === 'T_END' ? value : this.#unexpected('the end', end)
  }

  #unexpected(expected: string, token: Token): never {
    const found = token.type === 'T_ERROR' && typeof token.value === 'string' ? token.value : token.type
    return fail(this.#L, `Expected ${expected} but found ${found} at character ${token.at + 1}`)
  }

  #value(token: Token): LuaValue {
    switch (token.type) {
      case 'T_STRING':
      case 'T_NUMBER':
      case 'T_BOOLEAN':
      case 'T_NULL':
        return token.value
      case 'T_OBJ_BEGIN':
        return this.#object()
      case 'T_ARR_BEGIN':
        return this.#array()
      default:
        return this.#unexpected('value', token)
    }
  }

  #descend(): void {
    if (++this.#depth > this.#settings.decodeMaxDepth) {
      fail(this.#L, `Found too many nested data structures (${this.#depth}) at character ${this.#at}`)
    }
  }

  #object(): LuaValue {
    this.#descend()
    const table = newTable(this.#L)
    let token = this.#next()
    while (token.type !== 'T_OBJ_END') {
      if (token.type !== 'T_STRING') this.#unexpected('object key string', token)
      const colon = this.#next()
      if (colon.type !== 'T_COLON') this.#unexpected('colon', colon)
      rawSet(this.#L, table, token.value, this.#value(this.#next()))
      token = this.#next()
      if (token.type === 'T_OBJ_END') break
      if (token.type !== 'T_COMMA') this.#unexpected('comma or object end', token)
      token = this.#next()
      if (token.type === 'T_OBJ_END') this.#unexpected('object key string', token)
    }
    this.#depth--
    return table
  }

  #array(): LuaValue {
    this.#descend()
    const table = newTable(this.#L)
    let token = this.#next()
    for (let i = 1; token.type !== 'T_ARR_END'; i++) {
      rawSet(this.#L, table, i, this.#value(token))
      token = this.#next()
      if (token.type === 'T_ARR_END') break
      if (token.type !== 'T_COMMA') this.#unexpected('comma or array end', token)
      token = this.#next()
      if (token.type === 'T_ARR_END') this.#unexpected('value', token)
    }
    this.#depth--
    return table
  }

  #error(message: string): Token {
    return { type: 'T_ERROR', at: this.#at, value: message }
  }

  #next(): Token {
    while (' \t\n\r'.includes(this.#text[this.#at] ?? 'x')) this.#at++
    const at = this.#at
    const c = this.#text[at] ?? '\0'
    if (c === '\0') return { type: 'T_END', at }
    const sign = SIGNS[c]
    if (sign) {
      this.#at++
      return { type: sign, at }
    }
    if (c === '"') return this.#string()
    if (c === '-' || (c >= '0' && c <= '9')) {
      return !this.#settings.decodeInvalidNumbers && this.#isInvalid() ? this.#error('invalid number') : this.#number()
    }
    if (this.#text.startsWith('true', at)) return this.#word('T_BOOLEAN', true, 4)
    if (this.#text.startsWith('false', at)) return this.#word('T_BOOLEAN', false, 5)
    if (this.#text.startsWith('null', at)) return this.#word('T_NULL', null, 4)
    if ('iInN+'.includes(c) && this.#settings.decodeInvalidNumbers && this.#isInvalid()) return this.#number()
    return this.#error('invalid token')
  }

  #word(type: string, value: LuaValue, length: number): Token {
    const at = this.#at
    this.#at += length
    return { type, at, value }
  }

  #isInvalid(): boolean {
    INVALID_NUMBER.lastIndex = this.#at
    return INVALID_NUMBER.test(this.#text)
  }

  #number(): Token {
    NUMBER.lastIndex = this.#at
    const match = NUMBER.exec(this.#text)
    const value = match ? stringToNumber(match[0]) : false
    return match && value !== false ? this.#word('T_NUMBER', value, match[0].length) : this.#error('invalid number')
  }

  #string(): Token {
    const at = this.#at++
    let value = ''
    for (;;) {
      PLAIN.lastIndex = this.#at
      const plain = PLAIN.exec(this.#text)?.[0] ?? ''
      value += plain
      this.#at += plain.length
      const c = this.#text[this.#at] ?? '\0'
      if (c === '"') break
      if (c === '\0') return this.#error('unexpected end of string')
      const letter = this.#text[this.#at + 1] ?? '\0'
      if (letter === 'u') {
        const code = this.#unicodeEscape()
        if (code < 0) return this.#error('invalid unicode escape code')
        value += utf8(code)
        continue
      }
      const escaped = ESCAPES[letter]
      if (escaped === undefined) return this.#error('invalid escape code')
      value += escaped
      this.#at += 2
    }
    this.#at++
    return { type: 'T_STRING', at, value }
  }

  #hex4(at: number): number {
    const digits = this.#text.slice(at, at + 4)
    return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : -1
  }

  /** The code point of a \u escape, or of a pair of them; -1 if it is invalid. */
  #unicodeEscape(): number {
    const code = this.#hex4(this.#at + 2)
    if (code < 0) return -1
    if ((code & 0xf800) !== 0xd800) {
      this.#at += 6
      return code
    }
    if ((code & 0x400) !== 0 || !this.#text.startsWith('\\u', this.#at + 6)) return -1
    const low = this.#hex4(this.#at + 8)
    if (low < 0 || (low & 0xfc00) !== 0xdc00) return -1
    this.#at += 12
    return (((code & 0x3ff) << 10) | (low & 0x3ff)) + 0x10000
  }
}
