import { NotInitializedError } from '../../errors.js'
import type { Patience } from '../waiting/acquire-request.js'

/** Rejects calls for permits or a rate that were never set up, unless the call was asked to wait for that, too. */
export const unlessSetUp =
  (name: string, what: 'rate is' | 'permits are') =>
  ({ needsSetup }: Patience): Error | undefined =>
    needsSetup === true ? new NotInitializedError(name, what) : undefined
