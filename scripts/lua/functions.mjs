// @ts-check
/**
 * The functions that a script calls and does not have, from the fragments.
 *
 * @typedef {import('./tokens.mjs').Token} Token
 * @typedef {ReadonlyMap<string, string>} Fragments texts by their names, such as `line/is-heard`
 * @typedef {{ text: string, names: readonly string[] }} Expanded a script with its functions, and the fragments that they are from
 */
import { tokenize } from './tokens.mjs'

/** Whose functions a kind uses where it has none of its own by that name. @type {Readonly<Record<string, string>>} */
const LEANS_ON = {
  core: 'rate-limiter',
  'classic-fair-lock': 'fair-lock',
  'fenced-lock': 'lock',
  listing: 'rate-limiter',
  'permit-semaphore': 'semaphore',
}
/** A line of its own: what is called below it, up to the end of the block, stands here, and not in front of the script. */
const MARKER = /^[^\S\n]*--functions[^\S\n]*\n/m
const KEYWORDS = new Set(
  'and break do else elseif end false for function if in local nil not or repeat return then true until while'.split(
    ' ',
  ),
)
const GLOBALS = new Set(
  'ARGV KEYS cjson error ipairs math next pairs pcall redis select string struct table tonumber tostring type unpack'.split(
    ' ',
  ),
)
/** How many blocks a word begins or ends. @type {Readonly<Record<string, number>>} */
const BLOCKS = { function: 1, if: 1, do: 1, repeat: 1, end: -1, until: -1 }

/** @param {string} name such as `line/is-heard` */
export const functionOf = (name) => name.replace(/^.*\//, '').replace(/-(\w)/g, (_, letter) => letter.toUpperCase())

/** @param {string} script such as `lock/acquire` */
export const kindOf = (script) => script.replace(/\/.*$/, '')

/** The fragment of each function, as a script of this kind means it. @param {string} kind @param {Fragments} fragments */
const functionsOf = (kind, fragments) => {
  /** @type {Map<string, string>} */
  const known = new Map()
  for (const folder of [kind, LEANS_ON[kind], 'line', 'outsiders', ''])
    for (const name of fragments.keys())
      if (name.replace(/\/?[^/]*$/, '') === folder && !known.has(functionOf(name))) known.set(functionOf(name), name)
  return known
}

/** What a text declares itself, wherever: locals, functions and their parameters. @param {readonly Token[]} tokens */
const declared = (tokens) => {
  /** @type {Set<string>} */
  const names = new Set()
  let reading = false
  tokens.forEach(({ kind, text }, at) => {
    const before = tokens[at - 1]?.text ?? ''
    if (/^(?:local|for|function)$/.test(text)) reading = true
    else if (kind === 'word' && reading && /^(?:local|for|function|,|\()$/.test(before)) names.add(text)
    else if (text !== ',' && text !== '(') reading = false
  })
  return names
}

/** @param {readonly Token[]} tokens @param {number} at */
const isName = (tokens, at) => {
  const { kind, text } = /** @type {Token} */ (tokens[at])
  if (kind !== 'word' || KEYWORDS.has(text) || GLOBALS.has(text) || /^[A-Z][A-Z_]+$/.test(text)) return false
  return !['.', ':'].includes(tokens[at - 1]?.text ?? '') && tokens[at + 1]?.text !== '='
}

/** The names that a text uses and does not declare. @param {readonly Token[]} tokens @returns {string[]} */
const missing = (tokens) => {
  const own = declared(tokens)
  return tokens.filter(({ text }, at) => isName(tokens, at) && !own.has(text)).map(({ text }) => text)
}

/**
 * Which of its parts, between the markers, each word of a script belongs to, and which part that one's block stands in.
 * @param {readonly (readonly Token[])[]} parts
 */
const regions = (parts) => {
  /** @type {{ part: number, depth: number }[]} */
  const open = []
  /** @type {(number | undefined)[]} */
  const outer = []
  let depth = 0
  const owners = parts.flatMap((tokens, part) => {
    outer.push(open.at(-1)?.part)
    open.push({ part, depth })
    return tokens.map(({ kind, text }) => {
      const step = kind === 'word' ? (BLOCKS[text] ?? 0) : 0
      const branch = kind === 'word' && /^else(?:if)?$/.test(text) ? 1 : 0
      depth += step
      while ((open.at(-1)?.depth ?? 0) > depth - branch) open.pop()
      return open.at(-1)?.part ?? 0
    })
  })
  return { owners, outer }
}

/** @param {string} kind the folder of the script @param {string} body @param {Fragments} fragments @returns {Expanded} */
export const withFunctions = (kind, body, fragments) => {
  const odd = /^[^\S\n]*--(?!functions[^\S\n]*$)\w.*/m.exec(body)
  if (odd) throw new Error(`'${odd[0].trim()}' is neither '--functions' nor '-- a comment'`)
  const known = functionsOf(kind, fragments)
  const texts = body.split(MARKER)
  const parts = texts.map((text) => tokenize(text))
  const tokens = parts.flat()
  const { owners, outer } = regions(parts)
  /** Those of each part, in an order in which each stands behind those that it calls. @type {Set<string>[]} */
  const added = parts.map(() => new Set())
  /** @param {string} name @param {number | undefined} part @returns {boolean} */
  const stands = (name, part) => part !== undefined && (added[part]?.has(name) || stands(name, outer[part]))
  /** @param {string} name @param {number} part @param {readonly string[]} callers */
  const add = (name, part, callers) => {
    const fragment = known.get(name)
    const from = callers.at(-1)
    if (fragment === undefined)
      throw new Error(`there is no ${name}${from ? `, which ${known.get(from)}.lua uses` : ''}`)
    if (callers.includes(name)) throw new Error(`${[...callers, name].join(' calls ')}`)
    if (stands(name, part)) return
    for (const next of missing(tokenize(fragments.get(fragment) ?? ''))) add(next, part, [...callers, name])
    added[part]?.add(name)
  }
  const own = declared(tokens)
  /** @type {string[][]} */
  const wanted = parts.map(() => [])
  tokens.forEach(({ text }, at) => {
    if (isName(tokens, at) && !own.has(text)) wanted[owners[at] ?? 0]?.push(text)
  })
  wanted.forEach((names, part) => names.forEach((name) => add(name, part, [])))
  const names = added.map((part) => [...part].map((name) => known.get(name) ?? ''))
  const text = texts.map((part, at) => (names[at] ?? []).map((name) => fragments.get(name)).join('') + part).join('')
  return { text, names: names.flat() }
}
