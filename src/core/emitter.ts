type Listener<A extends unknown[]> = (...args: A) => void

/** A small typed emitter: the public types must not need Node's. A listener that throws does not stop the library. */
export class Emitter<E extends { [K in keyof E]: unknown[] }> {
  readonly #listeners = new Map<keyof E, Set<Listener<never[]>>>()
  readonly #onThrow: (error: unknown) => void

  constructor(onThrow: (error: unknown) => void) {
    this.#onThrow = onThrow
  }

  on<K extends keyof E>(event: K, listener: Listener<E[K]>): void {
    const set = this.#listeners.get(event) ?? new Set()
    this.#listeners.set(event, set.add(listener as unknown as Listener<never[]>))
  }

  off<K extends keyof E>(event: K, listener: Listener<E[K]>): void {
    this.#listeners.get(event)?.delete(listener as unknown as Listener<never[]>)
  }

  /** Whether anybody listened. */
  emit<K extends keyof E>(event: K, ...args: E[K]): boolean {
    const set = this.#listeners.get(event)
    if (set === undefined || set.size === 0) return false
    for (const listener of [...set]) {
      try {
        ;(listener as unknown as Listener<E[K]>)(...args)
      } catch (error) {
        this.#onThrow(error)
      }
    }
    return true
  }
}
