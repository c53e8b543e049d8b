import type { ServerState } from '../../core/protocol/protocol.js'
import { fairDeadlines, fairQueue } from '../../keys.js'
import { WAITERS_PART } from '../../constants.js'
import { fairLockInspect } from '../../lua/scripts.gen.js'
import type { Runner } from '../../core/protocol/runner.js'
import { holdersOf } from '../lock/holders.js'

/** The hash of a plain lock, a list of those who wait, and their deadlines. */
export type LineKeys = readonly [lock: string, queue: string, deadlines: string]

export const fairKeys = (key: string): LineKeys => [key, fairQueue(key), fairDeadlines(key)]

/** With the newest token, where the lock has a counter. */
export const inspectLine = async (
  runner: Runner,
  keys: readonly [...LineKeys, ...counter: string[]],
): Promise<[state: ServerState, token: string | null]> => {
  const ask = (first: number) => runner.run(fairLockInspect, keys, [first])
  const [ttl, fields, queue, token] = await ask(0)
  const waiting = await waitersInParts(queue, async (first) => (await ask(first))[2])
  return [{ ttl, holders: holdersOf(fields), waiting }, token]
}

/** From owners, each with its deadline, those of the first part of the line, and `more` of it, where it is longer. */
export const waitersInParts = async (
  queue: readonly string[],
  more: (first: number) => Promise<readonly string[]>,
): Promise<NonNullable<ServerState['waiting']>> => {
  const waiting = new Map<string, number>()
  let part = queue
  for (let first = WAITERS_PART; ; first += WAITERS_PART) {
    for (let i = 0; i + 1 < part.length; i += 2) waiting.set(part[i] as string, Math.floor(Number(part[i + 1])))
    if (part.length < 2 * WAITERS_PART) break
    part = await more(first)
  }
  // Who holds it already stands there without a name.
  waiting.delete('')
  return [...waiting].map(([owner, deadline]) => ({ owner, deadline }))
}
