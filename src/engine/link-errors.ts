import { platform } from '#platform'
import { EngineError, withoutSecrets } from '../errors.js'
import { quoted } from '../plain-text.js'
import { isError } from '../thrown.js'

/** The command was sent, and may have run. */
export const noReply = (address: string, how: string, target?: string): EngineError =>
  new EngineError('NO_REPLY', `no reply from ${address} ${how}`, { target })

/** The command was not sent. */
export const offline = (address: string, target?: string): EngineError =>
  new EngineError('OFFLINE', `not connected to ${address}`, { target })

/** The command was answered, but its effect is as unknown as without an answer. */
export const badReply = (address: string, what: string, reply: unknown, target?: string): EngineError => {
  const why = isQueued(reply) ? ': the connection is inside an open MULTI' : ', which is not a valid reply to it'
  return new EngineError('BAD_REPLY', `${address} answered ${what} with ${shown(reply)}${why}`, { target })
}

/** How many items of a list are described. */
const ITEMS = 4

/** The server's own words, which are never a user's value. */
const WORDS: ReadonlySet<unknown> = new Set(['OK', 'QUEUED', 'PONG', ''])

/** Describes a reply for people. A text may be a user's value, so only its length is shown. */
export const shown = (reply: unknown): string => {
  if (WORDS.has(reply)) return JSON.stringify(reply)
  if (typeof reply === 'string') return `a text of ${reply.length} characters`
  if (reply instanceof Uint8Array) return `${reply.length} bytes`
  if (isError(reply)) return `an error within the reply, ${quoted(withoutSecrets(reply.message))}`
  if (Array.isArray(reply)) {
    const more = reply.length > ITEMS ? ', …' : ''
    return `a list of ${reply.length}, [${reply.slice(0, ITEMS).map(kindOf).join(', ')}${more}]`
  }
  if (typeof reply === 'object' && reply !== null) return 'a map'
  return String(reply)
}

const kindOf = (item: unknown): string => (Array.isArray(item) ? `a list of ${item.length}` : shown(item))

/** The reply says that the command was queued, and does not run before the EXEC of another caller. */
export const isQueued = (reply: unknown): boolean =>
  reply === 'QUEUED' || (reply instanceof Uint8Array && platform.fromUtf8(reply) === 'QUEUED')
