import type { RedissonVersion } from '../../api/client.js'
import type { Clock } from '../../base/clock.js'

/** Version and wire revision: what the scripts and messages of this build understand. */
const GRANTED_DIRECTLY = '81'

/**
 * A client's id: a UUID of version 8, where Redisson's are of version 4, so that one character of an owner in Redis
 * tells which of the two it is; the digit behind it is the wire revision, and a grant goes only to one that the granter knows.
 * A client that follows an older Redisson's rules is called as those are, so it looks as they do.
 */
export const newClientId = (clock: Clock, redisson: RedissonVersion): string => {
  const hex = Array.from(clock.randomBytes(16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  const version = redisson === '4' ? GRANTED_DIRECTLY : `4${hex.charAt(13)}`
  const variant = '89ab'[Number.parseInt(hex.charAt(16), 16) & 3]
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${version}${hex.slice(14, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`
}
