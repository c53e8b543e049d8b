/** Counts the workers inside each lock, and knows nothing about locks. It proves that the locks work. */
export class Inside {
  readonly #inside = new Map<string, Set<string>>()
  checks = 0
  violations = 0

  enter(lock: string, worker: string): void {
    const inside = this.#inside.get(lock) ?? new Set()
    this.#inside.set(lock, inside.add(worker))
    this.check(lock, worker)
  }

  /** The worker must be inside, and alone. */
  check(lock: string, worker: string): void {
    const inside = this.#inside.get(lock)
    this.checks++
    if (inside?.size !== 1 || !inside.has(worker)) this.violations++
  }

  leave(lock: string, worker: string): void {
    this.#inside.get(lock)?.delete(worker)
  }
}
