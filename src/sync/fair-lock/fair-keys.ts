import type { Runner, ServerState } from '../../core/protocol.js'
import { fairDeadlines, fairQueue } from '../../keys.js'
import { fairLockInspect } from '../../lua/scripts.gen.js'
import { holdersOf } from '../lock/lock.js'

/** The hash of a plain lock, a list of those who wait, and their deadlines. */
export const fairKeys = (key: string): [lock: string, queue: string, deadlines: string] => [
  key,
  fairQueue(key),
  fairDeadlines(key),
]

export const inspectFair = async (runner: Runner, key: string): Promise<ServerState> => {
  const [ttl, fields, queue] = await runner.run(fairLockInspect, fairKeys(key), [])
  return { ttl, holders: holdersOf(fields), waiting: waitersOf(queue) }
}

/** From owners and their deadlines in turn. */
export const waitersOf = (queue: readonly string[]): NonNullable<ServerState['waiting']> => {
  const waiting = []
  for (let i = 0; i + 1 < queue.length; i += 2) {
    waiting.push({ owner: queue[i] as string, deadline: Math.floor(Number(queue[i + 1])) })
  }
  return waiting
}
