import type { ServerState } from '../../core/protocol/lock-protocol.js'
import { clientOf } from '../../keys.js'
import { WRITE } from '../read-write-lock/read-write-lock.js'
import type { GraphWait } from './wait-graph.js'

/** A spin lock's waiters stand in no line. */
const LINELESS = new Set(['spinLock'])

const isWriter = (owner: string): boolean => owner.endsWith(WRITE)

/** Whether the wait can be true: its client stands in the line, or holds the lock, so that its calls wait inside of it. */
const isPlausible = ({ client, told, own }: GraphWait, { holders, waiting = [] }: ServerState): boolean =>
  own !== undefined ||
  LINELESS.has(told.kind) ||
  [...holders, ...waiting].some(({ owner }) => clientOf(owner) === client)

/** Whether a writer comes before the first reader of this client in the line: then nobody reads before it has written. */
const isBehindWriter = (client: string, waiting: NonNullable<ServerState['waiting']>): boolean => {
  const place = waiting.findIndex(({ owner }) => clientOf(owner) === client && !isWriter(owner))
  return waiting.slice(0, Math.max(0, place)).some(({ owner }) => isWriter(owner))
}

/** The owners whose holds must all end before the wait can: the server's answer, and not what the client says. */
export const blockersOf = (wait: GraphWait, state: ServerState): readonly string[] => {
  if (!isPlausible(wait, state)) return []
  const { holders, waiting = [] } = state
  const reads = wait.told.kind.endsWith('.read')
  const blocking =
    reads && !isBehindWriter(wait.client, waiting) ? holders.filter(({ mode }) => mode === 'write') : holders
  return blocking.map(({ owner }) => owner)
}
