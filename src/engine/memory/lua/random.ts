const MULTIPLIER = 0x5deece66dn
const INCREMENT = 0xbn
const MASK = (1n << 48n) - 1n

/** The server's own lrand48, so that scripts see the same numbers there and here. */
export class Random {
  #state = 0n
  #untouched = true

  seed(value: number): void {
    this.#state = (BigInt.asUintN(32, BigInt(value)) << 16n) | 0x330en
    this.#untouched = value === 0
  }

  /** Back to how every script begins. */
  restart(): void {
    if (!this.#untouched) this.seed(0)
  }

  /** 31 random bits. */
  next(): number {
    if (this.#untouched && this.#state === 0n) this.seed(0)
    this.#untouched = false
    this.#state = (this.#state * MULTIPLIER + INCREMENT) & MASK
    return Number(this.#state >> 17n)
  }
}
