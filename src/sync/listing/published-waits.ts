import type { ListedHolder, ListedLock, ListedWait } from '../../api/listing.js'
import type { Runtime } from '../../core/client/runtime.js'
import { NOTHING, type Published, readPublished, type ToldWait } from '../../core/listing/nested-wait-format.js'
import { isClientId, numberOf, waitsKey } from '../../keys.js'
import { listingEntries } from '../../lua/scripts.gen.js'
import { entriesIn } from './index-entries.js'
import { lockKindOf } from './kinds-in-one-row.js'
import { type ListHome, nameIn } from './listed-lock.js'

/** The waits that a client publishes. If they cannot be read, its calls count as such that can go on. */
export const publishedBy = async (runtime: Runtime, client: string): Promise<Published> => {
  try {
    const part = await runtime.link.run(listingEntries, [runtime.keyOf(waitsKey(client))], ['0'])
    // What does not fit into one reply is not from one moment, and not from a client.
    return part[0] === '0' ? readPublished(entriesIn(part)) : NOTHING
  } catch {
    return NOTHING
  }
}

const modeOf = (kind: string): 'read' | 'write' | undefined =>
  kind.endsWith('.read') ? 'read' : kind.endsWith('.write') ? 'write' : undefined

/** Undefined: of no kind that can be listed. */
const listedWait = (home: ListHome, { kind, key, name, keys, since }: ToldWait): ListedWait | undefined => {
  const [shown, mode] = [lockKindOf(kind), modeOf(kind)]
  return (
    shown && {
      name: nameIn(home, key, [name]),
      key,
      kind: shown,
      ...(mode !== undefined && { mode }),
      ...(keys.length > 0 && { keys }),
      since,
    }
  )
}

/** What the holders of locks wait for. Each client is asked once. */
export class HoldersWaits {
  readonly #home: ListHome
  readonly #reads = new Map<string, Promise<void>>()
  readonly #waits = new Map<string, readonly ToldWait[]>()

  constructor(home: ListHome) {
    this.#home = home
  }

  async addedTo(locks: readonly ListedLock[]): Promise<readonly ListedLock[]> {
    const clients = new Set(locks.flatMap(({ holders }) => holders.map(({ client }) => client)))
    await Promise.all(Array.from(clients, (client) => this.#read(client)))
    return locks.map((lock) =>
      lock.holders.some((holder) => this.#waits.has(holder.client))
        ? { ...lock, holders: lock.holders.map((holder) => this.#added(lock.key, holder)) }
        : lock,
    )
  }

  #added(key: string, holder: ListedHolder): ListedHolder {
    const number = numberOf(holder.owner)
    // Redisson's owners have other numbers, and publish nothing.
    if (!(number > 0)) return holder
    const waitsFor = (this.#waits.get(holder.client) ?? [])
      .filter(({ holds }) => holds.some(([held, by]) => held === key && by === number))
      .flatMap((wait) => listedWait(this.#home, wait) ?? [])
    return waitsFor.length === 0 ? holder : { ...holder, waitsFor }
  }

  #read(client: string): Promise<void> {
    let read = this.#reads.get(client)
    if (read === undefined) this.#reads.set(client, (read = this.#readOnce(client)))
    return read
  }

  async #readOnce(client: string): Promise<void> {
    if (!isClientId(client)) return
    const { waits } = await publishedBy(this.#home.runtime, client)
    if (waits.length > 0) this.#waits.set(client, waits)
  }
}
