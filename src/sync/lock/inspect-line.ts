import { NO_LINE, type ServerState, SHOWN } from '../../core/protocol/lock-protocol.js'
import { WAITERS_PART } from '../../script-times-and-limits.js'
import { lockInspect } from '../../lua/scripts.gen.js'
import type { ScriptRunner } from '../../core/protocol/script-runner.js'
import { holdersOf } from './holders.js'

/** The hash of a plain lock, the list of the waiters, and their deadlines. */
export type LineKeys = readonly [lock: string, queue: string, deadlines: string]

/** Returns the newest token, too, if the lock has a counter. `briefly`: without the waiters. */
export const inspectLine = async (
  runner: ScriptRunner,
  keys: readonly [...LineKeys, ...counter: string[]],
  briefly = false,
): Promise<[state: ServerState, token: string | null]> => {
  const ask = (first: number) => runner.run(lockInspect, keys, [first])
  const [ttl, fields, queue, token] = await ask(briefly ? NO_LINE : 0)
  const line = briefly ? {} : await waitersInParts(queue, async (first) => (await ask(first))[2])
  return [{ ttl, holders: holdersOf(fields), ...line }, token]
}

/**
 * Reads the waiters from the first part of the line, owners with their deadlines, and further parts from `next` if the line is
 * longer.
 */
export const waitersInParts = async (
  queue: readonly string[],
  next: (first: number) => Promise<readonly string[]>,
): Promise<Pick<ServerState, 'waiting' | 'more'>> => {
  const waiting = new Map<string, number>()
  let part = queue
  let places = 0
  while (places < SHOWN) {
    for (let i = 0; i + 1 < part.length; i += 2) waiting.set(part[i] as string, Math.floor(Number(part[i + 1])))
    if (part.length < 2 * WAITERS_PART) part = []
    if (part.length === 0) break
    places += WAITERS_PART
    part = await next(places)
  }
  // A holder on trial is still in the line; the script returns it without a name.
  waiting.delete('')
  const shown = [...waiting].map(([owner, deadline]) => ({ owner, deadline }))
  return { waiting: shown, ...(part.length > 0 && { more: true }) }
}
