import type { ServerState } from '../../core/protocol/lock-protocol.js'
import { clientOf } from '../../keys.js'
import { TRIAL } from '../../script-times-and-limits.js'
import { WRITE } from '../read-write-lock/read-write-lock.js'
import type { GraphWait } from './wait-graph.js'

type Line = NonNullable<ServerState['waiting']>

const isWriter = (owner: string): boolean => owner.endsWith(WRITE)

/** A spin lock's waiters stand in no line, so there must be none: a stranger may have written any kind. */
const isSpun = (kind: string, waiting: Line): boolean => kind === 'spinLock' && waiting.length === 0

/** Whether the wait can be true: its client stands in the line, or holds the lock, so that its calls wait inside of it. */
const isPlausible = ({ client, told, own }: GraphWait, { holders, waiting = [] }: ServerState): boolean =>
  own !== undefined ||
  isSpun(told.kind, waiting) ||
  [...holders, ...waiting].some(({ owner }) => clientOf(owner) === client)

/** Whether a living writer comes before the first reader of this client in the line: then nobody reads before it has written. Each question moves a deadline on. */
const isBehindWriter = (client: string, waiting: Line): boolean => {
  const place = waiting.findIndex(({ owner }) => clientOf(owner) === client && !isWriter(owner))
  const asked = (waiting[place]?.deadline ?? 0) - TRIAL
  return waiting.slice(0, Math.max(0, place)).some(({ owner, deadline }) => isWriter(owner) && deadline >= asked)
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
