import { isPromise, tell } from '../thrown.js'

/** All callbacks of one signal, behind one listener: thousands of calls may share a signal, and Node warns at the eleventh listener. */
class Abortion {
  readonly #callbacks = new Set<() => void>()
  readonly #signal: AbortSignal
  readonly #aborted = (): void => {
    abortions.delete(this.#signal)
    for (const callback of [...this.#callbacks]) callback()
  }

  constructor(signal: AbortSignal) {
    this.#signal = signal
    // The signal may be of a class of the user's, whose method is async: then a rejection says nothing of use.
    const theirs = signal as unknown as { addEventListener(...args: readonly unknown[]): unknown }
    isPromise(theirs.addEventListener('abort', this.#aborted, { once: true }))
  }

  add(callback: () => void): void {
    this.#callbacks.add(callback)
  }

  remove(callback: () => void): void {
    this.#callbacks.delete(callback)
    if (this.#callbacks.size > 0 || abortions.get(this.#signal) !== this) return
    abortions.delete(this.#signal)
    // If a signal of a user's class throws or rejects here, its caller must still get the hold. The listener may then be called once more:
    // it finds no callbacks.
    tell(
      () => this.#signal.removeEventListener('abort', this.#aborted),
      () => undefined,
    )
  }
}

/** The reason of a signal that has aborted. */
export const reasonOf = (signal: AbortSignal): unknown => {
  try {
    return signal.reason
  } catch (error) {
    return error
  }
}

/** Whether the signal has aborted, and why. If a signal of a user's class throws when it is asked, it counts as aborted, with that error. */
export const abortOf = (signal: AbortSignal | undefined): { readonly error: unknown } | undefined => {
  try {
    return signal?.aborted === true ? { error: reasonOf(signal) } : undefined
  } catch (error) {
    return { error }
  }
}

const abortions = new WeakMap<AbortSignal, Abortion>()

/** Calls back once when the signal aborts; returns a function that stops listening. If the signal throws, so does this, and nothing listens. */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const abortion = abortions.get(signal) ?? new Abortion(signal)
  abortions.set(signal, abortion)
  abortion.add(callback)
  return () => abortion.remove(callback)
}
