/** How values become bytes, of messages and of what scripts are given and answer. */
export interface Codec {
  /** What it throws rejects the call that gave the value. */
  encode(value: unknown): string | Uint8Array
  /** What it throws is told as an error; a message that cannot be read is left out. */
  decode(data: Uint8Array): unknown
}

/** The codecs that there are: see the guide. */
export type CodecName = 'json' | 'jackson' | 'string' | 'long' | 'bytes'
