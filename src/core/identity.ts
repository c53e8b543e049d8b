import type { Clock } from './clock.js'

/** What the scripts and messages of this build understand. A grant goes only to a revision that the granter knows. */
const WIRE_REVISION = '0'

/**
 * A client's id: a UUID of version 8, where Redisson's are of version 4, so that one character of an owner in Redis
 * tells which of the two it is; the digit behind it is the wire revision.
 */
export const newClientId = (clock: Clock): string => {
  const hex = Array.from(clock.randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${WIRE_REVISION}${hex.slice(14, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
