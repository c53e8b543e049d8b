import { globMatches as matches } from '../../base/glob.js'
import type { Bytes } from './reply.js'
import { charge } from './command-cost.js'

/** So many comparisons are the cost of any command. */
const FEW = 4096

/** The same, at the cost that it has for a server. */
export const globMatches = (pattern: Bytes, text: Bytes): boolean => {
  // A pattern with a star may be tried at each place of the text.
  const most = pattern.length * text.length
  if (most > FEW) charge(Math.ceil(most / 32))
  return matches(pattern, text)
}
