import { ConfigError } from '../errors.js'
import type { Codec, CodecName } from '../api/codec.js'
import { codecOf, encodeWith, isNamed, keepsText } from './by-name.js'
import { plainText } from '../plain-text.js'

/** What Redisson's clients use by the file that this one was given. */
export interface JavaCodec {
  /** Undefined: one that only Java has. */
  readonly codec: CodecName | undefined
  /** Its class, and where in the file that is said. */
  readonly title: string
  /** `connect` was told to use another. */
  readonly replaced: boolean
}

/** How keys of a group become bytes: as Redisson's codec writes them, or else nobody would exclude anybody. */
export const keyEncoder =
  (codec: Codec, java: JavaCodec | undefined) =>
  (key: string): string | Uint8Array => {
    if (java !== undefined && java.codec === undefined && !java.replaced) {
      throw new ConfigError(
        `keyedLock would not exclude Java’s, whose keys are written by ${plainText(java.title)}: name a StringCodec or JsonJacksonCodec in the file, or pass a codec to connect`,
      )
    }
    if (keepsText(codec)) return key
    const [data, again] = [encodeWith(codec, key, 'a key'), encodeWith(codec, key, 'a key')]
    if (Buffer.from(data as Uint8Array).equals(Buffer.from(again as Uint8Array))) return data
    throw new ConfigError(
      `keyedLock needs a codec that writes the same key alike each time, or nobody excludes anybody`,
    )
  }

/** Why Java's listeners would not read what this codec writes; undefined: they may. */
export const unreadable = (codec: Codec, java: JavaCodec | undefined): string | undefined => {
  const isAlike = java === undefined || !isNamed(codec) || (java.codec !== undefined && codecOf(java.codec) === codec)
  return isAlike ? undefined : java.title
}
