import { utf8 } from './utf8.js'

/** Limits for a JSON message, so that no message keeps its reader busy for long or overflows its stack. Java's Jackson has such limits, too. */
export const MOST_BYTES = 64 * 1024 * 1024
export const MOST_LEVELS = 1000
export const MOST_DIGITS = 1000

export const tooDeep = (): RangeError => new RangeError(`JSON may be nested at most ${MOST_LEVELS} levels deep`)

/** Decodes a message, unless it is too large. */
export const contentOf = (data: Uint8Array): string => {
  if (data.length > MOST_BYTES)
    throw new RangeError(`a JSON message may have at most ${MOST_BYTES} bytes, not ${data.length}`)
  return utf8(data)
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b])
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d])

/** Looks at each character once. */
export const checkLevels = (text: string): string => {
  let levels = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) quoted = !quoted
    else if (quoted) {
      if (code === BACKSLASH) at++
    } else if (OPENS.has(code)) {
      if (++levels > MOST_LEVELS) throw tooDeep()
    } else if (CLOSES.has(code)) levels--
  }
  return text
}
