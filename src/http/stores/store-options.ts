import type { Client } from '../../api/client.js'
import { checkFunction, checkLease, checkOptions, show } from '../../check-arguments.js'
import { checkPolicyName } from '../limiter-name.js'

/** Options of every store. */
export interface StoreOptions {
  /** The client whose limiters count the requests. */
  readonly client: Pick<Client, 'rateLimiter'>
  /** The beginning of the limiters' names: letters, digits, `-`, `_` and `.`. Give each limit its own. Default `default`. */
  readonly name?: string | undefined
  /**
   * If the server cannot be asked: `reject` rejects, and the framework decides (`passOnStoreError`, `skipOnError`; without one, it answers 500). `open` lets the
   * request through, uncounted. Default `reject`.
   */
  readonly whenAway?: 'open' | 'reject' | undefined
  /** How long a request waits for the server's answer, ms. After that, the server counts as away. Default 1000. */
  readonly timeout?: number | undefined
  /**
   * Receives the error if the server cannot be asked, or refuses: trouble of each kind once a minute. Default: with `open`, a warning of the process; with
   * `reject`, nothing, because the framework gets the error; except that of `decrement`, which resolves, and the request stays counted.
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

const KNOWN = ['client', 'name', 'whenAway', 'timeout', 'onError']

/** The options, checked. `more`: further ones that this store has. */
export const checkStore = <O extends StoreOptions>(options: O, more: readonly string[] = []): O => {
  const read = checkOptions(options, [...KNOWN, ...more]) as O
  const { client, name, whenAway, timeout, onError } = read
  checkFunction((client as Partial<Client> | undefined)?.rateLimiter, 'client.rateLimiter')
  if (name !== undefined) checkPolicyName(name)
  if (!([undefined, 'open', 'reject'] as unknown[]).includes(whenAway))
    throw new TypeError(`whenAway must be 'open' or 'reject', not ${show(whenAway)}`)
  if (timeout !== undefined) checkLease(timeout, 'timeout')
  if (onError !== undefined) checkFunction(onError, 'onError')
  return read
}
