import { AsyncLocalStorage } from 'node:async_hooks'
import type { TenureHold } from './hold.js'

/** One `using` that is under way, and those around it. */
export interface Scope {
  /** The very lock that it holds: client, kind and name. */
  readonly lock: object
  readonly hold: TenureHold
  /** A callback that outlives its `using` is no part of it any more. */
  active: boolean
  readonly outer: Scope | undefined
}

const current = new AsyncLocalStorage<Scope>()

/** The innermost `using` under way here that holds this very lock. */
export const enclosing = (isSame: (lock: object) => boolean): Scope | undefined => {
  for (let scope = current.getStore(); scope !== undefined; scope = scope.outer) {
    if (scope.active && isSame(scope.lock)) return scope
  }
  return undefined
}

/** Runs the work as the inside of a `using`, which ends when its promise settles. */
export const within = async <T>(lock: object, hold: TenureHold, work: () => Promise<T>): Promise<T> => {
  const scope: Scope = { lock, hold, active: true, outer: current.getStore() }
  try {
    return await current.run(scope, work)
  } finally {
    scope.active = false
  }
}
