import { createHash } from 'node:crypto'

/** As long as Stripe's. */
const LONGEST_KEY = 255

/** As the draft has it, text in quotes, in which a backslash stands before a quote and before another backslash. */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/
/** As most clients send it. */
const BARE = /^[\x21-\x7e]+$/

/** The key in a header field; undefined if it is none, or several. */
export const keyIn = (field: string): string | undefined => {
  const text = field.trim()
  const inside = QUOTED.exec(text)?.[1]
  const key = inside?.replace(/\\(.)/g, '$1') ?? (text.includes('"') ? '' : text)
  const isKey = inside === undefined ? BARE.test(key) : key !== ''
  return isKey && key.length <= LONGEST_KEY ? key : undefined
}

/** One hash for several parts; where one ends and the next begins makes a difference. */
export const hashOf = (...parts: readonly (string | Uint8Array)[]): string => {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(createHash('sha256').update(part).digest())
  return hash.digest('hex')
}
