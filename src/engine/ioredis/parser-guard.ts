import reading from 'ioredis/built/DataHandler.js'
import { textOf } from '../../thrown.js'

/** What is used of what ioredis has on each connection to read answers. */
interface Reader {
  readonly redis: { readonly options: object; emit(event: 'error', error: Error): boolean }
  dispatch?: (this: Reader, step: () => void) => void
}

const LOST_COUNT = 'Command queue state error'

/** On a connection with this option, what ioredis cannot make sense of is an `error` event, and does not end the process. */
export const GUARDED = { guarded: true }

/** An answer came that nobody waits for, or that ioredis cannot read: which answer is whose is not known any more. */
export const isOutOfStep = ({ message }: Error): boolean => message.startsWith(LOST_COUNT)

// Bun unwraps what Node leaves in `default`.
const { prototype: reader } = ((reading as Partial<typeof reading>).default ?? reading) as unknown as {
  prototype: Reader
}
const { dispatch } = reader

/** ioredis throws what goes wrong while it reads an answer into the event loop, where nobody can catch it. */
if (dispatch !== undefined) {
  reader.dispatch = function (step) {
    if (!('guarded' in this.redis.options)) {
      dispatch.call(this, step)
      return
    }
    try {
      step()
    } catch (error) {
      this.redis.emit('error', new Error(`${LOST_COUNT}: ${textOf(error)}`))
    }
  }
}
