import type { Client } from '../api/client.js'
import type { ListedLock } from '../api/listing.js'

/** How many fenced locks are asked about after one reading, and how often each hold of one. */
const AT_ONCE = 20
const TRIES = 3

/** An election is a fenced lock with a record beside it: on the list it looks like any other. Each hold of a fenced lock is asked about, few at a time. */
export class Leaders {
  readonly #client: Client
  /** By key and token: how often it was asked in vain, or that it is an election. */
  readonly #known = new Map<string, number | 'election'>()
  #asking = false

  constructor(client: Client) {
    this.#client = client
  }

  isElection(lock: ListedLock): boolean {
    return this.#known.get(holdOf(lock)) === 'election'
  }

  /** Never rejects. What it finds counts from the next reading on. `stay`: locks that could not be read; what is known of them is kept. */
  async look(locks: readonly ListedLock[], stay: readonly ListedLock[] = []): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    const there = new Set([...locks, ...stay].filter(isHeld).map(holdOf))
    for (const hold of this.#known.keys()) if (!there.has(hold)) this.#known.delete(hold)
    const unknown = locks.filter((lock) => isHeld(lock) && this.#isUnknown(holdOf(lock)))
    await Promise.all(unknown.slice(0, AT_ONCE).map((lock) => this.#ask(lock)))
    this.#asking = false
  }

  #isUnknown(hold: string): boolean {
    const known = this.#known.get(hold) ?? 0
    return known !== 'election' && known < TRIES
  }

  async #ask(lock: ListedLock): Promise<void> {
    const hold = holdOf(lock)
    const known = this.#known.get(hold) ?? 0
    try {
      const leader = await this.#client.election(lock.name).leader()
      const leads = leader !== undefined && lock.holders.some(({ client }) => client === leader.client)
      this.#known.set(hold, leads ? 'election' : Number(known) + 1)
    } catch {
      // This user may not read it, or the name cannot be used.
      this.#known.set(hold, Number(known) + 1)
    }
  }
}

const isHeld = ({ kind, holders }: ListedLock): boolean => kind === 'fencedLock' && holders.length > 0

const holdOf = ({ key, token }: ListedLock): string => `${token ?? 0} ${key}`
