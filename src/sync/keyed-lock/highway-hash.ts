/**
 * HighwayHash with 128 bits, as its authors describe it (github.com/google/highwayhash). Redisson names keys by it. A 64-bit number
 * is two 32-bit words here, the lower one first, to avoid the hundreds of bigints that each hash would need.
 */
const V0 = 0
const V1 = 8
const MUL0 = 16
const MUL1 = 24

/** Digits of π, four lanes each. */
const INIT0 = [0xfe4cce2f, 0xdbe6d5d5, 0x299f31d0, 0xa4093822, 0x03707344, 0x13198a2e, 0x85a308d3, 0x243f6a88]
const INIT1 = [0xcb0ef593, 0x3bd39e10, 0xb5f18a8c, 0xc0acf169, 0x34e90c6c, 0xbe5466cf, 0x38d01377, 0x452821e6]

const rotated = (word: number, by: number): number => (by === 0 ? word : (word << by) | (word >>> (32 - by)))

class State {
  /** v0, v1, mul0 and mul1: four lanes each. */
  readonly #words = new Uint32Array(32)

  constructor(key: readonly number[]) {
    const words = this.#words
    for (let i = 0; i < 8; i++) {
      words[MUL0 + i] = INIT0[i] as number
      words[MUL1 + i] = INIT1[i] as number
      words[V0 + i] = this.#at(MUL0 + i) ^ (key[i] as number)
      // The halves of the key are swapped.
      words[V1 + i] = this.#at(MUL1 + i) ^ (key[i ^ 1] as number)
    }
  }

  #at(place: number): number {
    return this.#words[place] as number
  }

  #add(place: number, low: number, high: number): void {
    const sum = this.#at(place) + (low >>> 0)
    this.#words[place] = sum
    this.#words[place + 1] = this.#at(place + 1) + (high >>> 0) + (sum > 0xffffffff ? 1 : 0)
  }

  /** place ^= one × other, of 32 bits each. */
  #multiply(place: number, one: number, other: number): void {
    const [a, b, c, d] = [one & 0xffff, one >>> 16, other & 0xffff, other >>> 16]
    const low = a * c
    const middle = b * c + Math.floor(low / 0x10000)
    const cross = a * d + (middle & 0xffff)
    this.#words[place] = this.#at(place) ^ ((low & 0xffff) | (cross << 16))
    this.#words[place + 1] = this.#at(place + 1) ^ (b * d + Math.floor(middle / 0x10000) + Math.floor(cross / 0x10000))
  }

  /** Zips the bytes of two lanes at `from`, and adds them to two lanes at `to`. */
  #zip(from: number, to: number): void {
    const [low, high, nextLow, nextHigh] = [this.#at(from), this.#at(from + 1), this.#at(from + 2), this.#at(from + 3)]
    this.#add(
      to,
      (low >>> 24) | ((nextHigh & 0xff) << 8) | (low & 0xff0000) | ((high & 0xff00) << 16),
      ((nextHigh >>> 16) & 0xff) | (low & 0xff00) | ((nextHigh >>> 8) & 0xff0000) | (low << 24),
    )
    this.#add(
      to + 2,
      (nextLow >>> 24) | ((high & 0xff) << 8) | (nextLow & 0xff0000) | ((nextHigh & 0xff00) << 16),
      ((nextLow >>> 8) & 0xff) | ((high >>> 8) & 0xff00) | ((nextLow & 0xff) << 16) | (high & 0xff000000),
    )
  }

  update(packet: Uint32Array): void {
    for (let i = 0; i < 8; i += 2) {
      this.#add(V1 + i, this.#at(MUL0 + i), this.#at(MUL0 + i + 1))
      this.#add(V1 + i, packet[i] as number, packet[i + 1] as number)
      this.#multiply(MUL0 + i, this.#at(V1 + i), this.#at(V0 + i + 1))
      this.#add(V0 + i, this.#at(MUL1 + i), this.#at(MUL1 + i + 1))
      this.#multiply(MUL1 + i, this.#at(V0 + i), this.#at(V1 + i + 1))
    }
    this.#zip(V1, V0)
    this.#zip(V1 + 4, V0 + 4)
    this.#zip(V0, V1)
    this.#zip(V0 + 4, V1 + 4)
  }

  /** Adds the last bytes, fewer than 32. */
  finish(rest: Uint8Array): void {
    const { length } = rest
    for (let i = 0; i < 8; i += 2) this.#add(V0 + i, length, length)
    for (let i = 0; i < 8; i++) this.#words[V1 + i] = rotated(this.#at(V1 + i), length)
    const packet = new Uint8Array(32)
    const whole = length & ~3
    packet.set(rest.subarray(0, whole))
    if ((length & 16) !== 0) packet.set(rest.subarray(length - 4), 28)
    else if (length > whole)
      packet.set(
        [whole, whole + ((length & 3) >> 1), length - 1].map((i) => rest[i] as number),
        16,
      )
    this.update(new Uint32Array(packet.buffer))
  }

  /** Returns each lane as two words. */
  result(): Uint8Array {
    const packet = new Uint32Array(8)
    for (let i = 0; i < 6; i++) {
      // Swaps lanes, and their halves.
      for (let place = 0; place < 8; place++) packet[place] = this.#at(V0 + (place ^ 5))
      this.update(packet)
    }
    for (const i of [0, 2]) {
      this.#add(V0 + i, this.#at(MUL0 + i), this.#at(MUL0 + i + 1))
      this.#add(V0 + i, this.#at(V1 + i + 4), this.#at(V1 + i + 5))
      this.#add(V0 + i, this.#at(MUL1 + i + 4), this.#at(MUL1 + i + 5))
    }
    const result = new DataView(new ArrayBuffer(16))
    for (let i = 0; i < 4; i++) result.setUint32(4 * i, this.#at(V0 + (i ^ 1)))
    return new Uint8Array(result.buffer)
  }
}

/** Returns two 64-bit numbers, the higher bytes first. `key`: four 64-bit numbers as words, the lower word of each first. */
export const highwayHash128 = (data: Uint8Array, key: readonly number[]): Uint8Array => {
  const state = new State(key)
  const whole = data.length & ~31
  for (let at = 0; at < whole; at += 32) state.update(new Uint32Array(data.slice(at, at + 32).buffer))
  if (data.length > whole) state.finish(data.subarray(whole))
  return state.result()
}
