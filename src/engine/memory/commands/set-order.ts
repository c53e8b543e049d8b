import { readInteger } from '../numbers.js'
import type { Bytes } from '../reply.js'

/** Beyond this many the server gives up the compact form of its sets of integers. */
const COMPACT = 512

/** The members as the server lists them: few integers in their order, others in no order at all. */
export const listed = (members: ReadonlySet<Bytes>): Bytes[] => {
  const list = [...members]
  if (list.length > COMPACT || list.some((member) => readInteger(member) === undefined)) return list
  return list.sort((a, b) => ((readInteger(a) as number) < (readInteger(b) as number) ? -1 : 1))
}
