/** What is sent in one direction of a connection arrives in order. */
class Direction {
  #last = 0

  arrival(moment: number): number {
    return (this.#last = Math.max(this.#last, moment))
  }
}

/** A connection, which may be cut and made again. */
export class Connection {
  readonly #ordered: boolean
  /** Grows with each cut: what was sent before belongs to a connection that is gone. */
  epoch = 0
  there = new Direction()
  back: Direction

  /** `ordered`: what goes there and what comes back are in one order. */
  constructor(ordered: boolean) {
    this.#ordered = ordered
    this.back = ordered ? this.there : new Direction()
  }

  cut(): void {
    this.epoch++
    this.there = new Direction()
    this.back = this.#ordered ? this.there : new Direction()
  }
}
