import type { WebLockMode } from '../../api/web-locks.js'
import { onAbort, reasonOf } from '../../base/abort.js'

interface Pending {
  readonly mode: WebLockMode
  sent: boolean
  send(): void
}

/**
 * The requests of this client for one name, in the order of their calls, until they are granted or given up. Each is sent when all before it were granted; readers
 * next to one another are sent together. So the server cannot change their order.
 */
export class RequestQueue {
  #pending: Pending[] = []

  get empty(): boolean {
    return this.#pending.length === 0
  }

  /** Those that the server does not know yet. */
  get unsent(): readonly { readonly mode: WebLockMode }[] {
    return this.#pending.filter(({ sent }) => !sent)
  }

  /** Whether a request of this mode would have to wait behind others of this client. */
  blocks(mode: WebLockMode): boolean {
    return this.#pending.some((one) => mode === 'exclusive' || one.mode === 'exclusive')
  }

  enter<T>(mode: WebLockMode, signal: AbortSignal | undefined, send: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const pending: Pending = {
        mode,
        sent: false,
        send: () => {
          pending.sent = true
          stop?.()
          const left = (): void => this.#leave(pending)
          send().finally(left).then(resolve, reject)
        },
      }
      const aborted = (): void => {
        this.#leave(pending)
        reject(reasonOf(signal as AbortSignal))
      }
      const stop = signal && onAbort(signal, aborted)
      this.#pending.push(pending)
      this.#advance()
    })
  }

  #leave(pending: Pending): void {
    this.#pending = this.#pending.filter((one) => one !== pending)
    this.#advance()
  }

  #advance(): void {
    const alone = this.#pending.findIndex(({ mode }) => mode === 'exclusive')
    const count = alone === -1 ? this.#pending.length : Math.max(1, alone)
    for (const pending of this.#pending.slice(0, count)) if (!pending.sent) pending.send()
  }
}
