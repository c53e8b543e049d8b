import type { CommandContext, CommandTable } from '../command.js'
import { syntaxError, tooLong } from '../error-texts.js'
import { readInteger, roughInteger } from '../numbers.js'
import { type Bytes, LONGEST, type Reply, ReplyError } from '../reply.js'
import { chargeText } from '../command-cost.js'
import { chargeGrowth, putText, textOf } from './string.js'

const LAST_BIT = 2 ** 32 - 1

const bitOffset = (text: Bytes): number => {
  const value = readInteger(text)
  if (typeof value === 'number' && value >= 0 && value <= LAST_BIT) return value
  throw new ReplyError('ERR bit offset is not an integer or out of range')
}

/** Bit 0 is the highest bit of a byte. */
const mask = (bit: number): number => 0x80 >> (bit % 8)

const byteAt = (text: Bytes, index: number): number => (index < text.length ? text.charCodeAt(index) : 0)

const setBit = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const bit = bitOffset(argv[2] as Bytes)
  const on = argv[3]
  if (on !== '0' && on !== '1') throw new ReplyError('ERR bit is not an integer or out of range')
  const text = textOf(database, key) ?? ''
  const index = Math.floor(bit / 8)
  if (index >= LONGEST) throw tooLong()
  const byte = byteAt(text, index)
  const changed = on === '1' ? byte | mask(bit) : byte & ~mask(bit)
  if (changed !== byte || index >= text.length) {
    chargeGrowth(text, index + 1)
    const head = text.slice(0, index).padEnd(index, '\0')
    putText(database, key, head + String.fromCharCode(changed) + text.slice(index + 1))
  }
  return (byte & mask(bit)) === 0 ? 0 : 1
}

const getBit = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const bit = bitOffset(argv[2] as Bytes)
  const text = textOf(database, argv[1] as Bytes) ?? ''
  return (byteAt(text, Math.floor(bit / 8)) & mask(bit)) === 0 ? 0 : 1
}

/** How many bits are set, by the value of a byte. */
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)

/** The first and last bit to look at, from the last arguments of the command. */
const bitRange = (argv: readonly Bytes[], length: number): [first: number, last: number] => {
  if (argv.length === 2) return [0, length * 8 - 1]
  if (argv.length !== 4 && argv.length !== 5) throw syntaxError()
  let start = roughInteger(argv[2] as Bytes)
  let end = roughInteger(argv[3] as Bytes)
  // Redis treats such a range as empty before it reads the unit.
  if (start < 0 && end < 0 && start > end) return [0, -1]
  const unit = argv[4]?.toUpperCase() ?? 'BYTE'
  if (unit !== 'BYTE' && unit !== 'BIT') throw syntaxError()
  const size = unit === 'BIT' ? 1 : 8
  const total = (length * 8) / size
  if (start < 0) start = Math.max(0, total + start)
  if (end < 0) end = Math.max(0, total + end)
  return [start * size, Math.min(end, total - 1) * size + size - 1]
}

const bitCount = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const text = textOf(database, argv[1] as Bytes)
  if (text === undefined) return 0
  const [first, last] = bitRange(argv, text.length)
  let count = 0
  const lastByte = Math.floor(last / 8)
  chargeText(lastByte - Math.floor(first / 8))
  for (let i = Math.floor(first / 8); i <= lastByte && first <= last; i++) {
    let byte = text.charCodeAt(i)
    if (i * 8 < first) byte &= 0xff >> (first % 8)
    if (i === lastByte) byte &= 0xff << (7 - (last % 8))
    count += ONES[byte & 0xff] as number
  }
  return count
}

export const bitCommands: CommandTable = {
  setbit: { arity: 4, write: true, handle: setBit },
  getbit: { arity: 3, handle: getBit },
  bitcount: { arity: -2, handle: bitCount },
}
