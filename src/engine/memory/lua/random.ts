const MULTIPLIER = 0x5deece66dn
const INCREMENT = 0xbn
const MASK = (1n << 48n) - 1n

/** The server's own lrand48. It starts with the same seed in every process, and continues from script to script. */
export class Random {
  #state = 0x1234abcd330en

  seed(value: number): void {
    this.#state = (BigInt.asUintN(32, BigInt(value)) << 16n) | 0x330en
  }

  /** 31 random bits. */
  next(): number {
    this.#state = (this.#state * MULTIPLIER + INCREMENT) & MASK
    return Number(this.#state >> 17n)
  }
}
