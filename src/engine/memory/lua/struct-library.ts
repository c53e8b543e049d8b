import { argumentError, checkNumber, checkString, fail, optionalInteger, toInt64, toNumber } from './arguments.js'
import type { LuaValue, NativeBody, Thread } from './vm.gen.js'

const INT_MAX = 0x7fffffff
const LARGEST_INTEGER = 32
const NATIVE_ALIGNMENT = 8

const isDigit = (c: string | undefined): boolean => c !== undefined && c >= '0' && c <= '9'

/** Reads a format, one option at a time, and keeps track of byte order and alignment. */
class FormatReader {
  little = true
  alignment = 1
  readonly #L: Thread
  readonly #format: string
  #at = 0

  constructor(L: Thread, format: string) {
    this.#L = L
    const zero = format.indexOf('\0')
    this.#format = zero < 0 ? format : format.slice(0, zero)
  }

  /** The next option and the size of its value; undefined at the end. */
  next(): { option: string; size: number } | undefined {
    const option = this.#format[this.#at++]
    return option === undefined ? undefined : { option, size: this.#size(option) }
  }

  padding(length: number, option: string, wanted: number): number {
    if (wanted === 0 || option === 'c') return 0
    const size = Math.min(wanted, this.alignment)
    return (size - (length & (size - 1))) & (size - 1)
  }

  /** Handles options without a value: byte order, alignment and blanks. */
  control(option: string): void {
    if (option === ' ') return
    if (option === '>') this.little = false
    else if (option === '<') this.little = true
    else if (option === '!') {
      const size = this.#number(NATIVE_ALIGNMENT)
      if (size <= 0 || (size & (size - 1)) !== 0) fail(this.#L, `alignment ${size} is not a power of 2`)
      this.alignment = size
    } else argumentError(this.#L, 1, `invalid format option '${option}'`)
  }

  #number(otherwise: number): number {
    if (!isDigit(this.#format[this.#at])) return otherwise
    let value = 0
    while (isDigit(this.#format[this.#at])) {
      const digit = Number(this.#format[this.#at])
      if (value > INT_MAX / 10 || value * 10 > INT_MAX - digit) fail(this.#L, 'integral size overflow')
      value = value * 10 + digit
      this.#at++
    }
    return value
  }

  #size(option: string): number {
    switch (option) {
      case 'b':
      case 'B':
      case 'x': // prettier-ignore
        return 1
      case 'h':
      case 'H': // prettier-ignore
        return 2
      case 'l':
      case 'L':
      case 'T':
      case 'd': // prettier-ignore
        return 8
      case 'f':
        return 4
      case 'c':
        return this.#number(1)
      case 'i':
      case 'I': {
        // prettier-ignore
        const size = this.#number(4)
        if (size > LARGEST_INTEGER) {
          fail(this.#L, `integral size ${size} is larger than limit of ${LARGEST_INTEGER}`)
        }
        return size
      }
      default:
        return 0
    }
  }
}

const INTEGERS = 'bBhHlLTiI'

const bytesOf = (value: number, size: number, little: boolean): string => {
  const unsigned = value >= 2 ** 63 && value < 2 ** 64
  let rest = BigInt.asUintN(64, unsigned ? BigInt(value) : BigInt(value >= 2 ** 64 ? 0 : toInt64(value)))
  let text = ''
  for (let i = 0; i < size; i++) {
    const c = String.fromCharCode(Number(rest & 255n))
    text = little ? text + c : c + text
    rest >>= 8n
  }
  return text
}

const integerFrom = (data: string, at: number, size: number, little: boolean, signed: boolean): number => {
  let value = 0n
  for (let i = 0; i < size; i++) {
    value = BigInt.asUintN(64, (value << 8n) | BigInt(data.charCodeAt(little ? at + size - 1 - i : at + i)))
  }
  if (!signed || size === 0) return Number(value)
  return Number(BigInt.asIntN(Math.min(64, size * 8), value))
}

const view = new DataView(new ArrayBuffer(8))

const floatBytes = (value: number, size: number, little: boolean): string => {
  if (size === 4) view.setFloat32(0, value, little)
  else view.setFloat64(0, value, little)
  let text = ''
  for (let i = 0; i < size; i++) text += String.fromCharCode(view.getUint8(i))
  return text
}

const floatFrom = (data: string, at: number, size: number, little: boolean): number => {
  for (let i = 0; i < size; i++) view.setUint8(i, data.charCodeAt(at + i))
  return size === 4 ? view.getFloat32(0, little) : view.getFloat64(0, little)
}

const pack: NativeBody = (L, given) => {
  // The server has a nil after the arguments, so a missing argument is nil.
  const args = [...given, undefined]
  const reader = new FormatReader(L, checkString(L, given, 1))
  let result = ''
  let at = 2
  for (let item = reader.next(); item; item = reader.next()) {
    const { option, size } = item
    result += '\0'.repeat(reader.padding(result.length, option, size))
    if (INTEGERS.includes(option)) result += bytesOf(checkNumber(L, args, at++), size, reader.little)
    else if (option === 'x') result += '\0'
    else if (option === 'f' || option === 'd') result += floatBytes(checkNumber(L, args, at++), size, reader.little)
    else if (option === 'c' || option === 's') {
      const text = checkString(L, args, at++)
      const length = size === 0 ? text.length : size
      if (text.length < length) argumentError(L, at, 'string too short')
      result += text.slice(0, length) + (option === 's' ? '\0' : '')
    } else reader.control(option)
  }
  return result
}

const unpack: NativeBody = (L, args) => {
  const reader = new FormatReader(L, checkString(L, args, 1))
  const data = checkString(L, args, 2)
  let at = optionalInteger(L, args, 3, 1) - 1
  if (at < 0) argumentError(L, 3, 'offset must be 1 or greater')
  const need = (size: number): void => {
    if (size > data.length || at > data.length - size) argumentError(L, 2, 'data string too short')
  }
  const values: LuaValue[] = []
  for (let item = reader.next(); item; item = reader.next()) {
    const { option } = item
    let { size } = item
    at += reader.padding(at, option, size)
    need(size)
    if (INTEGERS.includes(option)) {
      values.push(integerFrom(data, at, size, reader.little, option === option.toLowerCase()))
    } else if (option === 'f' || option === 'd') values.push(floatFrom(data, at, size, reader.little))
    else if (option === 'c') {
      if (size === 0) {
        const length = toNumber(values.pop())
        if (length === undefined) return fail(L, "format 'c0' needs a previous size")
        // Like C's cast to size_t: a value that is too large becomes 0, and a negative one becomes huge.
        const whole = Math.trunc(length)
        size = whole < 0 || length !== length ? Infinity : whole >= 2 ** 64 ? 0 : whole
        need(size)
      }
      values.push(data.slice(at, at + size))
    } else if (option === 's') {
      const end = data.indexOf('\0', at)
      if (end < 0) return fail(L, 'unfinished string in data')
      values.push(data.slice(at, end))
      size = end - at + 1
    } else if (option !== 'x') reader.control(option)
    at += size
  }
  return [...values, at + 1]
}

const size: NativeBody = (L, args) => {
  const reader = new FormatReader(L, checkString(L, args, 1))
  let total = 0
  for (let item = reader.next(); item; item = reader.next()) {
    const { option } = item
    total += reader.padding(total, option, item.size)
    if (option === 's') argumentError(L, 1, "option 's' has no fixed size")
    if (option === 'c' && item.size === 0) argumentError(L, 1, "option 'c0' has no fixed size")
    if (!/[0-9A-Za-z]/.test(option)) reader.control(option)
    total += item.size
  }
  return total
}

export const structLibrary: Record<string, NativeBody> = { pack, unpack, size }
