import { ClosedError } from '../errors.js'
import { abortOf } from '../base/abort.js'
import { offline } from './link-errors.js'
import type { TimeoutOptions } from './reply-timeouts.js'

/**
 * Calls that came while the connection was down. Their commands are not queued: each call waits here, and may have given up by the time the
 * connection is back.
 */
export class UntilConnected {
  readonly #address: string
  readonly #options: TimeoutOptions
  #waiting: (() => void)[] = []
  #closed = false

  constructor(address: string, options: TimeoutOptions) {
    this.#address = address
    this.#options = options
  }

  /** Sends when the connection is back. Rejects if that takes longer than a command may. */
  send<T>(send: () => Promise<T>, target?: string, signal?: AbortSignal): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const timer = this.#options.clock.setTimer(() => {
        this.#waiting = this.#waiting.filter((other) => other !== wake)
        reject(offline(this.#address, target))
      }, this.#options.commandTimeout)
      const wake = (): void => {
        timer.cancel()
        if (this.#closed) reject(new ClosedError(target))
        else if (abortOf(signal) !== undefined) reject(offline(this.#address, target))
        else send().then(resolve, reject)
      }
      this.#waiting.push(wake)
    })
  }

  connected(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const wake of waiting) wake()
  }

  /** Rejects all calls that wait. */
  close(): void {
    this.#closed = true
    this.connected()
  }
}
