// @ts-check
import { functionOf } from './functions.mjs'
import { tokenize } from './tokens.mjs'

/**
 * @typedef {import('./header.mjs').Header} Header
 * @typedef {import('./header.mjs').Slot} Slot
 * @typedef {import('./tokens.mjs').Token} Token
 */

/** Of a script itself, and with its functions. */
export const MOST_LINES = 75
const MOST_IN_ALL = 450
const BINDING = /^local ([\w ,]+) = ((?:(?:tonumber \( )?(?:KEYS|ARGV)\b(?: \[ \d+ \])?(?: \))? ?,? ?)+)(?![[.:])/
const READ = /(KEYS|ARGV)(?: \[ (\d+) \])?/g

/** How many lines hold code; comments cost nothing. @param {string} text */
export const codeLines = (text) => {
  const tokens = tokenize(text)
  return tokens.filter((token, index) => index === 0 || token.newLine).length
}

/** Which name each slot is bound to by the first lines, and what follows them. @param {string} words */
const readBindings = (words) => {
  /** @type {Map<string, string>} */
  const bound = new Map()
  let rest = words
  for (let found = BINDING.exec(rest); found; found = BINDING.exec(rest)) {
    const names = (found[1] ?? '').split(',').map((name) => name.trim())
    const slots = [...(found[2] ?? '').matchAll(READ)].map(([, table, index]) =>
      index ? `${table}[${index}]` : `${table}[..]`,
    )
    if (names.length !== slots.length) throw new Error(`'local ${names.join(', ')} = …' binds ${slots.length} slots`)
    slots.forEach((slot, index) => {
      if (bound.has(slot)) throw new Error(`${slot} is bound twice`)
      bound.set(slot, names[index] ?? '')
    })
    rest = rest.slice(found[0].length).replace(/^[ ;]+/, '')
  }
  return { bound, rest }
}

/** @param {string} table @param {Slot[]} slots @param {Map<string, string>} bound @param {string} rest */
const checkTable = (table, slots, bound, rest) => {
  const fixed = slots.filter((slot) => !slot.rest)
  fixed.forEach(({ name }, index) => {
    const slot = `${table}[${index + 1}]`
    const local = bound.get(slot)
    if (local === undefined) throw new Error(`${slot} ${name} is in the header; the first lines do not bind it`)
    if (local !== name) throw new Error(`${slot} is '${name}' in the header and '${local}' in the body`)
    if (!new RegExp(`(?<! [.:] )\\b${name}\\b`).test(rest)) throw new Error(`${slot} ${name} is never used`)
    bound.delete(slot)
  })
  const local = bound.get(`${table}[..]`)
  const whole = local !== undefined || new RegExp(`\\b${table}\\b(?! \\[ \\d+ \\])`).test(rest)
  const more = slots[fixed.length]
  if (whole && !more) throw new Error(`the whole ${table} is read, and the header has no ${table}[n..]`)
  if (!whole && more) throw new Error(`${table}[${slots.length}..] ${more.name} is in the header and never read`)
  if (local !== undefined && local !== more?.name)
    throw new Error(`${table} is '${more?.name}' in the header and '${local}' in the body`)
  bound.delete(`${table}[..]`)
}

/** @param {Header} header */
export const checkBody = (header) => {
  const { bound, rest } = readBindings(
    tokenize(header.body)
      .map((token) => (token.kind === 'string' ? '""' : token.text))
      .join(' '),
  )
  checkTable('KEYS', header.KEYS, bound, rest)
  checkTable('ARGV', header.ARGV, bound, rest)
  const [extra] = bound.keys()
  if (extra !== undefined) throw new Error(`${extra} is read, and the header does not have it`)
  const late = /(?:KEYS|ARGV) \[ \d+ \]/.exec(rest)
  if (late) throw new Error(`${late[0].replaceAll(' ', '')} is read outside of the first lines`)
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
