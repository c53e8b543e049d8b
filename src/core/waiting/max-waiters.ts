import { BusyError } from '../../errors.js'
import type { Runtime } from '../client/runtime.js'

/** The error for one more call that would wait, if as many as may wait in this client do so already. */
export const oneTooMany = (
  { waiting, options: { maxWaiters } }: Pick<Runtime, 'waiting' | 'options'>,
  name: string,
): BusyError | undefined => (waiting >= maxWaiters ? new BusyError(name, maxWaiters) : undefined)
