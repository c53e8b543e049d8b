import type { WebLock, WebLockMode, WebLockOptions } from '../../api/web-locks.js'
import { checkFlag, checkFunction, checkName, checkOptions, checkSignal, OPTIONS, show } from '../../check-arguments.js'

/** The callback of a request. */
export type Work = (lock: WebLock | null) => unknown

/** A request that has been checked. */
export interface Wanted {
  readonly name: string
  readonly mode: WebLockMode
  readonly signal: AbortSignal | undefined
  readonly how: 'wait' | 'ifAvailable' | 'steal'
  readonly work: Work
}

const notSupported = (why: string): DOMException => new DOMException(why, 'NotSupportedError')

const checked = (given: WebLockOptions | null | undefined): Partial<WebLockOptions> => {
  const options = checkOptions(given ?? undefined, OPTIONS.webLock)
  const { mode, signal, ifAvailable, steal } = options
  if (!([undefined, 'exclusive', 'shared'] as unknown[]).includes(mode))
    throw new TypeError(`mode must be 'exclusive' or 'shared', not ${show(mode)}`)
  if (signal !== undefined) checkSignal(signal, 'signal')
  if (ifAvailable !== undefined) checkFlag(ifAvailable, 'ifAvailable')
  if (steal !== undefined) checkFlag(steal, 'steal')
  return options
}

/** Throws what the specification says: a TypeError for a wrong type, a NotSupportedError for what does not go together. */
export const checkRequest = (name: string, first: unknown, second: unknown): Wanted => {
  const [given, work] = second === undefined && typeof first === 'function' ? [undefined, first] : [first, second]
  checkName(name)
  checkFunction(work, 'callback')
  const { mode = 'exclusive', signal, ifAvailable = false, steal = false } = checked(given as WebLockOptions | null)
  if (name.startsWith('-')) throw notSupported("the name must not begin with '-'")
  if (steal && ifAvailable) throw notSupported('steal excludes ifAvailable')
  if (steal && mode === 'shared') throw notSupported("steal needs mode: 'exclusive'")
  if (signal !== undefined && (steal || ifAvailable)) throw notSupported('signal excludes steal and ifAvailable')
  const how = steal ? 'steal' : ifAvailable ? 'ifAvailable' : 'wait'
  return { name, mode, signal, how, work: work as Work }
}
