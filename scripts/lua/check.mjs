// @ts-check
import { functionOf } from './functions.mjs'
import { tokenize } from './tokens.mjs'

/**
 * @typedef {import('./header.mjs').Header} Header
 */

/** Of a script itself, and with its functions. */
export const MOST_LINES = 75
const MOST_IN_ALL = 450

/** How many lines hold code; comments cost nothing. @param {string} text */
export const codeLines = (text) => {
  const tokens = tokenize(text)
  return tokens.filter((token, index) => index === 0 || token.newLine).length
}

/** Each name of the header is used, and nothing goes around them. @param {string} text of a whole script @param {Header} header */
export const checkNames = (text, { KEYS, ARGV }) => {
  const tokens = tokenize(text)
  const words = tokens.filter(({ kind }, at) => kind === 'word' && !/^[.:]$/.test(tokens[at - 1]?.text ?? ''))
  const used = new Set(words.map((token) => token.text))
  for (const table of ['KEYS', 'ARGV'])
    if (used.has(table)) throw new Error(`${table} is read: a script has them by the names in its header`)
  for (const { name } of [...KEYS, ...ARGV])
    if (!used.has(name)) throw new Error(`${name} is in the header and never used`)
}

/** @param {string} body @param {string} expanded with its functions */
export const checkLength = (body, expanded) => {
  const lines = codeLines(body)
  if (lines > MOST_LINES) throw new Error(`${lines} lines of code; ${MOST_LINES} are allowed`)
  const all = codeLines(expanded)
  if (all > MOST_IN_ALL) throw new Error(`${all} lines of code with its functions; ${MOST_IN_ALL} are allowed`)
}

/** A fragment is one local function that knows nothing of the script around it. @param {string} text @param {string} name */
export const checkFragment = (text, name) => {
  const words = tokenize(text).map((token) => token.text)
  const [local, keyword] = words
  if (/^--\w/m.test(text)) throw new Error('only a script says where its functions stand')
  if (local !== 'local' || keyword !== 'function') throw new Error("a fragment is one 'local function'")
  const due = functionOf(name)
  if (words[2] !== due) throw new Error(`the function of this fragment must be '${due}', not '${words[2]}'`)
  if (words.includes('KEYS') || words.includes('ARGV')) throw new Error('a fragment reads no KEYS or ARGV')
}
