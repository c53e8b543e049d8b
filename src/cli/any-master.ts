import type { Client } from '../api/client.js'
import { findProbe, type Node, type Probe } from '../probe.js'

/** The first answer of a master: one of a cluster's masters may be away. `otherwise`: for a client that cannot be probed. */
export const anyMaster = <T>(
  client: Client,
  ask: (probe: Probe, node: Node) => Promise<T>,
  otherwise: () => Promise<T>,
): Promise<T> => {
  const probe = findProbe(client)
  if (probe === undefined) return otherwise()
  const answers = probe.masters.map((node) => ask(probe, node))
  return Promise.any(answers).catch(() => answers[0] as Promise<T>)
}
