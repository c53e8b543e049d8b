import type { RedissonVersion } from '../../api/client.js'
import type { Clock } from '../../base/clock.js'

/** UUID version 8, and the wire revision: which scripts and messages this build understands. */
const GRANTED_DIRECTLY = '81'

/**
 * A client's id: a UUID of version 8. Redisson's are of version 4, so one character of an owner in Redis tells the two apart.
 * The digit behind it is the wire revision: a server script grants directly only to a client whose revision it knows.
 * A client that follows the rules of an older Redisson is woken up like an older Redisson, so its id looks like one.
 */
export const newClientId = (clock: Clock, redisson: RedissonVersion): string => {
  const hex = Array.from(clock.randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const version = redisson === '4' ? GRANTED_DIRECTLY : `4${hex.charAt(13)}`
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(14, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
