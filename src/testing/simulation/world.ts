/** Something that is to happen at a moment of the simulated world. */
export interface Scheduled {
  cancel(): void
}

interface Entry extends Scheduled {
  readonly at: number
  readonly order: number
  run: (() => void) | undefined
}

const before = (one: Entry, other: Entry): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order)

/** The one time line on which everything of a history happens, in ms from its beginning. */
export class World {
  now = 0
  readonly #heap: Entry[] = []
  #order = 0

  at(moment: number, run: () => void): Scheduled {
    const entry: Entry = {
      at: Math.max(moment, this.now),
      order: this.#order++,
      run,
      cancel: () => {
        entry.run = undefined
      },
    }
    this.#push(entry)
    return entry
  }

  in(ms: number, run: () => void): Scheduled {
    return this.at(this.now + ms, run)
  }

  /** Lets things happen, and promises settle after each, until it is over or nothing more happens before `end`. */
  async run(end: number, isOver = (): boolean => false, after = (): void => undefined): Promise<void> {
    await settle()
    while (!isOver()) {
      const entry = this.#heap[0]
      if (entry === undefined || entry.at > end) {
        this.now = Math.max(this.now, end)
        return
      }
      this.#pop()
      if (entry.run === undefined) continue
      this.now = entry.at
      entry.run()
      await settle()
      after()
    }
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let place = heap.push(entry) - 1
    while (place > 0) {
      const above = (place - 1) >> 1
      if (before(heap[above] as Entry, entry)) break
      heap[place] = heap[above] as Entry
      place = above
    }
    heap[place] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop() as Entry
    if (heap.length === 0) return
    let place = 0
    for (let below = 1; below < heap.length; below = 2 * place + 1) {
      if (below + 1 < heap.length && before(heap[below + 1] as Entry, heap[below] as Entry)) below++
      if (!before(heap[below] as Entry, last)) break
      heap[place] = heap[below] as Entry
      place = below
    }
    heap[place] = last
  }
}

/** A tick comes when no promise has anything left to do. */
const settle = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve))
