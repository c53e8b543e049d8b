import { inScope } from './scope.js'
import { tell } from '../thrown.js'

type Listener<A extends unknown[]> = (...args: A) => unknown

/** A small typed emitter, because the public types must not need Node's. A listener that throws does not stop the library. */
export class Emitter<E extends { [K in keyof E]: unknown[] }> {
  /** Each listener as it was passed, and the same one bound to the scope in which it was registered. */
  readonly #listeners = new Map<keyof E, Map<Listener<never[]>, Listener<never[]>>>()
  readonly #onThrow: (error: unknown) => void

  constructor(onThrow: (error: unknown) => void) {
    this.#onThrow = onThrow
  }

  on<K extends keyof E>(event: K, listener: Listener<E[K]>): void {
    const known = listener as unknown as Listener<never[]>
    const all = this.#listeners.get(event) ?? new Map<Listener<never[]>, Listener<never[]>>()
    if (!all.has(known)) this.#listeners.set(event, all.set(known, inScope(known)))
  }

  off<K extends keyof E>(event: K, listener: Listener<E[K]>): void {
    this.#listeners.get(event)?.delete(listener)
  }

  /** Returns whether there was a listener. */
  emit<K extends keyof E>(event: K, ...args: E[K]): boolean {
    const all = this.#listeners.get(event)
    if (all === undefined || all.size === 0) return false
    for (const listener of [...all.values()]) {
      tell(() => (listener as unknown as Listener<E[K]>)(...args), this.#onThrow)
    }
    return true
  }
}
