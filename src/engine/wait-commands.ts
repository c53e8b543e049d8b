import type { Reply } from '../lua/values.js'

/** Trailing replicas: the number to wait for and how long. */
export interface WaitFor {
  readonly replicas: number
  readonly timeout: number
}

/**
 * How many replicas have what was sent to one node. A WAIT keeps all that is behind it on its connection waiting, so there is
 * one at a time: whoever comes meanwhile shares the next.
 */
export class WaitCommands {
  readonly #ask: (wait: WaitFor) => Promise<Reply>
  #current: Promise<unknown> | undefined
  #next: Promise<Reply> | undefined

  constructor(ask: (wait: WaitFor) => Promise<Reply>) {
    this.#ask = ask
  }

  /** To be called in the tick that sent what it is about. */
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
