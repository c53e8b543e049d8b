/** Something that is due at a time. The heap keeps its place in it, so that it can leave or move at any moment. */
export interface Due {
  due: number
  /** Where it stands in the heap; -1 outside. */
  place: number
}

/** A binary heap by time. Entering with a later time than all others, as leases of one length do, costs nothing. */
export class DueHeap<T extends Due> {
  readonly #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  get all(): readonly T[] {
    return this.#items
  }

  add(item: T): void {
    item.place = this.#items.length
    this.#items.push(item)
    this.#up(item)
  }

  remove(item: T): void {
    const place = item.place
    const last = this.#items.pop()
    item.place = -1
    if (last === undefined || last === item) return
    this.#put(last, place)
    this.#up(last)
    this.#down(last)
  }

  /** After `item.due` was changed. */
  moved(item: T): void {
    this.#up(item)
    this.#down(item)
  }

  #put(item: T, place: number): void {
    this.#items[place] = item
    item.place = place
  }

  #up(item: T): void {
    while (item.place > 0) {
      const above = (item.place - 1) >> 1
      const parent = this.#items[above] as T
      if (parent.due <= item.due) return
      this.#put(parent, item.place)
      this.#put(item, above)
    }
  }

  #down(item: T): void {
    for (;;) {
      const left = 2 * item.place + 1
      const child = this.#items[left]
      if (child === undefined) return
      const right = this.#items[left + 1]
      const least = right !== undefined && right.due < child.due ? right : child
      if (item.due <= least.due) return
      const below = least.place
      this.#put(least, item.place)
      this.#put(item, below)
    }
  }
}
