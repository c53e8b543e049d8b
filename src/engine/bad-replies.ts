import { EngineError, withoutSecrets } from '../errors.js'
import type { Reply } from '../lua/values.js'

/** How much of a strange reply is shown. */
const SHOWN = 60

/** For people: what came, shortened and escaped. */
const shown = (reply: unknown): string => {
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
const isQueued = (reply: unknown): boolean => String(reply) === 'QUEUED'

/** It was answered, and what it did is as unknown as if it had not been. */
export const badReply = (address: string, what: string, reply: unknown, target?: string): EngineError => {
  const why = isQueued(reply) ? ': the connection is inside an open MULTI' : ', which is no reply of its kind'
  return new EngineError('BAD_REPLY', `${address} answered ${what} with ${shown(reply)}${why}`, { target })
}

/** Why a connection cannot be used that answers PING so; undefined: it can. */
export const misled = (reply: Reply): string | undefined => {
  if (isQueued(reply)) return 'it is inside an open MULTI'
  // node-redis takes it out of its list.
  if (Array.isArray(reply) || reply === 'pong') return 'it is in subscriber mode, where no commands can be sent'
  return reply === 'PONG' ? undefined : `it answered PING with ${shown(reply)}`
}

/** The server's answers to a SELECT that it will never carry out, and what ours says of a lent connection after one. */
const NO_DATABASE =
  /DB index is out of range|invalid DB index|SELECT is not allowed in cluster mode|refused its SELECT/i

/** Why the database that was asked for cannot be used; undefined: that is not what the error says. */
export const missingDatabase = (text: string): string | undefined => {
  if (!NO_DATABASE.test(text)) return undefined
  const index = /\(at its SELECT (\d+)\)/.exec(text)?.[1]
  const said = text.replace(/^ERR /, '').replace(/ \(at its SELECT.*/, '')
  return `${index === undefined ? 'its database' : `database ${index}`} does not exist: ${said}`
}
