import type { Client } from '../api/client.js'
import type { ReleaseMode } from '../api/hold.js'
import type { Lock } from '../api/lock.js'
import { checkFunction, checkOptions, show } from '../check-options.js'
import { withHold } from './current.js'
import { type AsyncMethodDecorator, wrapMethod } from './wrap-method.js'

/** Which kind of lock `@Locked` acquires. `read` and `write` are the sides of `client.readWriteLock`. */
export type LockedKind =
  'lock' | 'nonReentrantLock' | 'fairLock' | 'nonReentrantFairLock' | 'fencedLock' | 'spinLock' | 'read' | 'write'

/** Options of `@Locked`. */
export interface LockedOptions {
  /** The kind of lock. Default `lock`. */
  readonly kind?: LockedKind | undefined
  /** How long a call waits for the lock, ms; after that it rejects with an `AcquireTimeoutError`. Default: without a limit. */
  readonly wait?: number | undefined
  /** How long the server keeps the lock, ms. Default: as long as the method runs, renewed by the watchdog. */
  readonly lease?: number | undefined
  /** Renews the lease while the method runs. */
  readonly renew?: boolean | undefined
  /** `'sent'`: the call resolves as soon as the release is written. Default: the client's `release`. */
  readonly release?: ReleaseMode | undefined
  /** The name of the client. Default: the client without a name. */
  readonly client?: string | undefined
}

const KNOWN = ['kind', 'wait', 'lease', 'renew', 'release', 'client']

const LOCKS: Readonly<Record<LockedKind, (client: Client, name: string) => Lock>> = {
  lock: (client, name) => client.lock(name),
  nonReentrantLock: (client, name) => client.nonReentrantLock(name),
  fairLock: (client, name) => client.fairLock(name),
  nonReentrantFairLock: (client, name) => client.nonReentrantFairLock(name),
  fencedLock: (client, name) => client.fencedLock(name),
  spinLock: (client, name) => client.spinLock(name),
  read: (client, name) => client.readWriteLock(name).read,
  write: (client, name) => client.readWriteLock(name).write,
}

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
  if (!Object.hasOwn(LOCKS, kind))
    throw new TypeError(`kind must be one of ${Object.keys(LOCKS).join(', ')}, not ${show(kind)}`)
  const nameOf = (args: readonly unknown[]): string => (typeof name === 'string' ? name : name(...(args as A)))
  return (target, key, descriptor) => {
    wrapMethod('Locked', { target, key, descriptor, client }, ({ client: on, args, run }) =>
      LOCKS[kind](on, nameOf(args)).using(terms, (hold) => withHold(hold, run)),
    )
  }
}
