import type { Codec } from '../../api/codec.js'
import { readWritten } from '../../codecs/value-as-text.js'
import { EngineError, FlightError } from '../../errors.js'
import { quoted } from '../../plain-text.js'
import { textOf } from '../../thrown.js'
import type { Ended } from './end-message.js'

/** How a computation ended for the calls of this process. `own`: this process ran it. */
export type Outcome =
  | { readonly value: unknown; readonly age: number; readonly token: bigint; readonly own: boolean }
  | { readonly error: unknown; readonly token: bigint; readonly own: boolean }

/** The value of another process cannot be read: it was written with another codec, or by another program. */
export interface Unreadable {
  readonly unreadable: bigint
}

interface ReadOptions {
  readonly codec: Codec
  readonly title: string
  /** A stored value must be used. */
  readonly stored: boolean
  readonly fail: (error: unknown, what: string) => void
}

/** Like `outcomeOf`, but a value that cannot be read is reported to `fail`, and the caller computes again; or is an error if stored values must be used. */
export const readableOutcome = (
  ended: Ended,
  age: number,
  { codec, title, stored, fail }: ReadOptions,
): Outcome | Unreadable => {
  try {
    return outcomeOf(ended, age, codec, title)
  } catch (error) {
    if (stored)
      throw new EngineError('WRONG_KIND', `the stored value of ${quoted(title)} cannot be read: ${textOf(error)}`, {
        target: title,
        cause: error,
      })
    fail(error, `cannot read the value of ${quoted(title)}, which is computed again`)
    return { unreadable: ended.token }
  }
}

/** The value that another process computed, or the error why it failed. */
const outcomeOf = (ended: Ended, age: number, codec: Codec, title: string): Outcome => {
  const { state, token, data } = ended
  if (state === 'value') return { value: readWritten(codec, ended), age, token, own: false }
  const [thrown = ''] = data.split(' ', 1)
  return { error: new FlightError(title, thrown, data.slice(thrown.length + 1)), token, own: false }
}
