// @ts-check
/**
 * The reply part of a header as a TypeScript type:
 *
 *     reply = alternative { "|" alternative }
 *     alternative = type [ "[]" ] { word }          the words explain, the compiler never sees them
 *     type = "nil" | "integer" | "string" | "list" | a number | 'text' | "[" reply { "," reply } "]"
 *
 * The first word of a tuple's element is its name when all elements have one.
 */

/** @type {Readonly<Record<string, string>>} */
const TYPES = { nil: 'null', integer: 'number', string: 'string', list: 'readonly Reply[]' }

/** Splits at a sign that stands outside of brackets and quotes. @param {string} text @param {string} sign */
const split = (text, sign) => {
  const parts = ['']
  let depth = 0
  for (const [piece] of text.matchAll(/(?<!\w)'[\w-]*'|[^]/g)) {
    if (piece === '[') depth += 1
    if (piece === ']') depth -= 1
    if (depth < 0) throw new Error(`returns: a ']' too many in '${text}'`)
    if (piece === sign && depth === 0) parts.push('')
    else parts[parts.length - 1] += piece
  }
  if (depth > 0) throw new Error(`returns: a ']' is missing in '${text}'`)
  return parts.map((part) => part.trim())
}

/** @param {string} text */
const closing = (text) => {
  let depth = 0
  return [...text].findIndex((sign) => (sign === '[' ? (depth += 1) : sign === ']' ? (depth -= 1) : 1) === 0)
}

/** @param {string} text what stands between the brackets */
const tuple = (text) => {
  const elements = split(text, ',').map((element) => {
    const [first = ''] = split(element, '|')
    return { type: replyType(element), name: /^\s+([a-z][A-Za-z0-9]*)/.exec(parseType(first).words)?.[1] }
  })
  const named = elements.every(({ name }) => name !== undefined)
  return `readonly [${elements.map(({ type, name }) => (named ? `${name}: ${type}` : type)).join(', ')}]`
}

/** @param {string} text @returns {{ type: string, words: string }} */
const parseType = (text) => {
  const end = text.startsWith('[') ? closing(text) + 1 : (/^(?:'[\w-]*'|-?\d+|\w+)/.exec(text)?.[0].length ?? 0)
  const word = text.slice(0, end)
  const type = word.startsWith('[') ? tuple(word.slice(1, -1)) : /^['\d-]/.test(word) ? word : TYPES[word]
  if (!type)
    throw new Error(`returns: '${text}' begins with none of ${Object.keys(TYPES).join(', ')}, a literal or '['`)
  const many = text.startsWith('[]', end)
  const item = type.startsWith('readonly') ? `(${type})` : type
  return { type: many ? `readonly ${item}[]` : type, words: text.slice(end + (many ? 2 : 0)) }
}

/** @param {string} text @returns {string} */
export const replyType = (text) => [...new Set(split(text, '|').map((part) => parseType(part).type))].join(' | ')
