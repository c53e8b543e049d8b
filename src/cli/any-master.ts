import type { Client } from '../api/client.js'
import { systemClock } from '../base/clock.js'
import { findProbe, type Node, type Probe } from '../probe.js'

type Ask<T> = (probe: Probe, node: Node) => Promise<T>

/** ms. If the master that answered last is silent for this long, the others are asked as well: a command time-out is much longer. */
const PATIENCE = 500

/** The one master that answered last: the clocks and the versions of two servers differ. */
const answered = new WeakMap<Probe, readonly Node[]>()

/** Resolves when the answer is an error, or has not come for a while. */
const inVain = (answer: Promise<unknown>): Promise<void> =>
  new Promise((resolve) => {
    const timer = systemClock.setTimer(resolve, PATIENCE)
    const cancel = (): void => timer.cancel()
    answer.then(cancel, () => {
      cancel()
      resolve()
    })
  })

/** The first that is no error; otherwise the first error. */
const firstOf = <T>(answers: readonly Promise<T>[]): Promise<T> =>
  Promise.any(answers).catch(() => answers[0] as Promise<T>)

/** The others are asked only if the answer does not come soon. */
const eitherOf = <T>(answer: Promise<T>, askOthers: () => Promise<T>): Promise<T> =>
  firstOf([inVain(answer).then(askOthers), answer])

/**
 * The answer of one master: the one that answered before, as long as it is a master and answers soon; otherwise the first that does, because one of a cluster's masters may be away.
 * `otherwise`: for a client that cannot be probed.
 */
export const anyMaster = async <T>(client: Client, ask: Ask<T>, otherwise: () => Promise<T>): Promise<T> => {
  const probe = findProbe(client)
  if (probe === undefined) return otherwise()
  const asked = async (node: Node): Promise<readonly [Node, T]> => [node, await ask(probe, node)]
  // Of a single server, the node is undefined.
  const answeredLast = (node: Node): boolean => answered.get(probe)?.includes(node) === true
  const [before] = probe.masters.filter(answeredLast).map(asked)
  const others = probe.masters.filter((node) => !answeredLast(node))
  const askOthers = (): Promise<readonly [Node, T]> => firstOf(others.map(asked))
  const [node, answer] = await (before === undefined
    ? askOthers()
    : others.length === 0
      ? before
      : eitherOf(before, askOthers))
  answered.set(probe, [node])
  return answer
}
