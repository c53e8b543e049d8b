// @ts-check
/**
 * The comment that a script begins with, as data: what it is for, its KEYS, its ARGV and what it returns.
 *
 *     KEYS lock, queue, counter[3..]       the last may be any number of them: its name is that of the whole table
 *     ARGV owner, lease (ms), known        a unit is the type of an argument
 *       known: the newest token that …     explains a name
 *     returns …                            `reply-type.mjs`
 *
 * @typedef {object} Slot
 * @property {string} name
 * @property {boolean} rest the last one, and any number of it
 * @property {string} type as TypeScript
 * @property {boolean} number whether the script gets it as a number
 *
 * @typedef {object} Header
 * @property {string[]} purpose
 * @property {Slot[]} KEYS
 * @property {Slot[]} ARGV
 * @property {string} returns as it is written
 * @property {string} body what follows the header, behind the lines that give each slot its name
 */
import { parseReply } from './reply-type.mjs'

/** @type {Readonly<Record<string, string>>} */
const UNITS = { ms: 'number', count: 'number', integer: 'number', bytes: 'Uint8Array', any: 'Arg' }

const SLOT = /^(\w+)(?:\[(\d+)\.\.\])?(?: \(([^)]*)\))?$/
const NAME = /^[a-z][A-Za-z0-9]*$/

/**
 * Arguments are sent as text. A number is one for the script, too, unless its unit says `text`: it is only handed on, or compared.
 * @param {string} table @param {string | undefined} unit
 */
const slotType = (table, unit) => {
  if (unit === undefined) return { type: 'string', number: false }
  if (table === 'KEYS') throw new Error(`KEYS have no unit: (${unit})`)
  const type = UNITS[unit.replace(/ text$/, '')]
  if (!type) throw new Error(`unknown unit (${unit}); there are ${Object.keys(UNITS).join(', ')}`)
  if (unit.endsWith(' text') && type !== 'number') throw new Error(`(${unit}): only a number can be left as text`)
  return { type, number: type === 'number' && !unit.endsWith(' text') }
}

/** @param {Slot[]} slots those before it @param {string} table @param {string} text such as `lease (ms)` or `owners[3..]` */
const addSlot = (slots, table, text) => {
  const [, name = '', from, unit] = SLOT.exec(text) ?? []
  const due = slots.length + 1
  if (!NAME.test(name))
    throw new Error(`${table}: '${text}' is no 'camelCase', 'camelCase (unit)' or 'camelCase[${due}..]'`)
  if (slots.at(-1)?.rest) throw new Error(`${table}: '${text}' follows '${slots.at(-1)?.name}', which must be the last`)
  if (from !== undefined && Number(from) !== due)
    throw new Error(`${table}: '${text}' stands where '${name}[${due}..]' is due`)
  const { type, number } = slotType(table, unit)
  slots.push({ name, rest: from !== undefined, type, number: number && from === undefined })
}

/** @param {string} text */
const splitHeader = (text) => {
  const lines = text.split('\n')
  const end = lines.findIndex((line) => !line.startsWith('--') || /^--\w/.test(line))
  const header = lines.slice(0, end < 0 ? lines.length : end)
  return {
    header: header.map((line) => line.slice(2).replace(/^ /, '').trimEnd()),
    body: lines.slice(header.length).join('\n'),
  }
}

/** The line that gives the slots of a table their names; the last one has all of the table where there may be any number of it. @param {string} table @param {Slot[]} slots */
const bind = (table, slots) => {
  const values = slots.map(({ rest, number }, index) => {
    const slot = rest ? table : `${table}[${index + 1}]`
    return number ? `tonumber(${slot})` : slot
  })
  return slots.length > 0 ? `local ${slots.map(({ name }) => name).join(', ')} = ${values.join(', ')}\n` : ''
}

/** @param {string} text @returns {Header} */
export const parseHeader = (text) => {
  const { header, body } = splitHeader(text)
  /** @type {Header} */
  const parsed = { purpose: [], KEYS: [], ARGV: [], returns: '', body }
  /** @type {'purpose' | 'KEYS' | 'ARGV' | 'returns'} */
  let part = 'purpose'
  for (const line of header) {
    const [, word, more = ''] = /^(KEYS|ARGV|returns?)\b *(.*)$/.exec(line) ?? []
    const before = part
    if (word) part = word === 'KEYS' || word === 'ARGV' ? word : 'returns'
    const slots = part === 'KEYS' || part === 'ARGV' ? parsed[part] : undefined
    if (slots && word) {
      if (before === 'returns' || slots.length > 0) throw new Error(`'${line}' stands behind ${before}`)
      for (const slot of more.split(', ')) addSlot(slots, word, slot)
    } else if (slots) {
      if (![...parsed.KEYS, ...parsed.ARGV].some(({ name }) => line.startsWith(`  ${name}: `)))
        throw new Error(`'${line}' stands among KEYS and ARGV, and is no '  name: ' of one`)
    } else if (part === 'purpose') parsed.purpose.push(line.trim())
    else if (word) parsed.returns = parsed.returns ? `${parsed.returns} | ${more}` : more
    else parsed.returns += ` ${line.trim()}`
  }
  if (!parsed.purpose.some(Boolean)) throw new Error('the header has no purpose line')
  if (!parsed.returns) throw new Error("the header has no 'returns' line")
  parseReply(parsed.returns, parsed.ARGV)
  const names = [...parsed.KEYS, ...parsed.ARGV].map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new Error(`two slots are '${twice}'`)
  parsed.body = bind('KEYS', parsed.KEYS) + bind('ARGV', parsed.ARGV) + body
  return parsed
}
