import type { ListedHolder, ListedLock, ListedWait } from '../../api/listing.js'
import type { Runtime } from '../../core/client/runtime.js'
import { NOTHING, type Published, readPublished, type ToldWait } from '../../core/listing/nested-wait-format.js'
import { isClientId, numberOf, waitsKey } from '../../keys.js'
import { listingEntries } from '../../lua/scripts.gen.js'
import { listable } from './kinds-in-one-row.js'
import { type ListHome, nameIn } from './listed-lock.js'

/** The waits that a client publishes. If they cannot be read, its calls count as such that can go on. */
export const publishedBy = async (runtime: Runtime, client: string): Promise<Published> => {
  try {
    const [next, entries] = await runtime.link.run(listingEntries, [runtime.keyOf(waitsKey(client))], ['0'])
    // What does not fit into one reply is not from one moment, and not from a client.
    return next === '0' ? readPublished(entries) : NOTHING
  } catch {
    return NOTHING
  }
}

const modeOf = (kind: string): 'read' | 'write' | undefined =>
  kind.endsWith('.read') ? 'read' : kind.endsWith('.write') ? 'write' : undefined

/** Undefined: of no kind that can be listed. */
const listedWait = (home: ListHome, { kind, key, name, keys, since }: ToldWait): ListedWait | undefined => {
  const [shown, mode] = [listable(kind), modeOf(kind)]
  return (
    shown && {
      name: nameIn(home, key, [name]),
      key,
      kind: shown.kind,
      ...(mode !== undefined && { mode }),
      ...(keys.length > 0 && { keys }),
      since,
    }
  )
}

/** What the holders of locks wait for. Each client is asked once. */
export class HoldersWaits {
  readonly #home: ListHome
  readonly #published = new Map<string, Promise<Published>>()

  constructor(home: ListHome) {
    this.#home = home
  }

  async addedTo(lock: ListedLock): Promise<ListedLock> {
    return { ...lock, holders: await Promise.all(lock.holders.map((holder) => this.#added(lock.key, holder))) }
  }

  async #added(key: string, holder: ListedHolder): Promise<ListedHolder> {
    const number = numberOf(holder.owner)
    // Redisson's owners have other numbers, and publish nothing.
    if (!isClientId(holder.client) || !(number > 0)) return holder
    const { waits } = await this.#of(holder.client)
    const waitsFor = waits
      .filter(({ holds }) => holds.some(([held, by]) => held === key && by === number))
      .flatMap((wait) => listedWait(this.#home, wait) ?? [])
    return waitsFor.length === 0 ? holder : { ...holder, waitsFor }
  }

  #of(client: string): Promise<Published> {
    let published = this.#published.get(client)
    if (published === undefined) this.#published.set(client, (published = publishedBy(this.#home.runtime, client)))
    return published
  }
}
