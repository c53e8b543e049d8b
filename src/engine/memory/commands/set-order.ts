import { readInteger } from '../numbers.js'
import { chargeItems } from '../command-cost.js'
import type { Bytes } from '../reply.js'

/** With more members than this, the server gives up the compact form for a set of integers. */
const COMPACT = 512

/** The members in the server's order: a few integers are sorted, all others have no order. */
export const listed = (members: ReadonlySet<Bytes>): Bytes[] => {
  chargeItems(members.size)
  const list = [...members]
  if (list.length > COMPACT || list.some((member) => readInteger(member) === undefined)) return list
  return list.sort((a, b) => ((readInteger(a) as number) < (readInteger(b) as number) ? -1 : 1))
}
