import { checkFlag, checkKnown, checkSignal, checkWait } from '../check-arguments.js'

/** How long `connect` keeps trying to reach its server. */
export interface RetryOptions {
  /** After this many ms, `connect` rejects with the last failure. Default: no limit. */
  readonly timeout?: number | undefined
  /** If this aborts, `connect` gives up and rejects with the signal's reason. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/** Undefined: `connect` rejects at the first failure. */
export const retryOf = (wanted: unknown): RetryOptions | undefined => {
  if (wanted === undefined) return undefined
  if (typeof wanted !== 'object' || wanted === null) {
    checkFlag(wanted, 'retry', 'true, false or { timeout, signal }')
    return wanted === true ? {} : undefined
  }
  checkKnown(wanted, ['timeout', 'signal'])
  const { timeout, signal }: RetryOptions = wanted
  if (timeout !== undefined) checkWait(timeout, 'retry.timeout')
  if (signal !== undefined) checkSignal(signal, 'retry.signal')
  return { timeout, signal }
}
