import { syntaxError } from '../error-texts.js'
import { MAX_INT } from '../numbers.js'
import { type Bytes, type Reply, ReplyError } from '../reply.js'
import { chooseDistinct, chooseWithRepeats } from './random-choice.js'
import { chargeItems } from '../command-cost.js'
import { signedCount } from './operands.js'

/** HRANDFIELD: with a negative count, the same field may come more than once. */
export const randomFields = (
  argv: readonly Bytes[],
  find: () => ReadonlyMap<Bytes, Bytes> | undefined,
  random: () => number,
): Reply => {
  if (argv.length === 2) {
    const fields = find()
    chargeItems(fields?.size ?? 0)
    return fields === undefined ? null : (chooseWithRepeats([...fields.keys()], 1, random)[0] as Bytes)
  }
  const count = signedCount(argv[2] as Bytes)
  const withValues = argv.length > 3
  if (argv.length > 4 || (withValues && argv[3]?.toUpperCase() !== 'WITHVALUES')) throw syntaxError()
  if (withValues && Math.abs(count) > Number(MAX_INT / 2n)) throw new ReplyError('ERR value is out of range')
  const fields = find()
  chargeItems((fields?.size ?? 0) * 2)
  const all = [...(fields ?? [])]
  // The reply has two places for each.
  if (withValues) chargeItems(Math.min(Math.abs(count), count < 0 ? Infinity : all.length) * 32)
  const chosen = count < 0 ? chooseWithRepeats(all, -count, random) : chooseDistinct(all, count, random)
  if (!withValues) return chosen.map(([field]) => field)
  const reply: Bytes[] = []
  for (const [field, text] of chosen) reply.push(field, text)
  return reply
}
