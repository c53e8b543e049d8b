import reading from 'ioredis/built/DataHandler.js'
import { textOf } from '../../thrown.js'

/** The parts of ioredis's reply reader, one for each connection, that holdfast uses. */
interface Reader {
  readonly redis: { readonly options: object; emit(event: 'error', error: Error): boolean }
  dispatch?: (this: Reader, step: () => void) => void
}

const LOST_COUNT = 'Command queue state error'

/** On a connection with this option, a reply that ioredis cannot handle causes an `error` event instead of ending the process. */
export const GUARDED = { guarded: true }

/**
 * A reply came that no command waits for, or that ioredis cannot read. It is no longer known which reply belongs to which command.
 */
export const isOutOfStep = ({ message }: Error): boolean => message.startsWith(LOST_COUNT)

// Bun unwraps the object that Node leaves in `default`.
const { prototype: reader } = ((reading as Partial<typeof reading>).default ?? reading) as unknown as {
  prototype: Reader
}
const { dispatch } = reader

/** If reading a reply fails, ioredis throws the error into the event loop, where no code can catch it. */
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
