import type { CommandContext, CommandTable } from '../command.js'
import { untilNul } from '../error-texts.js'
import { add, type Int, integer } from '../numbers.js'
import { type Bytes, type Reply, ReplyError } from '../reply.js'
import { EXPIRY_UNITS, type ExpiryUnit, hasPassed, moment } from './expiry-units.js'

interface Conditions {
  readonly nx: boolean
  readonly xx: boolean
  readonly gt: boolean
  readonly lt: boolean
}

const readConditions = (argv: readonly Bytes[]): Conditions => {
  const found = { nx: false, xx: false, gt: false, lt: false }
  for (let i = 3; i < argv.length; i++) {
    const option = (argv[i] as Bytes).toLowerCase()
    if (!Object.hasOwn(found, option)) throw new ReplyError(`ERR Unsupported option ${untilNul(argv[i] as Bytes)}`)
    found[option as 'nx'] = true
  }
  const { nx, xx, gt, lt } = found
  if (nx && (xx || gt || lt)) {
    throw new ReplyError('ERR NX and XX, GT or LT options at the same time are not compatible')
  }
  if (gt && lt) throw new ReplyError('ERR GT and LT options at the same time are not compatible')
  return found
}

/** A key without an expiry counts as one that expires infinitely late. */
const allowed = ({ nx, xx, gt, lt }: Conditions, at: Int, current: Int | undefined): boolean => {
  if (nx && current !== undefined) return false
  if (xx && current === undefined) return false
  if (gt && (current === undefined || at <= current)) return false
  return !(lt && current !== undefined && at >= current)
}

const expire =
  (name: string, unit: ExpiryUnit) =>
  (argv: readonly Bytes[], { database }: CommandContext): Reply => {
    const key = argv[1] as Bytes
    const conditions = argv.length > 3 ? readConditions(argv) : undefined
    const at = moment(database, integer(argv[2] as Bytes), unit, name)
    if (database.get(key) === undefined) return 0
    if (conditions !== undefined && !allowed(conditions, at, database.expiry(key))) return 0
    if (hasPassed(database, at)) database.delete(key)
    else database.setExpiry(key, at)
    return 1
  }

/** Answers -2 if there is no key, and -1 if it has no expiry. */
const expiryOf =
  (read: (at: Int, now: number) => Int) =>
  (argv: readonly Bytes[], { database }: CommandContext): Reply => {
    const key = argv[1] as Bytes
    if (database.get(key) === undefined) return -2
    const at = database.expiry(key)
    return at === undefined ? -1 : Number(read(at, database.now()))
  }

const left = (at: Int, now: number): Int => add(at, -now) ?? 0

const inSeconds = (ms: Int): Int => (typeof ms === 'number' ? Math.floor((ms + 500) / 1000) : (ms + 500n) / 1000n)

const persist = (argv: readonly Bytes[], { database }: CommandContext): Reply => {
  const key = argv[1] as Bytes
  if (database.get(key) === undefined || database.expiry(key) === undefined) return 0
  database.setExpiry(key, undefined)
  return 1
}

const { EX, PX, EXAT, PXAT } = EXPIRY_UNITS as Readonly<Record<'EX' | 'PX' | 'EXAT' | 'PXAT', ExpiryUnit>>

export const expireCommands: CommandTable = {
  expire: { arity: -3, write: true, handle: expire('expire', EX) },
  pexpire: { arity: -3, write: true, handle: expire('pexpire', PX) },
  expireat: { arity: -3, write: true, handle: expire('expireat', EXAT) },
  pexpireat: { arity: -3, write: true, handle: expire('pexpireat', PXAT) },
  ttl: { arity: 2, handle: expiryOf((at, now) => inSeconds(left(at, now))) },
  pttl: { arity: 2, handle: expiryOf(left) },
  expiretime: { arity: 2, handle: expiryOf(inSeconds) },
  pexpiretime: { arity: 2, handle: expiryOf((at) => at) },
  persist: { arity: 2, write: true, handle: persist },
}
