import type { Proven } from './cycle-proof.js'
import type { Cycle, GraphWait } from './wait-graph.js'

const isYounger = ({ id, told }: GraphWait, other: GraphWait): boolean =>
  told.since === other.told.since ? id > other.id : told.since > other.told.since

/** The wait that ends: the youngest of those that may. All clients choose alike, because they compare what each has published. */
export const victimOf = (cycle: Cycle): GraphWait | undefined => {
  let victim: GraphWait | undefined
  for (const { wait } of cycle) if (wait.told.breaks && (victim === undefined || isYounger(wait, victim))) victim = wait
  return victim
}

/** In the order in which cycles are ended: the oldest victim first. Any other cycle through it has a younger victim, which then need not end. */
export const byVictim = ({ cycle: one }: Proven, { cycle: other }: Proven): number => {
  const [first, second] = [victimOf(one), victimOf(other)]
  if (first === undefined || second === undefined) return Number(first !== undefined) - Number(second !== undefined)
  return first === second ? 0 : isYounger(first, second) ? 1 : -1
}
