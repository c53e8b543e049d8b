import type { LockEvent } from '../../api/watching.js'
import type { Runtime } from '../../core/client/runtime.js'
import { FORCED_BY, FORCED_STAYS } from '../../core/listing/force-note.js'
import { forcedKey, indexKey, isClientId, numberOf, registerKey } from '../../keys.js'
import { listingSaid } from '../../lua/scripts.gen.js'
import { isTransient } from '../../core/server/error-kinds.js'
import { anything } from '../../lua/reply-shape.js'
import { readEntry } from './published-claims.js'
import type { Person } from './people.js'

/** ms. By then a client has published that it has released something. */
const PUBLISHED = 1500

/** A hold that has ended between two looks. */
export interface Ended {
  readonly key: string
  readonly person: Person
  /** Where its client publishes that it holds the lock, if it does. */
  readonly fields: readonly string[]
  /** When the server was last asked before it ended, and then, on the monotonic clock. */
  readonly before: number
  readonly noticed: number
  /** Its client has published that it holds the lock. */
  published: boolean
}

export type Cause = Pick<LockEvent, 'certain' | 'by'> & { readonly type: 'released' | 'forced' | 'deleted' }

const RELEASED: Cause = { type: 'released', certain: true }
const PERHAPS_RELEASED: Cause = { type: 'released', certain: false }
const DELETED: Cause = { type: 'deleted', certain: true }

/** Finds out why holds have ended. What clients say is only used to tell that, and never whether they have. */
export class Causes {
  readonly #runtime: Runtime

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Undefined: it is not known yet. */
  async of(ended: Ended): Promise<Cause | undefined> {
    try {
      return (await this.#forced(ended)) ?? (await this.#told(ended))
    } catch (error) {
      if (isTransient(error)) throw error
      return PERHAPS_RELEASED
    }
  }

  async #forced({ key, before }: Ended): Promise<Cause | undefined> {
    const note = this.#keyOf(forcedKey(key))
    if (note === undefined) return undefined
    const [left, [by = '']] = await this.#runtime.link.run(listingSaid, [note], [FORCED_BY])
    const age = FORCED_STAYS - left
    const fits = left > 0 && age >= 0 && age <= this.#now - before
    return fits && isClientId(by) ? { type: 'forced', certain: true, by } : undefined
  }

  /** What its client says. */
  async #told(ended: Ended): Promise<Cause | undefined> {
    const { person, fields, noticed } = ended
    const index = isClientId(person.client) ? this.#keyOf(indexKey(person.client)) : undefined
    if (index === undefined) return PERHAPS_RELEASED
    const [left, values] = await this.#runtime.link.run(listingSaid, [index], fields)
    const number = numberOf(person.owner)
    const said = values.map((value) => readEntry(value))
    if (said.some((entry) => entry?.lost === number)) return DELETED
    if (said.some((entry) => entry?.holds?.[0] === number)) {
      ended.published = true
      return this.#now - noticed >= PUBLISHED ? DELETED : undefined
    }
    if (!ended.published) return PERHAPS_RELEASED
    // It publishes nothing any more: because it holds nothing, or because the server has lost that as well.
    return left !== -2 || (await this.#isThere(person.client)) ? RELEASED : PERHAPS_RELEASED
  }

  async #isThere(client: string): Promise<boolean> {
    const register = this.#runtime.keyOf(registerKey())
    // A number, as text or not: it depends on the client library.
    return (await this.#runtime.link.command(['ZSCORE', register, client], anything, { route: register })) !== null
  }

  /** Undefined: the user's `mapName` makes no key of it. */
  #keyOf(name: string): string | undefined {
    try {
      return this.#runtime.keyOf(name)
    } catch {
      return undefined
    }
  }

  get #now(): number {
    return this.#runtime.options.clock.monotonic()
  }
}
