import { ReplyError, Status } from '#src/engine/memory/reply.js'
import type { Reply } from '#src/engine/memory/reply.js'

/** The client adds an integer's digits up as doubles, so that the last that these can tell apart come out inexact, too. */
const isExact = (value: number): boolean => Math.abs(value) < Number.MAX_SAFE_INTEGER - 16
const integer = (value: number): string => (isExact(value) ? `:${value}` : `:${value.toPrecision(12)}`)

/** A reply as one line of text. */
export const shown = (reply: Reply): string => {
  if (reply === null) return 'nil'
  if (typeof reply === 'number') return integer(reply)
  if (typeof reply === 'string') return `"${reply}"`
  if (reply instanceof ReplyError) return `-${reply.message}`
  if (reply instanceof Status) return `"${reply.text}"`
  return `[${reply.map(shown).join(' ')}]`
}

/** What the real server's client gives for the same reply. */
export const shownFromServer = (reply: unknown): string => {
  if (reply === null) return 'nil'
  if (typeof reply === 'number') return integer(reply)
  if (Buffer.isBuffer(reply)) return `"${reply.toString('latin1')}"`
  if (Array.isArray(reply)) return `[${reply.map(shownFromServer).join(' ')}]`
  if (reply instanceof Error) return `-${Buffer.from(reply.message, 'utf8').toString('latin1')}`
  return typeof reply === 'string' ? `"${reply}"` : JSON.stringify(reply)
}
