import type { Command, CommandContext, CommandTable } from '../command.js'
import { type ValueOf, wrongType } from '../database.js'
import { syntaxError } from '../error-texts.js'
import type { Bytes, Reply } from '../reply.js'
import { scanCursor, scanMatches, scanOptions } from '../scan.js'
import { count, signedCount } from './operands.js'
import { chooseDistinct, chooseWithRepeats } from './random-choice.js'
import { chargeItems } from '../command-cost.js'
import { setAlgebraCommands } from './set-algebra.js'
import { listed } from './set-order.js'

type SetValue = ValueOf<'set'>
type Handler = (argv: readonly Bytes[], context: CommandContext) => Reply

const reads = (arity: number, handle: Handler): Command => ({ arity, handle })
const writes = (arity: number, handle: Handler): Command => ({ arity, write: true, handle })
const at = (argv: readonly Bytes[], index: number): Bytes => argv[index] as Bytes

const setAt = ({ database }: CommandContext, key: Bytes): SetValue | undefined => database.typed(key, 'set')

const addTo = ({ database }: CommandContext, key: Bytes, members: readonly Bytes[]): number => {
  let set = database.typed(key, 'set')
  if (set === undefined) database.set(key, (set = { type: 'set', members: new Set() }))
  const before = set.members.size
  for (const member of members) set.members.add(member)
  return set.members.size - before
}

const removeFrom = ({ database }: CommandContext, key: Bytes, members: readonly Bytes[]): number => {
  const set = database.typed(key, 'set')
  if (set === undefined) return 0
  let removed = 0
  for (const member of members) if (set.members.delete(member)) removed++
  if (set.members.size === 0) database.delete(key)
  return removed
}

const smove: Handler = (argv, context) => {
  const [, from = '', to = '', member = ''] = argv
  const target = context.database.get(to)
  const source = context.database.get(from)
  if (source === undefined) return 0
  if (source.type !== 'set' || (target !== undefined && target.type !== 'set')) throw wrongType()
  if (source === target) return source.members.has(member) ? 1 : 0
  if (removeFrom(context, from, [member]) === 0) return 0
  addTo(context, to, [member])
  return 1
}

const spop: Handler = (argv, context) => {
  if (argv.length > 3) throw syntaxError()
  const amount = argv.length === 3 ? count(at(argv, 2)) : undefined
  const set = setAt(context, at(argv, 1))
  if (set === undefined) return amount === undefined ? null : []
  const popped = chooseDistinct(listed(set.members), amount ?? 1, () => context.server.random())
  removeFrom(context, at(argv, 1), popped)
  return amount === undefined ? (popped[0] ?? null) : popped
}

const srandmember: Handler = (argv, context) => {
  if (argv.length > 3) throw syntaxError()
  const amount = argv.length === 3 ? signedCount(at(argv, 2)) : undefined
  const set = setAt(context, at(argv, 1))
  if (set === undefined) return amount === undefined ? null : []
  const random = (): number => context.server.random()
  chargeItems(set.members.size)
  if (amount === undefined) return chooseWithRepeats([...set.members], 1, random)[0] ?? null
  if (amount < 0) return chooseWithRepeats([...set.members], -amount, random)
  return chooseDistinct(listed(set.members), amount, random)
}

const sscan: Handler = (argv, context) => {
  scanCursor(at(argv, 2))
  const set = setAt(context, at(argv, 1))
  if (set === undefined) return ['0', []]
  const { match } = scanOptions(argv, 3)
  return ['0', listed(set.members).filter((member) => scanMatches(match, member))]
}

const has = (set: SetValue | undefined, member: Bytes): number => (set?.members.has(member) === true ? 1 : 0)

export const setCommands: CommandTable = {
  sadd: writes(-3, (argv, context) => addTo(context, at(argv, 1), argv.slice(2))),
  srem: writes(-3, (argv, context) => removeFrom(context, at(argv, 1), argv.slice(2))),
  smembers: reads(2, (argv, context) => listed(setAt(context, at(argv, 1))?.members ?? new Set())),
  sismember: reads(3, (argv, context) => has(setAt(context, at(argv, 1)), at(argv, 2))),
  smismember: reads(-3, (argv, context) => {
    const set = setAt(context, at(argv, 1))
    return argv.slice(2).map((member) => has(set, member))
  }),
  scard: reads(2, (argv, context) => setAt(context, at(argv, 1))?.members.size ?? 0),
  spop: writes(-2, spop),
  srandmember: reads(-2, srandmember),
  smove: writes(4, smove),
  sscan: reads(-3, sscan),
  ...setAlgebraCommands,
}
