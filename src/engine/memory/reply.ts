/**
 * Values inside the embedded server. A byte string is a JavaScript string with one char (0–255) for each byte. So keys can be Map
 * keys, and nothing is decoded before it leaves the server.
 */
export type Bytes = string

/** The longest JavaScript string: 24 bytes less than the 512 MB that Redis allows. */
export const LONGEST = 0x1fffffe8

/** A simple status (`+OK`), to distinguish it from a bulk string with the same text. */
export class Status {
  constructor(readonly text: Bytes) {}
}

/** An error reply. The text is the server's own, with the code word first (`ERR …`, `WRONGTYPE …`). */
export class ReplyError extends Error {
  override readonly name = 'ReplyError'
}

/** null is nil, a number an integer, Bytes a bulk string, an array an array. An error within an array is a value. */
export type Reply = null | number | Bytes | Status | ReplyError | Reply[]

/** What a script needs from its server: to run one command through the ordinary command table. */
export interface ScriptHost {
  /** Runs one command like `redis.call`. An error reply is returned as a ReplyError, never thrown. */
  call(argv: Bytes[]): Reply
  /** Receives the output of `redis.log`. */
  log?(level: number, message: Bytes): void
}

/** Conversions at the boundary of the server. */
export const toBytes = (value: string | number | Uint8Array): Bytes => {
  if (typeof value === 'number') return String(value)
  if (typeof value === 'string') return isAscii(value) ? value : latin1(utf8.encode(value))
  return latin1(value)
}

const utf8 = new TextEncoder()
const decoder = new TextDecoder()

const BEYOND_ASCII = /[\u0080-\uffff]/
/** From this length on, the regular expression is faster than the loop. */
const LONG = 16

const isAscii = (text: string): boolean => {
  if (text.length >= LONG) return !BEYOND_ASCII.test(text)
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false
  return true
}

const latin1 = (data: Uint8Array): Bytes => {
  let text = ''
  for (let i = 0; i < data.length; i += 8192) text += String.fromCharCode(...data.subarray(i, i + 8192))
  return text
}

export const fromBytes = (bytes: Bytes): Uint8Array => {
  const data = new Uint8Array(bytes.length)
  for (let i = 0; i < bytes.length; i++) data[i] = bytes.charCodeAt(i)
  return data
}

export const toText = (bytes: Bytes): string => (isAscii(bytes) ? bytes : decoder.decode(fromBytes(bytes)))
