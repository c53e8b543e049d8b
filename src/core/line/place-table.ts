import type { Place } from '../waiting/waiter.js'

const FEW = 16

/**
 * The places of one line, by the numbers in their names. A Map would do, but for the garbage: it rebuilds itself after a number of
 * changes, and once an old table has survived two collections, everything that later tables refer to survives as well. At
 * 100,000 hand-overs a second that was most of the work.
 */
export class PlaceTable {
  #slots: (Place | undefined)[] = new Array<undefined>(FEW).fill(undefined)
  #size = 0

  get size(): number {
    return this.#size
  }

  /** The oldest first. */
  [Symbol.iterator](): Iterator<Place> {
    return this.#all()
      .sort((one, other) => one.number - other.number)
      .values()
  }

  #all(): Place[] {
    const all: Place[] = []
    for (const slot of this.#slots) for (let place = slot; place !== undefined; place = place.alike) all.push(place)
    return all
  }

  at(number: number): Place | undefined {
    let place = this.#slots[this.#slotOf(number)]
    while (place !== undefined && place.number !== number) place = place.alike
    return place
  }

  add(place: Place): void {
    if (this.#size === this.#slots.length) this.#grow()
    this.#put(place)
    this.#size++
  }

  remove(place: Place): void {
    const slot = this.#slotOf(place.number)
    let before: Place | undefined
    let found = this.#slots[slot]
    while (found !== undefined && found !== place) [before, found] = [found, found.alike]
    if (found === undefined) return
    if (before === undefined) this.#slots[slot] = place.alike
    else before.alike = place.alike
    place.alike = undefined
    this.#size--
  }

  #slotOf(number: number): number {
    return number & (this.#slots.length - 1)
  }

  #put(place: Place): void {
    const slot = this.#slotOf(place.number)
    place.alike = this.#slots[slot]
    this.#slots[slot] = place
  }

  #grow(): void {
    const all = this.#all()
    this.#slots = new Array<undefined>(2 * this.#slots.length).fill(undefined)
    for (const place of all) this.#put(place)
  }
}
