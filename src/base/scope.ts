import { platform } from '#platform'
import type { Kept } from './platform/platform.js'
import type { UnitOfWork } from './owner.js'

/** What a `using` must know about its hold. */
export interface Scoped {
  readonly owner: UnitOfWork
  readonly signal: AbortSignal
}

/** One `using` that is running, and those around it. */
export interface Scope {
  /** Identifies the lock that it holds: client, kind and name. */
  readonly lock: object
  /** Set only while the `using` runs. */
  hold: Scoped | undefined
  /** False once the `using` has ended: a callback that outlives it is no longer inside. */
  active: boolean
  readonly outer: Scope | undefined
}

const current = platform.context<Scope>()

/** The scope in which the package was loaded. */
const root = platform.snapshot()

/**
 * Runs the step outside any scope, our own or the caller's. A socket or a timer keeps the scope in which it was created for
 * as long as it lives, and all its callbacks would run in that scope.
 */
export const outside = <T>(step: () => T): T => root.runInAsyncScope(step)

/** Keeps the scope in which this is called, ours and the caller's. */
export const here = (): Kept => platform.snapshot()

/** Binds a listener to the scope in which it was registered, wherever it is called from. */
export const inScope = <L extends (...args: never[]) => unknown>(listener: L): L => platform.bind(listener)

type Listening = Parameters<AbortSignal['addEventListener']>
type AbortListener = Listening[1]

const boundOnce = (listener: AbortListener, all: WeakMap<object, AbortListener>): AbortListener => {
  if (typeof listener !== 'function' && typeof listener !== 'object') return listener
  // From JavaScript, any value may be passed.
  if ((listener as unknown) === null) return listener
  const known = all.get(listener)
  if (known !== undefined) return known
  const bound =
    typeof listener === 'function' ? inScope(listener) : inScope((event: Event) => listener.handleEvent(event))
  all.set(listener, bound)
  return bound
}

const isAborted = (signal: AbortSignal): boolean => Reflect.get(AbortSignal.prototype, 'aborted', signal)

/** An abort whose signal calls each listener in the scope in which it was registered. Everything else it triggers runs outside any scope. */
export class ScopedAbort {
  readonly #controller = new AbortController()

  /** `look` runs when `aborted` is read, and aborts if that is due: a timer may be late. */
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

/** The hold of the innermost running `using` whose lock matches. */
export const enclosing = (isSuch: (lock: object) => boolean): Scoped | undefined => {
  for (let scope = nearestActive(current.getStore()); scope !== undefined; scope = nearestActive(scope.outer)) {
    if (isSuch(scope.lock)) return scope.hold
  }
  return undefined
}

/** The running `using`s around the calling code; undefined: none. */
export const surroundings = (): Scope | undefined => nearestActive(current.getStore())

/** The owners of those that still run. */
export const ownersOf = (surroundings: Scope | undefined): UnitOfWork[] => {
  const owners: UnitOfWork[] = []
  for (let scope = nearestActive(surroundings); scope !== undefined; scope = nearestActive(scope.outer))
    if (scope.hold !== undefined) owners.push(scope.hold.owner)
  return owners
}

/** Runs the work inside a `using`, which ends when the promise of the work settles. */
export const within = async <T>(lock: object, hold: Scoped, work: () => Promise<T>): Promise<T> => {
  // Ended scopes are skipped: work that restarts itself for ever would pile them up.
  const scope: Scope = { lock, hold, active: true, outer: nearestActive(current.getStore()) }
  try {
    return await current.run(scope, work)
  } finally {
    scope.active = false
    scope.hold = undefined
  }
}
