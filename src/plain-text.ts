/**
 * Characters that a reader does not see, but a terminal, a log or a page may act on: controls, line ends, text direction, half a
 * surrogate pair.
 */
export const HIDDEN = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

const UNITS: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

const unitOf = (unit: string): string => UNITS[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const escape = (sign: string): string => sign.split('').map(unitOf).join('')

/** How many characters are shown of a name, a key or a value; and of a whole message. */
export const LONGEST_NAME = 100
export const LONGEST_MESSAGE = 1000

/**
 * Makes a foreign text safe to show: on one line, escaped as in JSON, and of a long one only the beginning and its length. Every text for
 * people goes through this function; programs get the exact value.
 */
export const plainText = (text: string, most = LONGEST_NAME): string => {
  if (text.length <= most) return text.replace(HIDDEN, escape)
  const shown = text.slice(0, most).replace(/[\ud800-\udbff]$/, '')
  return `${shown.replace(HIDDEN, escape)}… (${text.length} characters)`
}

/** A whole message. */
export const plainMessage = (text: string): string => plainText(text, LONGEST_MESSAGE)

/** A name within a message. */
export const quoted = (name: string): string => `'${plainText(name)}'`

/** Most texts are only this, which is found much faster. */
const UNUSUAL = /[^ -~]/

/** JSON that parses to the same value, and whose texts cannot move a cursor. `indent` 0: on one line. */
export const plainJson = (value: unknown, indent = 2): string => {
  const json = JSON.stringify(value, undefined, indent)
  return UNUSUAL.test(json) ? json.replace(HIDDEN, (sign) => (sign === '\n' ? sign : escape(sign))) : json
}
