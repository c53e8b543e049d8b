import { argumentError, checkNumber, checkString, fail, joined, spendText, toInt64 } from './arguments.js'
import { formatExponent, formatFixed, formatGeneral } from './number-format.js'
import type { LuaValue, Thread } from './vm.gen.js'

interface Specification {
  readonly flags: string
  readonly width: number
  readonly precision: number | undefined
  readonly letter: string
}

const FLAGS = '-+ #0'

const isDigit = (c: string | undefined): boolean => c !== undefined && c >= '0' && c <= '9'

/** Reads a conversion after '%', with the limits of Lua 5.1: two digits for the width, two for the precision. */
const parse = (L: Thread, format: string, from: number): { specification: Specification; end: number } => {
  let p = from
  while (p < format.length && FLAGS.includes(format.charAt(p))) p++
  if (p - from >= 6) fail(L, 'invalid format (repeated flags)')
  const flags = format.slice(from, p)
  const digits = (): string => {
    const start = p
    if (isDigit(format[p])) p++
    if (isDigit(format[p])) p++
    return format.slice(start, p)
  }
  const width = Number(digits())
  let precision: number | undefined
  if (format[p] === '.') {
    p++
    precision = Number(digits())
  }
  if (isDigit(format[p])) fail(L, 'invalid format (width or precision too long)')
  return { specification: { flags, width, precision, letter: format[p] ?? '\0' }, end: p + 1 }
}

const pad = (text: string, { flags, width }: Specification, zeros: boolean): string => {
  if (flags.includes('-')) return text.padEnd(width)
  if (!zeros || !flags.includes('0') || text.length >= width) return text.padStart(width)
  const sign = /^(?:[-+ ]|0[xX])*/.exec(text)?.[0] ?? ''
  return sign + text.slice(sign.length).padStart(width - sign.length, '0')
}

const signed = (text: string, flags: string): string => {
  if (text.startsWith('-')) return text
  return (flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : '') + text
}

/** %d and %i: a 64-bit integer. */
const decimal = (value: number, specification: Specification): string => {
  const integer = BigInt(toInt64(value))
  const { precision } = specification
  const plain = precision === 0 && integer === 0n ? '' : (integer < 0n ? -integer : integer).toString()
  const digits = plain.padStart(precision ?? 1, '0')
  return pad(signed((integer < 0n ? '-' : '') + digits, specification.flags), specification, precision === undefined)
}

/** C's cast to unsigned on x86: a negative value wraps, and one that is too large becomes 0. */
const toUint64 = (value: number): bigint => {
  if (value >= 2 ** 64) return 0n
  return value >= 2 ** 63 ? BigInt(value) : BigInt.asUintN(64, BigInt(toInt64(value)))
}

const unsigned = (value: number, specification: Specification): string => {
  const { letter, flags, precision } = specification
  const integer = toUint64(value)
  const radix = letter === 'o' ? 8 : letter === 'u' ? 10 : 16
  let text = (precision === 0 && integer === 0n ? '' : integer.toString(radix)).padStart(precision ?? 1, '0')
  if (flags.includes('#') && letter === 'o' && !text.startsWith('0')) text = `0${text}`
  if (flags.includes('#') && radix === 16 && integer !== 0n) text = `0x${text}`
  return pad(letter === 'X' ? text.toUpperCase() : text, specification, precision === undefined)
}

const floating = (value: number, specification: Specification): string => {
  const { letter, flags } = specification
  const precision = specification.precision ?? 6
  const kind = letter.toLowerCase()
  let text =
    kind === 'e'
      ? formatExponent(value, precision)
      : kind === 'f'
        ? formatFixed(value, precision)
        : formatGeneral(value, precision, flags.includes('#'))
  if (flags.includes('#') && !text.includes('.') && Number.isFinite(value)) {
    text = kind === 'e' ? text.replace('e', '.e') : text.includes('e') ? text.replace('e', '.e') : `${text}.`
  }
  const shown = letter === kind ? text : text.toUpperCase()
  return pad(signed(shown, flags), specification, Number.isFinite(value))
}

/** C's %s stops at a zero byte. A long string without a precision is inserted whole. */
const text = (value: string, specification: Specification): string => {
  if (specification.precision === undefined && value.length >= 100) return value
  const zero = value.indexOf('\0')
  const shown = zero < 0 ? value : value.slice(0, zero)
  return pad(shown.slice(0, specification.precision), specification, false)
}

const QUOTED: Record<string, string> = { '"': '\\"', '\\': '\\\\', '\n': '\\\n', '\r': '\\r', '\0': '\\000' }

const quoted = (value: string): string => `"${value.replace(/["\\\n\r\0]/g, (c) => QUOTED[c] ?? c)}"`

const convert = (L: Thread, args: readonly LuaValue[], at: number, specification: Specification): string => {
  switch (specification.letter) {
    case 'c': {
      // Only the text before the first zero byte of sprintf's output counts, so "%c" with 0 inserts nothing.
      const code = checkNumber(L, args, at)
      // On x86, a number outside 32 bits becomes the lowest one.
      const byte = code > -(2 ** 31) - 1 && code < 2 ** 31 ? code & 255 : 0
      const padded = pad(String.fromCharCode(byte), specification, false)
      const zero = padded.indexOf('\0')
      return zero < 0 ? padded : padded.slice(0, zero)
    }
    case 'd':
    case 'i':
      return decimal(checkNumber(L, args, at), specification)
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      return unsigned(checkNumber(L, args, at), specification)
    case 'e':
    case 'E':
    case 'f':
    case 'g':
    case 'G':
      return floating(checkNumber(L, args, at), specification)
    case 'q':
      return quoted(checkString(L, args, at))
    case 's':
      return text(checkString(L, args, at), specification)
    default:
      return fail(L, `invalid option '%${specification.letter === '\0' ? '' : specification.letter}' to 'format'`)
  }
}

export const format = (L: Thread, args: LuaValue[]): string => {
  const pattern = checkString(L, args, 1)
  let result = ''
  let at = 1
  for (let i = 0; i < pattern.length;) {
    const percent = pattern.indexOf('%', i)
    if (percent < 0) return result + pattern.slice(i)
    result += pattern.slice(i, percent)
    if (pattern[percent + 1] === '%') {
      result += '%'
      i = percent + 2
      continue
    }
    if (++at > args.length) return argumentError(L, at, 'no value')
    const { specification, end } = parse(L, pattern, percent + 1)
    const piece = convert(L, args, at, specification)
    spendText(L, piece)
    result = joined(L, result, piece)
    i = end
  }
  return result
}
