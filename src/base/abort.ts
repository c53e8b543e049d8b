/** All that is to be called when one signal aborts: it may be shared by thousands of calls, and Node warns of the eleventh. */
class Abortion {
  readonly #callbacks = new Set<() => void>()
  readonly #signal: AbortSignal
  readonly #aborted = (): void => {
    abortions.delete(this.#signal)
    for (const callback of [...this.#callbacks]) callback()
  }

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', this.#aborted, { once: true })
  }

  add(callback: () => void): void {
    this.#callbacks.add(callback)
  }

  remove(callback: () => void): void {
    this.#callbacks.delete(callback)
    if (this.#callbacks.size > 0 || abortions.get(this.#signal) !== this) return
    abortions.delete(this.#signal)
    // A signal of a class of the user's: what it throws here must not keep a hold from who was given it.
    try {
      this.#signal.removeEventListener('abort', this.#aborted)
    } catch {
      // It may call back once more, and finds nobody.
    }
  }
}

/** Why it aborted. */
export const reasonOf = (signal: AbortSignal): unknown => {
  try {
    return signal.reason
  } catch (error) {
    return error
  }
}

/** Whether it has aborted, and why. What a signal of a class of the user's throws when it is asked is why, too. */
export const abortOf = (signal: AbortSignal | undefined): { readonly error: unknown } | undefined => {
  try {
    return signal?.aborted === true ? { error: reasonOf(signal) } : undefined
  } catch (error) {
    return { error }
  }
}

const abortions = new WeakMap<AbortSignal, Abortion>()

/** Calls back once when the signal aborts; returns how to stop listening. Throws what the signal does, and then nothing is listened to. */
export const onAbort = (signal: AbortSignal, callback: () => void): (() => void) => {
  const abortion = abortions.get(signal) ?? new Abortion(signal)
  abortions.set(signal, abortion)
  abortion.add(callback)
  return () => abortion.remove(callback)
}
