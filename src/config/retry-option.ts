import { checkFlag, checkKnown, checkSignal, checkWait } from '../check-options.js'

/** For how long `connect` tries again to reach its server. */
export interface RetryOptions {
  /** ms, after which it rejects with the last failure. Default: no limit. */
  readonly timeout?: number | undefined
  /** It gives up when this aborts, and rejects with its reason. */
  readonly signal?: AbortSignal | undefined
}

/** Undefined: it rejects at the first failure. */
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
