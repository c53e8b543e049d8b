import { EngineError, withoutSecrets } from '../errors.js'

/** It was sent, and may have run. */
export const noReply = (address: string, how: string, target?: string): EngineError =>
  new EngineError('NO_REPLY', `no reply from ${address} ${how}`, { target })

/** It was not sent. */
export const offline = (address: string, target?: string): EngineError =>
  new EngineError('OFFLINE', `not connected to ${address}`, { target })

/** It was answered, and what it did is as unknown as if it had not been. */
export const badReply = (address: string, what: string, reply: unknown, target?: string): EngineError => {
  const why = isQueued(reply) ? ': the connection is inside an open MULTI' : ', which is no reply of its kind'
  return new EngineError('BAD_REPLY', `${address} answered ${what} with ${shown(reply)}${why}`, { target })
}

/** How much of a reply is shown. */
const SHOWN = 60

/** For people: what came, shortened and escaped. */
export const shown = (reply: unknown): string => {
  if (typeof reply === 'string') return quoted(reply)
  if (reply instanceof Uint8Array) return `${reply.length} bytes, ${quoted(Buffer.from(reply).toString('latin1'))}`
  if (reply instanceof Error) return `an error within the reply, ${quoted(withoutSecrets(reply.message))}`
  if (Array.isArray(reply))
    return `a list of ${reply.length}, ${shortened(`[${reply.slice(0, 4).map(kindOf).join(', ')}`)}]`
  if (typeof reply === 'object' && reply !== null) return 'a map'
  return shortened(String(reply))
}

const kindOf = (item: unknown): string => (Array.isArray(item) ? `a list of ${item.length}` : shown(item))

const shortened = (text: string): string => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text)

const quoted = (text: string): string => JSON.stringify(shortened(text))

/** It says that the command was taken, and will not be done before somebody else's EXEC. */
export const isQueued = (reply: unknown): boolean => String(reply) === 'QUEUED'
