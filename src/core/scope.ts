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
