import { checkNumber, typeError } from './arguments.js'
import type { LuaValue, NativeBody, Thread } from './vm.gen.js'

const double = new Float64Array(1)
const words = new Int32Array(double.buffer)

/** 2^52 + 2^51: adding this to a number puts its rounded integer value into the low bits. */
const MAGIC = 6755399441055744
const LOW = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1 ? 0 : 1

const toBits = (L: Thread, args: LuaValue[], at: number): number => {
  const value = args.length < at ? typeError(L, args, at, 'number') : checkNumber(L, args, at)
  double[0] = value + MAGIC
  return words[LOW] ?? 0
}

const fold =
  (combine: (a: number, b: number) => number): NativeBody =>
  (L, args) => {
    let bits = toBits(L, args, 1)
    // The server reads the other arguments from the last one on, which affects the argument that an error names.
    for (let at = args.length; at > 1; at--) bits = combine(bits, toBits(L, args, at))
    return bits
  }

const shift =
  (move: (bits: number, by: number) => number): NativeBody =>
  (L, args) => {
    const bits = toBits(L, args, 1)
    return move(bits, toBits(L, args, 2) & 31) | 0
  }

const tohex: NativeBody = (L, args) => {
  const bits = toBits(L, args, 1)
  const wanted = args.length < 2 ? 8 : toBits(L, args, 2)
  const digits = Math.min(8, Math.abs(wanted))
  const text = digits === 0 ? '' : (bits >>> 0).toString(16).padStart(8, '0').slice(-digits)
  return wanted < 0 ? text.toUpperCase() : text
}

const swap = (b: number): number => (b >>> 24) | ((b >>> 8) & 0xff00) | ((b & 0xff00) << 8) | (b << 24)

export const bitLibrary: Record<string, NativeBody> = {
  arshift: shift((bits, by) => bits >> by),
  band: fold((a, b) => a & b),
  bnot: (L, args) => ~toBits(L, args, 1),
  bor: fold((a, b) => a | b),
  bswap: (L, args) => swap(toBits(L, args, 1)),
  bxor: fold((a, b) => a ^ b),
  lshift: shift((bits, by) => bits << by),
  rol: shift((bits, by) => (bits << by) | (bits >>> ((32 - by) & 31))),
  ror: shift((bits, by) => (bits >>> by) | (bits << ((32 - by) & 31))),
  rshift: shift((bits, by) => bits >>> by),
  tobit: (L, args) => toBits(L, args, 1),
  tohex,
}
