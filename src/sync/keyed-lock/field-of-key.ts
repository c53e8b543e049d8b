import { FIELD } from '../../script-times-and-limits.js'
import { highwayHash128 } from './highway-hash.js'

/** Redisson's key for the hash, as 32-bit words, the lower word of each number first. */
const KEY = [0x7f4a7c15, 0x9e3779b9, 0x5cedc834, 0xf39cc060, 0xf3a27251, 0x1082276b, 0xd0c18e95, 0xf86c6a11]

/**
 * The field in which Redisson keeps a key of a group: the hash of the key as the codec encodes it. A text stands for its own bytes, as with
 * StringCodec.
 */
export const fieldOf = (key: string | Uint8Array): string => {
  const data = typeof key === 'string' ? new TextEncoder().encode(key) : key
  const hash = highwayHash128(data, KEY)
  return btoa(String.fromCharCode(...hash)).slice(0, FIELD)
}
