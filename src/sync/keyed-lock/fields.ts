import { highwayHash128 } from './highway-hash.js'

/** Redisson's, as words, the lower one of each number first. */
const KEY = [0x7f4a7c15, 0x9e3779b9, 0x5cedc834, 0xf39cc060, 0xf3a27251, 0x1082276b, 0xd0c18e95, 0xf86c6a11]

/**
 * Under which field of its group Redisson keeps a key: the hash of what its codec makes of it. The bytes of the text are what
 * its StringCodec makes of a string; for another codec, give the text that that one makes (`JSON.stringify(key)` for JSON).
 */
export const fieldOf = (key: string): string => {
  const hash = highwayHash128(new TextEncoder().encode(key), KEY)
  return btoa(String.fromCharCode(...hash)).slice(0, 22)
}
