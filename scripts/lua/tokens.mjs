// @ts-check
/**
 * The words of a Lua text, and the same text without comments and needless spaces.
 *
 * @typedef {object} Token
 * @property {'word' | 'number' | 'string' | 'sign'} kind
 * @property {string} text
 * @property {boolean} newLine whether a line began since the token before
 */

const SPACE = /\s+/y
const LONG_OPEN = /\[(=*)\[/y
const KINDS = /** @type {const} */ ([
  ['word', /[A-Za-z_]\w*/y],
  // As Lua's own reader: it takes every letter that follows a digit into the number.
  ['number', /(?:\d|\.\d)(?:[eE][+-]|[\w.])*/y],
  ['string', /"(?:\\[^]|[^"\\\n])*"|'(?:\\[^]|[^'\\\n])*'/y],
  ['sign', /\.\.\.|\.\.|==|~=|<=|>=|[-+*/%^#<>=(){}[\];:,.]/y],
])

/** @param {RegExp} pattern @param {string} text @param {number} at */
const matchAt = (pattern, text, at) => {
  pattern.lastIndex = at
  return pattern.exec(text)
}

/** Where the long bracket that opens at `at` ends; undefined when none opens there. @param {string} text @param {number} at */
const longEnd = (text, at) => {
  const open = matchAt(LONG_OPEN, text, at)
  if (!open) return undefined
  const close = `]${open[1]}]`
  const end = text.indexOf(close, at)
  if (end < 0) throw new Error(`a long bracket is not closed: ${text.slice(at, at + 20)}`)
  return end + close.length
}

/** @param {string} text @param {number} at */
const commentEnd = (text, at) => {
  const long = longEnd(text, at + 2)
  if (long !== undefined) return long
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** @param {string} text @param {number} at @param {boolean} newLine @returns {Token} */
const tokenAt = (text, at, newLine) => {
  const long = longEnd(text, at)
  if (long !== undefined) return { kind: 'string', text: text.slice(at, long), newLine }
  for (const [kind, pattern] of KINDS) {
    const found = matchAt(pattern, text, at)
    if (found) return { kind, text: found[0], newLine }
  }
  const line = text.slice(0, at).split('\n').length
  throw new Error(`line ${line} is not Lua 5.1: ${text.slice(at, at + 20).split('\n')[0]}`)
}

/** @param {string} text @returns {Token[]} */
export const tokenize = (text) => {
  const tokens = []
  let newLine = false
  for (let at = 0; at < text.length;) {
    const space = matchAt(SPACE, text, at)?.[0]
    const end = space ? at + space.length : text.startsWith('--', at) ? commentEnd(text, at) : undefined
    if (end !== undefined) {
      newLine ||= text.slice(at, end).includes('\n')
      at = end
      continue
    }
    const token = tokenAt(text, at, newLine)
    tokens.push(token)
    at += token.text.length
    newLine = false
  }
  return tokens
}

/** Whether two tokens would read as something else without a space between. @param {Token} a @param {Token} b */
const needsSpace = (a, b) => {
  const pair = a.text.slice(-1) + b.text.charAt(0)
  if (a.kind === 'string' || b.kind === 'string') return pair === '[['
  if (/^\w\w$/.test(pair)) return true
  if (a.kind === 'number' || b.kind === 'number') return /[\w.][\w.]/.test(pair)
  return ['--', '..', '[[', '[=', '==', '<=', '>=', '~='].includes(pair)
}

/** Lua 5.1 refuses a call whose bracket stands on a new line: gluing the two would change that. @param {Token} token */
const mayBeCall = (token) => token.newLine && token.text === '('

/** @param {string} text @param {(token: Token) => Token} [valueOf] what stands for a token */
export const minify = (text, valueOf = (token) => token) => {
  let out = ''
  /** @type {Token | undefined} */
  let last
  for (const token of tokenize(text).map(valueOf)) {
    if (last && (needsSpace(last, token) || mayBeCall(token))) out += token.newLine ? '\n' : ' '
    out += token.text
    last = token
  }
  return out
}
