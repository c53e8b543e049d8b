import type { ReleaseMode } from '../api/hold.js'
import { checkFunction, checkOptions } from '../check-arguments.js'
import { type NamedLockKind, checkLockKind, lockOfKind } from '../lock-of-kind.js'
import { withHold } from './current.js'
import { type AsyncMethodDecorator, wrapMethod } from './wrap-method.js'

/** Which kind of lock `@Locked` acquires. `read` and `write` are the sides of `client.readWriteLock`. */
export type LockedKind = NamedLockKind

/** Options of `@Locked`. */
export interface LockedOptions {
  /** The kind of lock. Default `lock`. */
  readonly kind?: LockedKind | undefined
  /** How long a call waits for the lock, ms; after that it rejects with an `AcquireTimeoutError`. Default: without a limit. */
  readonly wait?: number | undefined
  /** How long the server keeps the lock, ms. Default: as long as the method runs, renewed by the watchdog. */
  readonly lease?: number | undefined
  /** Renews the lease while the method runs. Default: renewed only if there is no `lease`. */
  readonly renew?: boolean | undefined
  /** `'sent'`: the call resolves as soon as the release is written. Default: the client's `release`. */
  readonly release?: ReleaseMode | undefined
  /** The name of the client. Default: the client without a name. */
  readonly client?: string | undefined
}

const KNOWN = ['kind', 'wait', 'lease', 'renew', 'release', 'client']

/**
 * Runs the method while it holds a lock: ``@Locked((order: Order) => `order:${order.id}`)``. The name is computed from the arguments of the call, or is always the
 * same. The method must return a promise. Inside, `currentHold()` is the hold.
 */
export const Locked = <A extends readonly unknown[] = []>(
  name: string | ((...args: A) => string),
  options: LockedOptions = {},
): AsyncMethodDecorator<A> => {
  const { kind = 'lock', client, ...terms } = checkOptions(options, KNOWN) as LockedOptions
  if (typeof name !== 'string') checkFunction(name, 'name')
  checkLockKind(kind)
  const nameOf = (args: readonly unknown[]): string => (typeof name === 'string' ? name : name(...(args as A)))
  return (target, key, descriptor) => {
    wrapMethod('Locked', { target, key, descriptor, client }, ({ client: on, args, run }) =>
      lockOfKind(on, kind, nameOf(args)).using(terms, (hold) => withHold(hold, run)),
    )
  }
}
