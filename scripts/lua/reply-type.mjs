// @ts-check
/**
 * The reply part of a header as a TypeScript type, and as the check of `src/lua/reply-shape.ts` that it is one:
 *
 *     reply = alternative { "|" alternative }
 *     alternative = type [ "[" [ "pairs" | rest [ "/" number ] ] "]" ] { word }     the words explain, nobody else sees them
 *     type = "nil" | "integer" | "string" | "digits" | "list" | a number | 'text' | "[" reply { "," reply } "]"
 *
 * `[rest/2]` is a list with one item for every two arguments of ARGV[n..] rest. `digits` is a number that is sent as text.
 * The first word of a tuple's element is its name when all elements have one.
 *
 * @typedef {import('./header.mjs').Slot} Slot
 * @typedef {{ type: string, shape: string }} Reply
 */

/** @type {Readonly<Record<string, Reply>>} */
const TYPES = {
  nil: { type: 'null', shape: 'nil' },
  integer: { type: 'number', shape: 'integer' },
  string: { type: 'string', shape: 'text' },
  digits: { type: 'string', shape: 'digits' },
  list: { type: 'readonly Reply[]', shape: 'list' },
}
const MANY = /^\[(?:(\w+)(?:\/(\d+))?)?\]/

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

/** @param {string} text what stands between the brackets @param {readonly Slot[]} args @returns {Reply} */
const tuple = (text, args) => {
  const elements = split(text, ',').map((element) => {
    const [first = ''] = split(element, '|')
    return { ...parseReply(element, args), name: /^\s+([a-z][A-Za-z0-9]*)/.exec(parseType(first, args).words)?.[1] }
  })
  const named = elements.every(({ name }) => name !== undefined)
  return {
    type: `readonly [${elements.map(({ type, name }) => (named ? `${name}: ${type}` : type)).join(', ')}]`,
    shape: `tuple(${elements.map(({ shape }) => shape).join(', ')})`,
  }
}

/** @param {RegExpExecArray} brackets @param {string} item @param {readonly Slot[]} args */
const manyOf = ([brackets, count, each = '1'], item, args) => {
  if (count === undefined) return `many(${item})`
  if (count === 'pairs' && item === 'text') return 'pairs'
  const from = args.findIndex(({ name, rest }) => rest && name === count)
  if (from === -1) throw new Error(`returns: there is no ARGV[n..] ${count} for '${brackets}'`)
  return `oneFor(${item}, ${from + 1}, ${each})`
}

/** @param {string} text @param {readonly Slot[]} args @returns {Reply & { words: string }} */
const parseType = (text, args) => {
  const end = text.startsWith('[') ? closing(text) + 1 : (/^(?:'[\w-]*'|-?\d+|\w+)/.exec(text)?.[0].length ?? 0)
  const word = text.slice(0, end)
  const literal = { type: word, shape: `just(${word})` }
  const one = word.startsWith('[') ? tuple(word.slice(1, -1), args) : /^['\d-]/.test(word) ? literal : TYPES[word]
  if (!one) throw new Error(`returns: '${text}' begins with none of ${Object.keys(TYPES).join(', ')}, a literal or '['`)
  const brackets = MANY.exec(text.slice(end))
  if (brackets === null) return { ...one, words: text.slice(end) }
  const item = one.type.startsWith('readonly') ? `(${one.type})` : one.type
  return {
    type: `readonly ${item}[]`,
    shape: manyOf(brackets, one.shape, args),
    words: text.slice(end + brackets[0].length),
  }
}

/** @param {readonly string[]} words */
const once = (words) => [...new Set(words)]

/** @param {string} text @param {readonly Slot[]} [args] ARGV @returns {Reply} */
export const parseReply = (text, args = []) => {
  const parts = split(text, '|').map((part) => parseType(part, args))
  return {
    type: once(parts.map(({ type }) => type)).join(' | '),
    shape: once(parts.map(({ shape }) => shape)).reduce((before, next) => `either(${before}, ${next})`),
  }
}
