import { AsyncLocalStorage } from 'node:async_hooks'
import type { UnitOfWork } from './owner.js'

/** What is asked of the hold of a `using`. */
export interface Scoped {
  readonly owner: UnitOfWork
  readonly signal: AbortSignal
}

/** One `using` that is under way, and those around it. */
export interface Scope {
  /** The very lock that it holds: client, kind and name. */
  readonly lock: object
  /** Only while it is under way. */
  hold: Scoped | undefined
  /** A callback that outlives its `using` is no part of it any more. */
  active: boolean
  readonly outer: Scope | undefined
}

const current = new AsyncLocalStorage<Scope>()

/** As it was when the package was loaded. */
const root = AsyncLocalStorage.snapshot()

/**
 * Runs the step outside any scope, of ours and of the caller's. A socket or a timer keeps the scope in which it was made for
 * as long as it lives, and everything that it ever brings would run in there.
 */
export const outside = <T>(step: () => T): T => root(step)

/** The listener, to be called from anywhere: it runs in the scope in which it was registered. */
export const inScope = <L extends (...args: never[]) => unknown>(listener: L): L => AsyncLocalStorage.bind<L>(listener)

type Listening = Parameters<AbortSignal['addEventListener']>
type AbortListener = Listening[1]

const boundOnce = (listener: AbortListener, all: WeakMap<object, AbortListener>): AbortListener => {
  if (typeof listener !== 'function' && typeof listener !== 'object') return listener
  // As in JavaScript, where anything may be passed.
  if ((listener as unknown) === null) return listener
  const known = all.get(listener)
  if (known !== undefined) return known
  const bound =
    typeof listener === 'function' ? inScope(listener) : inScope((event: Event) => listener.handleEvent(event))
  all.set(listener, bound)
  return bound
}

const isAborted = (signal: AbortSignal): boolean => Reflect.get(AbortSignal.prototype, 'aborted', signal)

/** Its signal calls each listener in the scope in which it was registered; all else that hears of it does so outside any. */
export class ScopedAbort {
  readonly #controller = new AbortController()

  /** `look` aborts it where that is due: a timer may be late. */
  constructor(look: () => unknown) {
    const { signal } = this
    Object.defineProperty(signal, 'aborted', {
      get: () => {
        look()
        return isAborted(signal)
      },
    })
    signal.throwIfAborted = () => {
      if (signal.aborted) throw signal.reason
    }
    const listeners = new WeakMap<object, AbortListener>()
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...[type, listener, options]: Listening) =>
      add(type, boundOnce(listener, listeners), options)
    signal.removeEventListener = (...[type, listener, options]: Parameters<AbortSignal['removeEventListener']>) =>
      remove(type, boundOnce(listener, listeners), options)
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  abort(reason: unknown): void {
    outside(() => this.#controller.abort(reason))
  }
}

const nearestActive = (scope: Scope | undefined): Scope | undefined => {
  while (scope !== undefined && !scope.active) scope = scope.outer
  return scope
}

/** The hold of the innermost `using` under way here whose lock is such a one. */
export const enclosing = (isSuch: (lock: object) => boolean): Scoped | undefined => {
  for (let scope = nearestActive(current.getStore()); scope !== undefined; scope = nearestActive(scope.outer)) {
    if (isSuch(scope.lock)) return scope.hold
  }
  return undefined
}

/** Runs the work as the inside of a `using`, which ends when its promise settles. */
export const within = async <T>(lock: object, hold: Scoped, work: () => Promise<T>): Promise<T> => {
  // Those that are over are not kept: work that goes on for ever by starting itself anew would heap them up.
  const scope: Scope = { lock, hold, active: true, outer: nearestActive(current.getStore()) }
  try {
    return await current.run(scope, work)
  } finally {
    scope.active = false
    scope.hold = undefined
  }
}
