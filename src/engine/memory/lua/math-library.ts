import { argumentError, checkInt, checkNumber, fail, NOTHING } from './arguments.js'
import type { Random } from './random.js'
import type { LuaValue, NativeBody } from './vm.gen.js'

const unary =
  (compute: (x: number) => number): NativeBody =>
  (L, args) =>
    compute(checkNumber(L, args, 1))

const binary =
  (compute: (x: number, y: number) => number): NativeBody =>
  (L, args) => {
    // As compiled, the server checks the second argument first.
    const second = checkNumber(L, args, 2)
    return compute(checkNumber(L, args, 1), second)
  }

const power = (x: number, y: number): number =>
  x === 1 || (x === -1 && (y === Infinity || y === -Infinity)) ? 1 : x ** y

const modulo = (x: number, y: number): number => x % y

/** Splits a number into a mantissa in [0.5, 1) and a power of two. */
const frexp: NativeBody = (L, args) => {
  const x = checkNumber(L, args, 1)
  if (x === 0 || !Number.isFinite(x)) return [x, 0]
  let exponent = Math.max(-1023, Math.floor(Math.log2(Math.abs(x))) + 1)
  let mantissa = x * 2 ** -exponent
  for (; Math.abs(mantissa) < 0.5; exponent--) mantissa *= 2
  for (; Math.abs(mantissa) >= 1; exponent++) mantissa /= 2
  return [mantissa, exponent]
}

const ldexp: NativeBody = (L, args) => {
  let exponent = checkInt(L, args, 2)
  let x = checkNumber(L, args, 1)
  for (; exponent > 1000 && x !== 0 && Number.isFinite(x); exponent -= 1000) x *= 2 ** 1000
  for (; exponent < -1000 && x !== 0; exponent += 1000) x *= 2 ** -1000
  return x === 0 || !Number.isFinite(x) ? x : x * 2 ** exponent
}

const modf: NativeBody = (L, args) => {
  const x = checkNumber(L, args, 1)
  const whole = Math.trunc(x)
  return [
    whole,
    Number.isFinite(x)
      ? x === whole
        ? Object.is(x, -0) || x < 0
          ? -0
          : 0
        : x - whole
      : x !== x
        ? x
        : x < 0
          ? -0
          : 0,
  ]
}

const extreme =
  (better: (a: number, b: number) => boolean): NativeBody =>
  (L, args) => {
    let best = checkNumber(L, args, 1)
    for (let at = 2; at <= args.length; at++) {
      const value = checkNumber(L, args, at)
      if (better(value, best)) best = value
    }
    return best
  }

const GREATEST = 0x7fffffff

const random =
  (source: Random): NativeBody =>
  (L, args) => {
    const r = (source.next() % GREATEST) / GREATEST
    if (args.length === 0) return r
    if (args.length > 2) return fail(L, 'wrong number of arguments')
    const from = args.length === 1 ? 1 : checkInt(L, args, 1)
    const to = checkInt(L, args, args.length)
    if (from > to) return argumentError(L, args.length, 'interval is empty')
    return Math.floor(r * (args.length === 1 ? to : (to - from + 1) | 0)) + from
  }

export const mathConstants: Record<string, LuaValue> = { pi: Math.PI, huge: Infinity }

export const mathLibrary = (source: Random): Record<string, NativeBody> => ({
  abs: unary(Math.abs),
  acos: unary(Math.acos),
  asin: unary(Math.asin),
  atan: unary(Math.atan),
  atan2: binary(Math.atan2),
  ceil: unary(Math.ceil),
  cos: unary(Math.cos),
  cosh: unary(Math.cosh),
  deg: unary((x) => x / (Math.PI / 180)),
  exp: unary(Math.exp),
  floor: unary(Math.floor),
  fmod: binary(modulo),
  frexp,
  ldexp,
  log: unary(Math.log),
  log10: unary(Math.log10),
  max: extreme((a, b) => a > b),
  min: extreme((a, b) => a < b),
  mod: binary(modulo),
  modf,
  pow: binary(power),
  rad: unary((x) => x * (Math.PI / 180)),
  random: random(source),
  randomseed: (L, args) => {
    source.seed(checkInt(L, args, 1))
    return NOTHING
  },
  sin: unary(Math.sin),
  sinh: unary(Math.sinh),
  sqrt: unary(Math.sqrt),
  tan: unary(Math.tan),
  tanh: unary(Math.tanh),
})
