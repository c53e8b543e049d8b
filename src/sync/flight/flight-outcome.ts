import type { Codec } from '../../api/codec.js'
import { readWritten } from '../../codecs/value-as-text.js'
import { FlightError } from '../../errors.js'
import { quoted } from '../../plain-text.js'
import type { Ended } from './end-message.js'

/** How a computation ended for the calls of this process. `own`: this process ran it. */
export type Outcome =
  | { readonly value: unknown; readonly age: number; readonly token: bigint; readonly own: boolean }
  | { readonly error: unknown; readonly token: bigint; readonly own: boolean }

/** The value of another process cannot be read: it was written with another codec, or by another program. */
export interface Unreadable {
  readonly unreadable: bigint
}

/** Like `outcomeOf`, but a value that cannot be read is reported to `fail`: the caller computes again. */
export const readableOutcome = (
  ended: Ended,
  age: number,
  { codec, title, fail }: { codec: Codec; title: string; fail: (error: unknown, what: string) => void },
): Outcome | Unreadable => {
  try {
    return outcomeOf(ended, age, codec, title)
  } catch (error) {
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
