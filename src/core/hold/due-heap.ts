/** An item that is due at a time. It knows its index in the heap, so that it can leave or move at any moment. */
export interface Due {
  due: number
  /** Its index in the heap; -1 outside. */
  heapIndex: number
}

/** A binary heap by time. Adding an item that is due last costs nothing, which is usual for leases of one length. */
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
    item.heapIndex = this.#items.length
    this.#items.push(item)
    this.#up(item)
  }

  remove(item: T): void {
    const place = item.heapIndex
    const last = this.#items.pop()
    item.heapIndex = -1
    if (last === undefined || last === item) return
    this.#put(last, place)
    this.#up(last)
    this.#down(last)
  }

  /** Call this after `item.due` has changed. */
  moved(item: T): void {
    this.#up(item)
    this.#down(item)
  }

  #put(item: T, place: number): void {
    this.#items[place] = item
    item.heapIndex = place
  }

  #up(item: T): void {
    while (item.heapIndex > 0) {
      const above = (item.heapIndex - 1) >> 1
      const parent = this.#items[above] as T
      if (parent.due <= item.due) return
      this.#put(parent, item.heapIndex)
      this.#put(item, above)
    }
  }

  #down(item: T): void {
    for (;;) {
      const left = 2 * item.heapIndex + 1
      const child = this.#items[left]
      if (child === undefined) return
      const right = this.#items[left + 1]
      const least = right !== undefined && right.due < child.due ? right : child
      if (item.due <= least.due) return
      const below = least.heapIndex
      this.#put(least, item.heapIndex)
      this.#put(item, below)
    }
  }
}
