import { platform } from '#platform'
import { ConfigError } from '../errors.js'
import type { Codec, CodecName } from '../api/codec.js'
import { codecOf, encodeWith, isNamed, keepsText } from './codec-by-name.js'
import { plainText } from '../plain-text.js'

/** The codec that Redisson's clients use, by the configuration file that this client reads, too. */
export interface JavaCodec {
  /** Undefined: a codec that exists only in Java. */
  readonly codec: CodecName | undefined
  /** Its class, and where the file names it. */
  readonly title: string
  /** `connect` was called with another codec. */
  readonly replaced: boolean
}

/**
 * How the keys of a group become bytes. They must equal what Redisson's codec writes, or the clients would not exclude
 * each other.
 */
export const keyEncoder =
  (codec: Codec, java: JavaCodec | undefined) =>
  (key: string): string | Uint8Array => {
    if (java !== undefined && java.codec === undefined && !java.replaced) {
      throw new ConfigError(
        `keyedLock would not exclude Java clients, which write keys with ${plainText(java.title)}: name a StringCodec or JsonJacksonCodec in the file, or pass a codec to connect`,
      )
    }
    if (keepsText(codec)) return key
    const [data, again] = [encodeWith(codec, key, 'a key'), encodeWith(codec, key, 'a key')]
    if (platform.toHex(data as Uint8Array) === platform.toHex(again as Uint8Array)) return data
    throw new ConfigError(
      `keyedLock needs a codec that always writes the same bytes for the same key: pass another codec to connect`,
    )
  }

/** Why Java's listeners could not read what this codec writes; undefined: they may be able to. */
export const unreadable = (codec: Codec, java: JavaCodec | undefined): string | undefined => {
  const isAlike = java === undefined || !isNamed(codec) || (java.codec !== undefined && codecOf(java.codec) === codec)
  return isAlike ? undefined : java.title
}
