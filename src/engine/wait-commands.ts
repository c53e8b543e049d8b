import type { Reply } from '../lua/values.js'

/** The arguments of a WAIT: how many replicas, and how long. */
export interface WaitFor {
  readonly replicas: number
  readonly timeout: number
}

/**
 * Finds out how many replicas have received what was sent to one node. A WAIT blocks everything behind it on its connection. So
 * there is one at a time, and callers that come meanwhile share the next.
 */
export class WaitCommands {
  readonly #ask: (wait: WaitFor) => Promise<Reply>
  #current: Promise<unknown> | undefined
  #next: Promise<Reply> | undefined

  constructor(ask: (wait: WaitFor) => Promise<Reply>) {
    this.#ask = ask
  }

  /** Must be called in the tick that sent the command it covers. */
  join(wait: WaitFor): Promise<Reply> {
    if (this.#current === undefined) return this.#begin(wait)
    return (this.#next ??= this.#current.then(() => {
      this.#next = undefined
      return this.#begin(wait)
    }))
  }

  #begin(wait: WaitFor): Promise<Reply> {
    const asked = this.#ask(wait)
    const over = (): void => {
      this.#current = undefined
    }
    this.#current = asked.then(over, over)
    return asked
  }
}
