import type { Client } from '../api/client.js'
import { findProbe, type Node, type Probe } from '../probe.js'

type Ask<T> = (probe: Probe, node: Node) => Promise<T>

/** The one master that answered last: the clocks and the versions of two servers differ. */
const answered = new WeakMap<Probe, readonly Node[]>()

const firstOf = async <T>(probe: Probe, nodes: readonly Node[], ask: Ask<T>): Promise<T> => {
  const answers = nodes.map(async (node) => [node, await ask(probe, node)] as const)
  const [node, answer] = await Promise.any(answers).catch(() => answers[0] as (typeof answers)[number])
  answered.set(probe, [node])
  return answer
}

/**
 * The answer of one master: the one that answered before, as long as it is a master and answers; otherwise the first that does, because one of a cluster's masters may be away.
 * `otherwise`: for a client that cannot be probed.
 */
export const anyMaster = async <T>(client: Client, ask: Ask<T>, otherwise: () => Promise<T>): Promise<T> => {
  const probe = findProbe(client)
  if (probe === undefined) return otherwise()
  const last = probe.masters.filter((node) => answered.get(probe)?.includes(node) === true)
  const others = probe.masters.filter((node) => !last.includes(node))
  if (last.length === 0) return firstOf(probe, others, ask)
  const answer = firstOf(probe, last, ask)
  return others.length === 0 ? answer : answer.catch(() => firstOf(probe, others, ask))
}
