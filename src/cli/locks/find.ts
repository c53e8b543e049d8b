import type { Client } from '../../api/client.js'
import type { ListedLock } from '../../api/listing.js'
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
