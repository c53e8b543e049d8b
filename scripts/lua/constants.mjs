// @ts-check
/**
 * The constants of `src/script-times-and-limits.ts`, for which their names stand in a .lua file.
 *
 * @typedef {import('./tokens.mjs').Token} Token
 * @typedef {Readonly<Record<string, number | string>>} Constants
 */
import { runInNewContext } from 'node:vm'
import { tokenize } from './tokens.mjs'

/** @param {Token} token */
const isConstant = ({ kind, text }) => kind === 'word' && /^[A-Z][A-Z_]+$/.test(text) && !/^(KEYS|ARGV)$/.test(text)

/** @param {string} text of a TypeScript file that declares constants and nothing else @returns {Constants} */
export const readConstants = (text) => {
  const constants = {}
  runInNewContext(text.replaceAll(/^export const /gm, 'var '), constants)
  return { ...constants }
}

/** @param {string} text as Lua @returns {string[]} */
const namesIn = (text) =>
  tokenize(text)
    .filter(isConstant)
    .map((token) => token.text)

/** Those of the constants that stand neither in one of the .lua files nor in the value of another. @param {string} text @param {string[]} sources */
export const unusedConstants = (text, sources) => {
  const values = [...text.matchAll(/^export const \w+ = (.*)$/gm)].map(([, value = '']) => value)
  const used = new Set([...sources, ...values].flatMap(namesIn))
  return Object.keys(readConstants(text)).filter((name) => !used.has(name))
}

/** The value of a constant in the place of its name. @param {Constants} constants @returns {(token: Token) => Token} */
export const valueOf = (constants) => (token) => {
  if (!isConstant(token)) return token
  const value = constants[token.text]
  if (value === undefined) throw new Error(`there is no constant ${token.text}`)
  return typeof value === 'string'
    ? { ...token, kind: 'string', text: `'${value}'` }
    : { ...token, kind: 'number', text: String(value) }
}
