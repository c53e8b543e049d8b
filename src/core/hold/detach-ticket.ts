import { platform } from '#platform'
import { checkLease, checkName, checkWire, MOST_KEYS } from '../../check-arguments.js'
import type { LeaseTerms } from './lease-terms.js'

/** What a client needs to adopt a detached hold. */
export interface Ticket extends LeaseTerms {
  readonly kind: string
  /** Only of a keyed lock. */
  readonly keys: readonly string[] | undefined
  readonly name: string
  /** The wire name of the owner. */
  readonly wire: string
}

const MARK = 'holdfast1.'
/** How many characters all keys of a ticket may have. */
const MOST_CHARACTERS = 1_048_576
/** No ticket is longer: a character takes at most seven bytes of it. */
const LONGEST = 12_000_000
/** No ticket without keys is longer: each of the 65,536 bytes of a name takes at most eight bytes of it. */
const LONGEST_WITHOUT_KEYS = 530_000
/** The beginning of a ticket with keys. */
const WITH_KEYS = /^\["\w+ \[\\"/

/** Why a hold cannot be adopted. */
export const GONE = 'it was already adopted, or its lease ended'

/** What is wrong with a ticket. Never tells the owner, because that is all that a forger needs to know. */
export const badTicket = (why: string): TypeError =>
  new TypeError(`ticket must be the text that hold.detach() returned: ${why}`)

/** Throws if `readTicket` would refuse the result. */
export const makeTicket = ({ kind, keys, name, wire, lease, watched }: Ticket): string => {
  if (keys !== undefined) checkBounds(keys)
  const what = keys === undefined ? kind : `${kind} ${JSON.stringify(keys)}`
  return MARK + encode(JSON.stringify([what, name, wire, lease, watched]))
}

/** A ticket of more keys may be forged, and hashing them takes long: first, the server is asked about this many. */
export const FIRST_ASKED = 100

/** Anybody may have written the text: the result is within all bounds, except that the kind and the owner are not checked. */
export const readTicket = (text: unknown): Ticket => {
  if (typeof text !== 'string' || !text.startsWith(MARK)) throw badTicket('this is not a ticket')
  const beginning = platform.fromBase64url(text.slice(MARK.length, MARK.length + 64))
  if (text.length > (WITH_KEYS.test(beginning) ? LONGEST : LONGEST_WITHOUT_KEYS)) throw badTicket('it is too long')
  const content = platform.fromBase64url(text.slice(MARK.length))
  const parts = encode(content) === text.slice(MARK.length) ? flatArray(content, TICKET, 64) : undefined
  if (parts === undefined) throw badTicket('it was changed or is incomplete')
  const [what, name, wire, lease, watched] = parts as [string, string, string, number, boolean]
  const end = what.includes(' ') ? what.indexOf(' ') : what.length
  const keys = end === what.length ? undefined : keysIn(what.slice(end + 1))
  checkName(name, 'the name in a ticket')
  checkLease(lease, 'the lease in a ticket')
  return { kind: what.slice(0, end), keys, name, wire, lease, watched }
}

const encode = (text: string): string => platform.toBase64url(text)

const keysIn = (text: string): readonly string[] => {
  const keys = flatArray(text, TEXTS, 6 * MOST_KEYS) as readonly string[] | undefined
  if (keys === undefined) throw badTicket('its keys are not texts, or there are too many')
  checkBounds(keys)
  return keys
}

const checkBounds = (keys: readonly string[]): void => {
  const characters = keys.reduce((sum, key) => sum + key.length, 0)
  if (keys.length > MOST_KEYS || characters > MOST_CHARACTERS) {
    throw new RangeError(
      `a ticket may have at most ${MOST_KEYS} keys and ${MOST_CHARACTERS} characters, not ${keys.length} and ${characters}`,
    )
  }
  for (const key of keys) checkWire(key, 'each key in a ticket')
}

/** The JSON of a ticket when all texts in it are empty. */
const TICKET = /^\["","","",[1-9]\d{0,15},(?:true|false)\]$/
const TEXTS = /^\[""(?:,"")*\]$/

/** Undefined: not an array of this shape, or one with more parts than `most` characters can hold. So nothing that is parsed is nested. */
const flatArray = (json: string, shape: RegExp, most: number): readonly unknown[] | undefined => {
  if (!shape.test(withoutTexts(json, most))) return undefined
  try {
    return JSON.parse(json) as readonly unknown[]
  } catch {
    return undefined
  }
}

/** The JSON with all texts empty. Stops after `most` characters. A backslash outside a text means that it is no JSON. */
const withoutTexts = (json: string, most: number): string => {
  let left = ''
  for (let at = 0; at < json.length && left.length <= most; at++) {
    left += json.charAt(at)
    if (json[at] !== '"') continue
    at = endOfText(json, at + 1)
    left += at < json.length ? '"' : ''
  }
  return left
}

const BACKSLASH = 92
const QUOTE = 34

/** Where the text ends that begins at `from`. */
const endOfText = (json: string, from: number): number => {
  let at = from
  while (at < json.length && json.charCodeAt(at) !== QUOTE) at += json.charCodeAt(at) === BACKSLASH ? 2 : 1
  return at
}
