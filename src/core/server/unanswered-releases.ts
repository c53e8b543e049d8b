/** Microtasks: more than any answer needs to reach its caller. */
const STEPS = 32

/** Releases that no caller waits for, until they are answered. */
export class UnansweredReleases {
  /** The newest one of each key: the server answers them in order. */
  readonly #newest = new Map<string, Promise<unknown>>()
  readonly #failed: (error: unknown) => void

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed
  }

  add(key: string, answer: Promise<unknown>): void {
    this.#newest.set(key, answer)
    const answered = (): void => {
      if (this.#newest.get(key) === answer) this.#newest.delete(key)
    }
    answer.then(answered, (error: unknown) => {
      answered()
      this.#failed(error)
    })
  }

  /**
   * Asks once for what may be free. A refusal that comes before the answer to our own release may be caused by that release, if the
   * server did not know its script, or the connection was cut: then this asks once more when the release is answered.
   */
  ask<G>(key: string, ask: () => Promise<G | undefined>): Promise<G | undefined> {
    const before = this.#newest.get(key)
    return before === undefined ? ask() : this.#askBehind(key, before, ask)
  }

  async #askBehind<G>(
    key: string,
    before: Promise<unknown>,
    ask: () => Promise<G | undefined>,
  ): Promise<G | undefined> {
    const granted = await ask()
    if (granted !== undefined) return granted
    const answered = (): boolean => this.#newest.get(key) !== before
    // Both answers may have come together, and a release takes more steps from there to here.
    for (let step = 0; step < STEPS && !answered(); step++) await Promise.resolve()
    if (answered()) return undefined
    await before.catch(() => undefined)
    return ask()
  }
}
