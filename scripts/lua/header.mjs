// @ts-check
/**
 * The comment that a script begins with, as data: what it is for, its KEYS, its ARGV and what it returns.
 *
 * @typedef {object} Slot
 * @property {string} name
 * @property {boolean} rest the last one, and any number of it
 * @property {string} type as TypeScript
 *
 * @typedef {object} Header
 * @property {string[]} purpose
 * @property {Slot[]} KEYS
 * @property {Slot[]} ARGV
 * @property {string} returns as it is written
 * @property {string} body what follows the header
 */
import { parseReply } from './reply-type.mjs'

/** @type {Readonly<Record<string, string>>} */
const UNITS = { ms: 'number', count: 'number', integer: 'number', bytes: 'Uint8Array', any: 'Arg' }

const SLOT = /^(KEYS|ARGV)\[(\d+)(\.\.)?\]\s+(\S+)(?:\s+\(([^)]*)\))?/
const NAME = /^[a-z][A-Za-z0-9]*$/

/** @param {string} table @param {string | undefined} unit */
const slotType = (table, unit) => {
  if (unit === undefined) return 'string'
  if (table === 'KEYS') throw new Error(`KEYS have no unit: (${unit})`)
  const type = UNITS[unit]
  if (!type) throw new Error(`unknown unit (${unit}); there are ${Object.keys(UNITS).join(', ')}`)
  return type
}

/** @param {Slot[]} slots @param {RegExpExecArray} match */
const addSlot = (slots, [, table = '', index = '', rest, name = '', unit]) => {
  const slot = `${table}[${index}${rest ?? ''}]`
  if (slots.at(-1)?.rest) throw new Error(`${slot} follows ${table}[n..], which must be the last`)
  if (Number(index) !== slots.length + 1) throw new Error(`${slot} stands where ${table}[${slots.length + 1}] is due`)
  if (!NAME.test(name)) throw new Error(`${slot}: '${name}' is no camelCase name`)
  slots.push({ name, rest: rest !== undefined, type: slotType(table, unit) })
}

/** @param {string} text */
const splitHeader = (text) => {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--') || /^--\w/.test(line))
  const header = lines.slice(0, end < 0 ? lines.length : end).map((line) => line.slice(2).trim())
  return { header, body: lines.slice(header.length).join('\n') }
}

/** @param {string} text @returns {Header} */
export const parseHeader = (text) => {
  const { header, body } = splitHeader(text)
  /** @type {Header} */
  const parsed = { purpose: [], KEYS: [], ARGV: [], returns: '', body }
  /** @type {'purpose' | 'slots' | 'returns'} */
  let part = 'purpose'
  for (const line of header) {
    const slot = SLOT.exec(line)
    if (slot) {
      if (part === 'returns') throw new Error(`'${line}' stands after 'returns'`)
      part = 'slots'
      addSlot(slot[1] === 'KEYS' ? parsed.KEYS : parsed.ARGV, slot)
    } else if (/^(KEYS|ARGV)\b/.test(line)) throw new Error(`'${line}' is not 'KEYS[n] name' or 'ARGV[n] name (unit)'`)
    else if (/^returns?\b/.test(line)) {
      part = 'returns'
      const more = line.replace(/^returns?\s*/, '')
      parsed.returns = parsed.returns ? `${parsed.returns} | ${more}` : more
    } else if (part === 'purpose') parsed.purpose.push(line)
    else if (part === 'returns') parsed.returns += ` ${line}`
    else throw new Error(`'${line}' stands among KEYS and ARGV`)
  }
  if (!parsed.purpose.some(Boolean)) throw new Error('the header has no purpose line')
  if (!parsed.returns) throw new Error("the header has no 'returns' line")
  parseReply(parsed.returns, parsed.ARGV)
  return parsed
}
