/** Turns values into bytes and back: messages, for example, and the arguments and answers of scripts. */
export interface Codec {
  /** If it throws, the call that passed the value rejects with that error. */
  encode(value: unknown): string | Uint8Array
  /** If it throws, that is reported as an error. A message that it cannot read is dropped. */
  decode(data: Uint8Array): unknown
}

/** The built-in codecs: see docs/messaging.md. */
export type CodecName = 'json' | 'jackson' | 'string' | 'long' | 'bytes'
