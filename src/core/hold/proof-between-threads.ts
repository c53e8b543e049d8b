import type { Clock, Moment } from '../../base/clock.js'

/** What the server answered to a thread, and when that thread asked. */
export interface Proof extends Pick<Moment, 'mono' | 'wall'> {
  /** ms; -1 without expiry, -2 lost. */
  readonly left: number
}

/** How far the monotonic clock of this thread is behind the one that all threads share, ms: at least, and at most. */
export interface Behind {
  readonly least: number
  readonly most: number
}

/** ms. How exactly the clocks are compared, and how often we try to. */
const EXACT = 0.05
const TRIES = 50

/** `ticks`: a monotonic clock that shows the same in all threads, ms. */
export const behind = (clock: Clock, ticks: () => number): Behind => {
  let best: Behind = { least: -Infinity, most: Infinity }
  for (let tries = 0; tries < TRIES && best.most - best.least > EXACT; tries++) {
    const before = clock.monotonic()
    const shared = ticks()
    const measured = { least: shared - clock.monotonic(), most: shared - before }
    if (measured.most - measured.least < best.most - best.least) best = measured
  }
  return best
}

/** How many holds share a page of memory. */
export const HOLDS_PER_PAGE = 128
/** Of one thread about one hold: a version and the number of the hold, then three numbers of 8 bytes. */
const HALF = 4

export const newPage = (): SharedArrayBuffer => new SharedArrayBuffer(HOLDS_PER_PAGE * 2 * HALF * 8)

/** Where the two threads keep what they know about a hold. */
export interface Place {
  readonly page: SharedArrayBuffer
  readonly index: number
}

/**
 * What two threads tell each other about one hold, without messages: a thread whose event loop is blocked can still read it. Each writes
 * its own half. The version of a half is odd while it is being written.
 */
export class SharedProof {
  readonly number: number
  readonly place: Place
  readonly #behind: Behind
  readonly #words: Int32Array
  readonly #mine: number
  readonly #theirs: number
  #heard = 0
  #heardOf = -Infinity

  /** `side`: 0 for the thread that holds, 1 for the one that renews beside it. */
  constructor(place: Place, number: number, side: 0 | 1, clocks: Behind) {
    this.number = number
    this.place = place
    this.#behind = clocks
    this.#words = new Int32Array(place.page)
    this.#mine = (2 * place.index + side) * HALF
    this.#theirs = (2 * place.index + 1 - side) * HALF
  }

  tell({ mono, wall }: Pick<Moment, 'mono' | 'wall'>, left: number): void {
    const version = 2 * this.#mine
    // A thread that died while it wrote has left an odd version.
    const writing = Atomics.load(this.#words, version) | 1
    Atomics.store(this.#words, version, writing)
    Atomics.store(this.#words, version + 1, this.number)
    // Word by word: plain writes may be seen in another order.
    const words = new Int32Array(Float64Array.of(mono + this.#behind.least, wall, left).buffer)
    for (const [i, word] of words.entries()) Atomics.store(this.#words, version + 2 + i, word)
    Atomics.store(this.#words, version, (writing + 1) | 0)
  }

  /** The other thread’s newest answer, once. */
  hear(): Proof | undefined {
    const before = Atomics.load(this.#words, 2 * this.#theirs)
    if (before === this.#heard || (before & 1) === 1) return undefined
    const number = Atomics.load(this.#words, 2 * this.#theirs + 1)
    const words = Int32Array.from({ length: 2 * (HALF - 1) }, (_, i) =>
      Atomics.load(this.#words, 2 * (this.#theirs + 1) + i),
    )
    const [mono = 0, wall = 0, left = 0] = new Float64Array(words.buffer)
    if (Atomics.load(this.#words, 2 * this.#theirs) !== before) return undefined
    this.#heard = before
    // An earlier hold had this place.
    if (number !== this.number) return undefined
    this.#heardOf = mono - this.#behind.most
    return { mono: this.#heardOf, wall, left }
  }

  /** Whether the other thread has asked later. */
  knowsBetter({ mono }: Pick<Moment, 'mono'>): boolean {
    return mono < this.#heardOf
  }
}
