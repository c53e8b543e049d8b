import type { Terms } from './terms.js'

/** What a detached hold leaves to whoever adopts it. */
export interface Ticket extends Terms {
  readonly kind: string
  readonly name: string
  /** The owner as the server knows it. */
  readonly wire: string
}

const MARK = 'holdfast1.'

export const makeTicket = (ticket: Ticket): string => {
  const { kind, name, wire, lease, watched } = ticket
  return MARK + Buffer.from(JSON.stringify([kind, name, wire, lease, watched])).toString('base64url')
}

/** Undefined when the text is no ticket. */
export const readTicket = (text: unknown): Ticket | undefined => {
  if (typeof text !== 'string' || !text.startsWith(MARK)) return undefined
  try {
    const parts: unknown = JSON.parse(Buffer.from(text.slice(MARK.length), 'base64url').toString())
    if (!Array.isArray(parts)) return undefined
    const [kind, name, wire, lease, watched] = parts as unknown[]
    if (typeof kind !== 'string' || typeof name !== 'string' || typeof wire !== 'string') return undefined
    if (!Number.isSafeInteger(lease) || typeof watched !== 'boolean') return undefined
    return { kind, name, wire, lease: lease as number, watched }
  } catch {
    return undefined
  }
}
