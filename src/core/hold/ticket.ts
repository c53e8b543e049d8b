import { checkLease, checkName, checkWire } from '../../check-options.js'
import type { Terms } from './terms.js'

/** What a detached hold leaves to whoever adopts it. */
export interface Ticket extends Terms {
  readonly kind: string
  /** Of a keyed lock. */
  readonly keys: readonly string[] | undefined
  readonly name: string
  /** The owner as the server knows it. */
  readonly wire: string
}

const MARK = 'holdfast1.'
/** Of how many keys a ticket may be, and how many characters these may have in all. */
const MOST_KEYS = 10_000
const MOST_CHARACTERS = 1_048_576
/** No ticket is longer: a character takes seven bytes of it at most. */
const LONGEST = 12_000_000

/** What is wrong with a ticket; never who its owner is, which is all that a forger needs to know. */
export const badTicket = (why: string): TypeError =>
  new TypeError(`ticket must be the text that hold.detach() gave: ${why}`)

/** Throws where the result would be a ticket that `readTicket` refuses. */
export const makeTicket = ({ kind, keys, name, wire, lease, watched }: Ticket): string => {
  if (keys !== undefined) checkBounds(keys)
  const what = keys === undefined ? kind : `${kind} ${JSON.stringify(keys)}`
  return MARK + encode(JSON.stringify([what, name, wire, lease, watched]))
}

/** Anybody may have written it: what is returned is within all bounds, but for the kind and the owner. */
export const readTicket = (text: unknown): Ticket => {
  if (typeof text !== 'string' || !text.startsWith(MARK)) throw badTicket('it is none')
  if (text.length > LONGEST) throw badTicket('it is too long')
  const content = Buffer.from(text.slice(MARK.length), 'base64url').toString()
  const parts = encode(content) === text.slice(MARK.length) ? flatArray(content, TICKET) : undefined
  if (parts === undefined) throw badTicket('it was changed, or is not whole')
  const [what, name, wire, lease, watched] = parts as [string, string, string, number, boolean]
  const end = what.includes(' ') ? what.indexOf(' ') : what.length
  const keys = end === what.length ? undefined : keysIn(what.slice(end + 1))
  checkName(name, 'the name in a ticket')
  checkLease(lease, 'the lease in a ticket')
  return { kind: what.slice(0, end), keys, name, wire, lease, watched }
}

const encode = (text: string): string => Buffer.from(text).toString('base64url')

const keysIn = (text: string): readonly string[] => {
  const keys = flatArray(text, TEXTS) as readonly string[] | undefined
  if (keys === undefined) throw badTicket('its keys are no texts')
  checkBounds(keys)
  return keys
}

const checkBounds = (keys: readonly string[]): void => {
  const characters = keys.reduce((sum, key) => sum + key.length, 0)
  if (keys.length > MOST_KEYS || characters > MOST_CHARACTERS) {
    throw new RangeError(
      `a ticket must be of ${MOST_KEYS} keys and ${MOST_CHARACTERS} characters at most, not ${keys.length} and ${characters}`,
    )
  }
  for (const key of keys) checkWire(key, 'each key in a ticket')
}

/** What is left of the JSON when each text in it is empty. */
const TICKET = /^\["","","",[1-9]\d{0,15},(?:true|false)\]$/
const TEXTS = /^\[""(?:,"")*\]$/

/** Undefined: it is no array of this shape. So nothing in what is parsed is nested. */
const flatArray = (json: string, shape: RegExp): readonly unknown[] | undefined => {
  // What has a backslash outside of a text is no JSON.
  if (!shape.test(json.replace(/\\./g, '').replace(/"[^"]*"/g, '""'))) return undefined
  try {
    return JSON.parse(json) as readonly unknown[]
  } catch {
    return undefined
  }
}
