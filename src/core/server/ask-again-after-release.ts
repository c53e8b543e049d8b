import { onAbort } from '../../base/abort.js'

/** Releases that no caller waits for, until they are answered. */
export class UnansweredReleases {
  /** By key: settles when all are answered. */
  readonly #answers = new Map<string, Promise<unknown>>()
  readonly #within: (step: Promise<unknown>) => Promise<unknown>
  readonly #failed: (error: unknown) => void

  /** `within`: settles as the step does, or when a caller need not wait for it any longer. */
  constructor(within: (step: Promise<unknown>) => Promise<unknown>, failed: (error: unknown) => void) {
    this.#within = within
    this.#failed = failed
  }

  add(key: string, answer: Promise<unknown>): void {
    const all = Promise.allSettled([this.#answers.get(key), answer])
    this.#answers.set(key, all)
    answer.catch(this.#failed)
    void all.then(() => {
      if (this.#answers.get(key) === all) this.#answers.delete(key)
    })
  }

  /**
   * Asks once for what may be free. A refusal may be caused by a release of our own that is not answered yet, if the server did not know
   * its script, or the connection was cut: then this asks once more when the release is answered.
   */
  async ask<G>(
    key: string,
    signal: AbortSignal | undefined,
    ask: () => Promise<G | undefined>,
  ): Promise<G | undefined> {
    const before = this.#answers.get(key)
    if (before === undefined) return ask()
    const granted = await ask()
    if (granted !== undefined) return granted
    await unlessAborted(signal, this.#within(before))
    return ask()
  }
}

/** Settles as the step does, or rejects with the signal's reason if that comes first. */
const unlessAborted = async (signal: AbortSignal | undefined, step: Promise<unknown>): Promise<void> => {
  signal?.throwIfAborted()
  let unlisten = (): void => undefined
  const aborted = new Promise((_, reject) => {
    if (signal !== undefined) unlisten = onAbort(signal, () => reject(signal.reason))
  })
  await Promise.race([step, aborted]).finally(unlisten)
}
