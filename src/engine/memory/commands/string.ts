import type { CommandContext, CommandTable } from '../command.js'
import type { Database } from '../database.js'
import { syntaxError, tooLong, wrongArity } from '../error-texts.js'
import type { Int } from '../numbers.js'
import { roughInteger } from '../numbers.js'
import { type Bytes, LONGEST, type Reply, ReplyError, Status } from '../reply.js'
import { charge, chargeText } from '../command-cost.js'
import { EXPIRY_UNITS, type ExpiryUnit, hasPassed, optionMoment } from './expiry-units.js'

export const OK = new Status('OK')

export const textOf = (database: Database, key: Bytes): Bytes | undefined => database.typed(key, 'string')?.text

/** Like SET: removes any old value, and its expiry. */
const store = (database: Database, key: Bytes, text: Bytes): void => database.set(key, { type: 'string', text }, false)

/** Changes the text of a key, or creates it; the expiry stays. */
export const putText = (database: Database, key: Bytes, text: Bytes): void => {
  const value = database.typed(key, 'string')
  if (value === undefined) database.set(key, { type: 'string', text })
  else value.text = text
}

/** A text is written again, and may become longer. */
export const chargeGrowth = (before: Bytes, bytes: number): void => {
  chargeText(before.length >> 4)
  const more = Math.max(0, bytes - before.length)
  if (more > LONG) charge(more >> 5, more)
}

/** Shorter texts do not count as memory. */
const LONG = 1024

interface SetOptions {
  readonly only: 'NX' | 'XX' | undefined
  readonly get: boolean
  /** KEEPTTL or PERSIST. */
  readonly expiry: 'KEEPTTL' | 'PERSIST' | undefined
  readonly unit: ExpiryUnit | undefined
  readonly amount: Bytes
}

/** The options of SET, or those of GETEX, which only concern the expiry. */
const readOptions = (argv: readonly Bytes[], first: number, isSet: boolean): SetOptions => {
  let only: SetOptions['only']
  let get = false
  let expiry: SetOptions['expiry']
  let unitName: string | undefined
  let amount = ''
  for (let i = first; i < argv.length; i++) {
    const option = (argv[i] as Bytes).toUpperCase()
    if (isSet && (option === 'NX' || option === 'XX') && (only ?? option) === option) only = option
    else if (isSet && option === 'GET') get = true
    else if (option === (isSet ? 'KEEPTTL' : 'PERSIST') && unitName === undefined)
      expiry = isSet ? 'KEEPTTL' : 'PERSIST'
    else if (option in EXPIRY_UNITS && (unitName ?? option) === option && expiry === undefined && i + 1 < argv.length) {
      unitName = option
      amount = argv[(i += 1)] as Bytes
    } else throw syntaxError()
  }
  return { only, get, expiry, unit: unitName === undefined ? undefined : EXPIRY_UNITS[unitName], amount }
}

const set = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const text = argv[2] as Bytes
  if (argv.length === 3) {
    store(database, key, text)
    return OK
  }
  const { only, get, expiry, unit, amount } = readOptions(argv, 3, true)
  const at = unit === undefined ? undefined : optionMoment(database, amount, unit, 'set')
  const before = get ? (textOf(database, key) ?? null) : null
  if (only !== undefined && (database.get(key) !== undefined) === (only === 'NX')) return before
  database.set(key, { type: 'string', text }, expiry === 'KEEPTTL')
  if (at !== undefined) database.setExpiry(key, at)
  return get ? before : OK
}

const setWithExpiry =
  (name: string, unit: ExpiryUnit) =>
  (argv: readonly Bytes[], { database }: CommandContext): Reply => {
    const key = argv[1] as Bytes
    const at = optionMoment(database, argv[2] as Bytes, unit, name)
    store(database, key, argv[3] as Bytes)
    database.setExpiry(key, at)
    return OK
  }

const getEx = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const { expiry, unit, amount } = readOptions(argv, 2, false)
  const text = textOf(database, key)
  if (text === undefined) return null
  const at: Int | undefined = unit === undefined ? undefined : optionMoment(database, amount, unit, 'getex')
  if (at !== undefined && hasPassed(database, at)) database.delete(key)
  else if (at !== undefined || expiry === 'PERSIST') database.setExpiry(key, at)
  return text
}

const getSet = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const before = textOf(database, key) ?? null
  store(database, key, argv[2] as Bytes)
  return before
}

const getDel = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const before = textOf(database, key)
  if (before === undefined) return null
  database.delete(key)
  return before
}

const append = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const before = textOf(database, key) ?? ''
  const piece = argv[2] as Bytes
  if (before.length + piece.length > LONGEST) throw tooLong()
  chargeGrowth(before, before.length + piece.length)
  const text = before + piece
  putText(database, key, text)
  return text.length
}

const getRange = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  let start = roughInteger(argv[2] as Bytes)
  let end = roughInteger(argv[3] as Bytes)
  const text = textOf(database, argv[1] as Bytes) ?? ''
  if (start < 0 && end < 0 && start > end) return ''
  if (start < 0) start = Math.max(0, text.length + start)
  if (end < 0) end = Math.max(0, text.length + end)
  return text.slice(start, end + 1)
}

const setRange = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  const offset = roughInteger(argv[2] as Bytes)
  const piece = argv[3] as Bytes
  if (offset < 0) throw new ReplyError('ERR offset is out of range')
  const text = textOf(database, key) ?? ''
  if (piece === '') return text.length
  if (offset + piece.length > LONGEST) throw tooLong()
  chargeGrowth(text, offset + piece.length)
  putText(database, key, text.slice(0, offset).padEnd(offset, '\0') + piece + text.slice(offset + piece.length))
  return Math.max(text.length, offset + piece.length)
}

const mget = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const texts: Reply[] = []
  for (let i = 1; i < argv.length; i++) {
    const value = database.get(argv[i] as Bytes)
    texts.push(value?.type === 'string' ? value.text : null)
  }
  return texts
}

const mset =
  (name: string, onlyNew: boolean) =>
  (argv: readonly Bytes[], { database }: CommandContext): Reply => {
    if (argv.length % 2 === 0) throw wrongArity(name)
    if (onlyNew) {
      for (let i = 1; i < argv.length; i += 2) if (database.get(argv[i] as Bytes) !== undefined) return 0
    }
    for (let i = 1; i < argv.length; i += 2) store(database, argv[i] as Bytes, argv[i + 1] as Bytes)
    return onlyNew ? 1 : OK
  }

export const stringCommands: CommandTable = {
  get: { arity: 2, handle: (argv, { database }) => textOf(database, argv[1] as Bytes) ?? null },
  set: { arity: -3, write: true, handle: set },
  setnx: {
    arity: 3,
    write: true,
    handle(argv, { database }) {
      if (database.get(argv[1] as Bytes) !== undefined) return 0
      store(database, argv[1] as Bytes, argv[2] as Bytes)
      return 1
    },
  },
  setex: { arity: 4, write: true, handle: setWithExpiry('setex', { factor: 1000, relative: true }) },
  psetex: { arity: 4, write: true, handle: setWithExpiry('psetex', { factor: 1, relative: true }) },
  getset: { arity: 3, write: true, handle: getSet },
  getdel: { arity: 2, write: true, handle: getDel },
  getex: { arity: -2, write: true, handle: getEx },
  append: { arity: 3, write: true, handle: append },
  strlen: { arity: 2, handle: (argv, { database }) => (textOf(database, argv[1] as Bytes) ?? '').length },
  getrange: { arity: 4, handle: getRange },
  substr: { arity: 4, handle: getRange },
  setrange: { arity: 4, write: true, handle: setRange },
  mget: { arity: -2, handle: mget },
  mset: { arity: -3, write: true, handle: mset('mset', false) },
  msetnx: { arity: -3, write: true, handle: mset('msetnx', true) },
}
