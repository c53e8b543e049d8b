interface Waiting<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void
  readonly reject: (error: unknown) => void
}

const DONE = { done: true, value: undefined } as const

/** Hands on what is found at one pace to a reader at another. The loop that fills it waits for room. */
export class EventQueue<T> {
  readonly #most: number
  #items: T[] = []
  #first = 0
  #waiting: Waiting<T>[] = []
  #makesRoom: (() => void) | undefined
  /** If it ended with an error, the reader gets it once. */
  #end: { error?: unknown } | undefined

  constructor(most: number) {
    this.#most = most
  }

  get ended(): boolean {
    return this.#end !== undefined
  }

  get isFull(): boolean {
    return this.#items.length - this.#first >= this.#most
  }

  push(item: T): void {
    if (this.ended) return
    const waiting = this.#waiting.shift()
    if (waiting === undefined) this.#items.push(item)
    else waiting.resolve({ done: false, value: item })
  }

  next(): Promise<IteratorResult<T, undefined>> {
    if (this.#first < this.#items.length) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#end !== undefined) return this.#last(this.#end)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
    })
  }

  /** Resolves when there is room, or the queue has ended. */
  async room(): Promise<void> {
    if (!this.isFull || this.ended) return
    await new Promise<void>((resolve) => {
      this.#makesRoom = resolve
    })
  }

  /** Nothing that it still has is handed on. */
  end(end: { error?: unknown }): void {
    if (this.ended) return
    this.#end = end
    this.#items = []
    this.#first = 0
    this.#makesRoom?.()
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve, reject } of waiting) this.#last(end).then(resolve, reject)
  }

  #take(): T {
    const item = this.#items[this.#first++] as T
    // Not at each item: that would copy the others each time.
    if (this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first)
      this.#first = 0
    }
    // Not at each item: a reader that is only just too slow must not make it look for each one.
    if (this.#items.length - this.#first <= this.#most / 2) this.#makesRoom?.()
    return item
  }

  #last(end: { error?: unknown }): Promise<IteratorResult<T, undefined>> {
    if (!('error' in end)) return Promise.resolve(DONE)
    this.#end = {}
    return Promise.reject(end.error)
  }
}
