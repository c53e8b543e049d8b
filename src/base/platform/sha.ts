import type { Algorithm } from './platform.js'

/** SHA-1 and SHA-256 in JavaScript: those of a browser are asynchronous, and missing on a page without TLS. */

type Compress = (state: Uint32Array, block: DataView, at: number) => void

const rotl = (word: number, by: number): number => (word << by) | (word >>> (32 - by))

const PRIMES = ((): number[] => {
  const primes: number[] = []
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n)
  return primes
})()
/** The first 32 bits of a number's fraction. */
const fraction = (value: number): number => Math.floor((value % 1) * 2 ** 32)

const START: Readonly<Record<Algorithm, readonly number[]>> = {
  sha1: [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0],
  sha256: PRIMES.slice(0, 8).map((prime) => fraction(Math.sqrt(prime))),
}
const K256 = Uint32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)))

const words = new Uint32Array(80)
const word = (at: number): number => words[at] as number

const load = (block: DataView, at: number): void => {
  for (let i = 0; i < 16; i++) words[i] = block.getUint32(at + 4 * i)
}

const add = (state: Uint32Array, values: readonly number[]): void =>
  values.forEach((value, i) => (state[i] = (state[i] as number) + value))

/** The function of a round, with its constant. */
const mixed = (round: number, b: number, c: number, d: number): number => {
  if (round < 20) return ((b & c) | (~b & d)) + 0x5a827999
  if (round < 40) return (b ^ c ^ d) + 0x6ed9eba1
  if (round < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
  return (b ^ c ^ d) + 0xca62c1d6
}

const sha1: Compress = (state, block, at) => {
  load(block, at)
  for (let i = 16; i < 80; i++) words[i] = rotl(word(i - 3) ^ word(i - 8) ^ word(i - 14) ^ word(i - 16), 1)
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number]
  for (let i = 0; i < 80; i++)
    [a, b, c, d, e] = [(rotl(a, 5) + mixed(i, b, c, d) + e + word(i)) | 0, a, rotl(b, 30), c, d]
  add(state, [a, b, c, d, e])
}

const sigma = (x: number, [one, two, three]: readonly [number, number, number]): number =>
  rotl(x, 32 - one) ^ rotl(x, 32 - two) ^ rotl(x, 32 - three)

const schedule256 = (): void => {
  for (let i = 16; i < 64; i++) {
    const [early, late] = [word(i - 15), word(i - 2)]
    const s0 = rotl(early, 25) ^ rotl(early, 14) ^ (early >>> 3)
    const s1 = rotl(late, 15) ^ rotl(late, 13) ^ (late >>> 10)
    words[i] = word(i - 16) + s0 + word(i - 7) + s1
  }
}

type Eight = [number, number, number, number, number, number, number, number]

const sha256: Compress = (state, block, at) => {
  load(block, at)
  schedule256()
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight
  for (let i = 0; i < 64; i++) {
    const one = h + sigma(e, [6, 11, 25]) + ((e & f) ^ (~e & g)) + (K256[i] as number) + word(i)
    const two = sigma(a, [2, 13, 22]) + ((a & b) ^ (a & c) ^ (b & c))
    ;[a, b, c, d, e, f, g, h] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g]
  }
  add(state, [a, b, c, d, e, f, g, h])
}

const COMPRESS: Readonly<Record<Algorithm, Compress>> = { sha1, sha256 }

/** The data, a one, zeros, and the length in bits: whole blocks. */
const padded = (data: Uint8Array): DataView => {
  const bytes = new Uint8Array(Math.ceil((data.length + 9) / 64) * 64)
  bytes.set(data)
  bytes[data.length] = 0x80
  const view = new DataView(bytes.buffer)
  view.setUint32(bytes.length - 8, Math.floor(data.length / 2 ** 29))
  view.setUint32(bytes.length - 4, data.length << 3)
  return view
}

/** In hexadecimal. */
export const sha = (algorithm: Algorithm, data: Uint8Array): string => {
  const state = Uint32Array.from(START[algorithm])
  const blocks = padded(data)
  for (let at = 0; at < blocks.byteLength; at += 64) COMPRESS[algorithm](state, blocks, at)
  return Array.from(state, (part) => part.toString(16).padStart(8, '0')).join('')
}
