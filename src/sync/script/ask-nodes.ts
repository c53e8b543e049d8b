import type { Runtime } from '../../core/client/runtime.js'
import { allOf } from '../../core/server/all-nodes.js'
import type { Nodes } from '../../engine/driver.js'
import { EngineError } from '../../errors.js'
import { type Shape, just } from '../../lua/reply-shape.js'
import type { Arg } from '../../lua/values.js'

export const askNodes = <R>(
  runtime: Runtime,
  words: readonly Arg[],
  fits: Shape<R>,
  nodes: Nodes,
): Promise<PromiseSettledResult<R>[]> => runtime.untilClosed(() => runtime.link.everywhere(words, fits, nodes))

/** The answers of all nodes that accept writes. */
export const onMasters = async <R>(runtime: Runtime, words: readonly Arg[], fits: Shape<R>): Promise<R[]> =>
  allOf(await askNodes(runtime, words, fits, 'masters'))

/** If something was ended on one node, the answers of the others do not matter. Otherwise it throws why nothing could be ended. */
export const endRunning = async (runtime: Runtime, family: 'SCRIPT' | 'FUNCTION'): Promise<void> => {
  const outcomes = await askNodes(runtime, [family, 'KILL'], just('OK'), 'apart')
  if (outcomes.some(({ status }) => status === 'fulfilled')) return
  const errors: unknown[] = outcomes.map((outcome) => (outcome as PromiseRejectedResult).reason as unknown)
  throw errors.find((error) => !(error instanceof EngineError && error.code === 'NOTBUSY')) ?? errors[0]
}
