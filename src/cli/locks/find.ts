import type { Client } from '../../api/client.js'
import type { ListedHolder, ListedLock } from '../../api/listing.js'
import { asUsage } from '../usage-error.js'

/** The locks with this name: of each kind, one. */
export const locksAt = async (
  client: Client,
  name: string,
  kind: ListedLock['kind'] | undefined,
): Promise<readonly ListedLock[]> => {
  const found: ListedLock[] = []
  for await (const lock of asUsage(() => client.list({ name, kind, waits: true }))) found.push(lock)
  return found
}

/**
 * The lock, and those of its holders that are this owner; undefined: all of them. One hold may be shown as two kinds that look alike on the server, if calls wait for both: then it is of the
 * kind that its client has published.
 */
export const holdIn = (
  found: readonly ListedLock[],
  owner: string | undefined,
): readonly [ListedLock | undefined, readonly ListedHolder[]] => {
  const held = found
    .map((lock) => [lock, lock.holders.filter((one) => owner === undefined || one.owner === owner)] as const)
    .filter(([, holders]) => holders.length > 0)
  return held.find(([, holders]) => holders.some(({ since }) => since !== undefined)) ?? held[0] ?? [undefined, []]
}
