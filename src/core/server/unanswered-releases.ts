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
   * Asks for what may be free. Our own release, sent just before, may be the cause of a refusal: if the server did not know its script,
   * or the connection was cut, it is sent again behind this question. So a refusal counts only after the release is answered.
   */
  ask<G>(key: string, ask: () => Promise<G | undefined>): Promise<G | undefined> {
    const before = this.#newest.get(key)
    return before === undefined ? ask() : this.#askBehind(before, ask)
  }

  async #askBehind<G>(before: Promise<unknown>, ask: () => Promise<G | undefined>): Promise<G | undefined> {
    const granted = await ask()
    if (granted !== undefined) return granted
    await before.catch(() => undefined)
    return ask()
  }
}
