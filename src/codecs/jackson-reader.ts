import { JavaValue, type Origin, origins, type Written } from './java-value.js'
import { MOST_DIGITS, MOST_LEVELS, tooDeep } from './codec-limits.js'

/** Matches Java's naming conventions, so that a list of two texts is not mistaken for a class and its value. */
const CLASS = /^(?:[a-z_][\w$]*\.)+[A-Z][\w$]*$|^\[+(?:[BCDFIJSZ]|L[\w.$]+;)$/
const LONGEST_CLASS = 300
const MAP = /^java\.util\.\S*Map/
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const SPACE = /[ \t\n\r]*/y
const CONTROL = /[^ -\uffff]/
const PARTS = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/
const LIST = 'java.util.ArrayList'
const HASH_MAP = 'java.util.HashMap'
/** Whole numbers with this many digits are always safe integers. */
const EXACT = 15

interface Named {
  readonly '@class'?: unknown
}

const DECIMAL = 'java.math.BigDecimal'

/** The digits without leading and trailing zeros, and the position of the point. */
const canonical = (text: string): string => {
  const [, whole = '', fraction = '', exponent = '0'] = PARTS.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  let end = digits.length
  while (end > 0 && digits[end - 1] === '0') end--
  return end === 0 ? '0' : `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}

const isExact = (digits: string): boolean => {
  const number = Number(digits)
  return Number.isFinite(number) && canonical(String(Math.abs(number))) === canonical(digits)
}

const integer = (digits: string): number | bigint => {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : BigInt(digits)
}

/** Reads Jackson's typed JSON in one pass, and keeps the digits of each number and everything that names a class. */
export class JacksonReader {
  readonly #text: string
  #at = 0
  #levels = 0
  /** The position of the next backslash. */
  #backslash = -1
  /** How the value that was read last was written, unless it is a list or an object. */
  #written: Written | undefined
  /** The digits of the number that was read last. */
  #digits: string | undefined
  /** How the value that was read last was written, if it is a list or an object. */
  #origin: Origin | undefined

  constructor(text: string) {
    this.#text = text
  }

  read(): unknown {
    const value = this.#kept(this.#value())
    this.#space()
    if (this.#at < this.#text.length) throw this.#wrong()
    return value
  }

  #wrong(): SyntaxError {
    return new SyntaxError(`not JSON: unexpected text at position ${this.#at} of ${this.#text.length}`)
  }

  #space(): void {
    const code = this.#text.charCodeAt(this.#at)
    if (code > 0x20) return
    SPACE.lastIndex = this.#at
    SPACE.test(this.#text)
    this.#at = SPACE.lastIndex
  }

  /** Skips the character if it is next. */
  #passed(character: string): boolean {
    this.#space()
    if (this.#text[this.#at] !== character) return false
    this.#at++
    return true
  }

  #expect(character: string): void {
    if (!this.#passed(character)) throw this.#wrong()
  }

  /** `plain`: a list whose class is known, so a text in it that looks like a class is a text. */
  #value(plain = false): unknown {
    this.#space()
    this.#written = undefined
    this.#digits = undefined
    this.#origin = undefined
    switch (this.#text[this.#at]) {
      case '[':
        return this.#list(plain)
      case '{':
        return this.#object()
      case '"':
        return this.#string()
      case 't':
        return this.#word('true', true)
      case 'f':
        return this.#word('false', false)
      case 'n':
        return this.#word('null', null)
      default:
        return this.#number()
    }
  }

  /** Remembers how a value was written, unless it would be written like that anyway. */
  #kept(value: unknown): unknown {
    const origin = this.#origin
    if (origin === undefined || typeof value !== 'object' || value === null) return value
    const isUsual = Array.isArray(value)
      ? origin.wrapper === LIST
      : origin.wrapper === undefined && (origin.type === HASH_MAP || typeof (value as Named)['@class'] === 'string')
    if (!isUsual || origin.fields !== undefined) origins.set(value, origin)
    return value
  }

  #enter(): void {
    if (++this.#levels > MOST_LEVELS) throw tooDeep()
    this.#at++
  }

  #left(origin: Origin): void {
    this.#levels--
    this.#written = undefined
    this.#digits = undefined
    this.#origin = origin
  }

  #word<T>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) throw this.#wrong()
    this.#at += word.length
    return value
  }

  #number(): number | bigint {
    NUMBER.lastIndex = this.#at
    if (!NUMBER.test(this.#text)) throw this.#wrong()
    const digits = this.#text.slice(this.#at, NUMBER.lastIndex)
    if (digits.length > MOST_DIGITS) throw new RangeError(`a number may have at most ${MOST_DIGITS} digits`)
    this.#at = NUMBER.lastIndex
    this.#digits = digits
    const value = digits.length > EXACT && /^-?\d+$/.test(digits) ? integer(digits) : Number(digits)
    if (typeof value === 'bigint') this.#written = { type: null, value }
    else if (!Number.isFinite(value)) throw new RangeError(`${digits} is too large for a number`)
    return value
  }

  /** Looks at each character only a few times, however many quotes and backslashes there are. */
  #string(): string {
    const text = this.#text
    const from = this.#at
    const quote = text.indexOf('"', from + 1)
    if (quote === -1) throw this.#wrong()
    if (this.#backslash < from) this.#backslash = nextOf(text, from)
    if (quote < this.#backslash) {
      this.#at = quote + 1
      const plain = text.slice(from + 1, quote)
      if (CONTROL.test(plain)) throw this.#wrong()
      return plain
    }
    let end = from + 1
    for (; text[end] !== '"'; end += text[end] === '\\' ? 2 : 1) if (end >= text.length) throw this.#wrong()
    this.#at = end + 1
    return JSON.parse(text.slice(from, this.#at)) as string
  }

  #list(plain: boolean): unknown {
    this.#enter()
    const items: unknown[] = []
    const origin: Origin = {}
    // These belong to the second of two items, which is the value if the first item names a class.
    let digits: string | undefined
    let inner: Origin | undefined
    if (!this.#passed(']')) {
      do {
        const second = items.length === 1
        const item = this.#value(second && !plain && isClass(items[0]))
        if (second) [digits, inner] = [this.#digits, this.#origin]
        else this.#kept(item)
        if (this.#written !== undefined) (origin.fields ??= new Map()).set(items.length, this.#written)
        items.push(item)
      } while (this.#passed(','))
      this.#expect(']')
    }
    if (items.length === 2 && !plain && isClass(items[0])) {
      this.#left(origin)
      return this.#typed(items[0], items[1], digits, inner)
    }
    this.#origin = inner
    this.#kept(items[1])
    this.#left(origin)
    return items
  }

  #typed(type: string, value: unknown, digits: string | undefined, origin: Origin | undefined): unknown {
    this.#origin = undefined
    if (typeof value === 'object' && value !== null) {
      this.#origin = { ...origin, wrapper: type }
      return value
    }
    if (type === 'java.util.Date') {
      if (digits === undefined) throw new TypeError('a java.util.Date is not a number')
      // eslint-disable-next-line no-restricted-globals -- the sender's value, not the time
      return new Date(Number(digits))
    }
    // Jackson can be configured to write numbers as text.
    const text = digits ?? (type === DECIMAL && typeof value === 'string' && PARTS.test(value) ? value : undefined)
    if (type === DECIMAL && text !== undefined) {
      if (text.length > MOST_DIGITS || !isExact(text)) return new JavaValue(type, text)
      return this.#remember({ type, value: Number(text), digits: text })
    }
    return this.#remember({ type, value })
  }

  #remember(written: Written): unknown {
    this.#written = written
    return written.value
  }

  #object(): unknown {
    this.#enter()
    const fields: Record<string, unknown> = {}
    const origin: Origin = {}
    if (!this.#passed('}')) {
      do {
        this.#space()
        if (this.#text[this.#at] !== '"') throw this.#wrong()
        const name = this.#string()
        this.#expect(':')
        const value = this.#kept(this.#value())
        if (this.#written !== undefined) (origin.fields ??= new Map()).set(name, this.#written)
        else origin.fields?.delete(name)
        put(fields, name, value)
      } while (this.#passed(','))
      this.#expect('}')
    }
    const type = fields['@class']
    if (typeof type === 'string' && MAP.test(type)) {
      delete fields['@class']
      origin.type = type
    }
    this.#left(origin)
    return fields
  }
}

const isClass = (value: unknown): value is string =>
  typeof value === 'string' && value.length < LONGEST_CLASS && CLASS.test(value)

const nextOf = (text: string, from: number): number => {
  const at = text.indexOf('\\', from)
  return at === -1 ? text.length : at
}

/** A field can have any name, even `__proto__`. */
const put = (fields: Record<string, unknown>, name: string, value: unknown): void => {
  if (name !== '__proto__') fields[name] = value
  else Object.defineProperty(fields, name, { value, writable: true, enumerable: true, configurable: true })
}
