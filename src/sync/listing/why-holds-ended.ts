import type { LockEvent } from '../../api/watching.js'
import type { Runtime } from '../../core/client/runtime.js'
import { FORCED_BY, FORCED_STAYS } from '../../core/listing/force-note.js'
import { SETTLES } from '../../core/listing/index-publisher.js'
import { forcedKey, indexKey, isClientId, numberOf, registerKey } from '../../keys.js'
import { listingSomeEntries } from '../../lua/scripts.gen.js'
import { isTransient } from '../../core/server/transient-or-unsure-errors.js'
import { anything } from '../../lua/reply-shape.js'
import { readEntry } from './published-claims.js'
import { excludesOthers, type Person } from './holders-and-waiters.js'

/** ms. By then a client has published that it has released something. */
const PUBLISHED = 1500
/** ms. A release by force may be seen this much sooner than the note of it. */
const NOTED = 100
/** ms. If a lock could not be looked at for longer, no client says any more what happened to its holds in the meantime. */
export const GAP = SETTLES

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
/** Its client may have released it, and been stopped before it published that. */
const PERHAPS_DELETED: Cause = { type: 'deleted', certain: false }

/** A client has released a lock by force. It says of which key, and not which holds of it. */
export interface Note {
  readonly by: string
  /** When it was written, on the monotonic clock. */
  readonly at: number
}

/** Its lease was over by then, so no client is asked why the hold has ended. `at`: the server's time of the look that missed it. */
export const hasExpired = ({ until }: Person, at: number): boolean => until !== undefined && until <= at

/** `told`: what its client says. Undefined: it is not known yet. */
const causeOf = (ended: Ended, told: Cause | undefined, note: Note | undefined, late: boolean): Cause | undefined => {
  if (note === undefined || note.at < ended.before || told === RELEASED) return told
  const certain = !late && excludesOthers(ended.person) && note.at <= ended.noticed + NOTED
  return certain || told !== undefined ? { type: 'forced', certain, by: note.by } : undefined
}

/** Finds out why holds have ended. What clients say is only used to tell that, and never whether they have. */
export class WhyHoldsEnded {
  readonly #runtime: Runtime

  constructor(runtime: Runtime) {
    this.#runtime = runtime
  }

  /** Undefined: it is not known yet. */
  async of(ended: Ended, note: Promise<Note | undefined>): Promise<Cause | undefined> {
    const late = this.#now - ended.before > GAP
    try {
      return causeOf(ended, await this.#told(ended, late), await note, late)
    } catch (error) {
      // By then there is no note any more.
      return isTransient(error) && this.#now - ended.noticed < FORCED_STAYS ? undefined : PERHAPS_RELEASED
    }
  }

  async noteOf(key: string): Promise<Note | undefined> {
    const note = this.#keyOf(forcedKey(key))
    if (note === undefined) return undefined
    const [left, [by = '']] = await this.#runtime.link.run(listingSomeEntries, [note], [FORCED_BY])
    const fits = left > 0 && left <= FORCED_STAYS && isClientId(by)
    return fits ? { by, at: this.#now - (FORCED_STAYS - left) } : undefined
  }

  /** What its client says. */
  async #told(ended: Ended, late: boolean): Promise<Cause | undefined> {
    const { person, fields, noticed } = ended
    const index = isClientId(person.client) ? this.#keyOf(indexKey(person.client)) : undefined
    if (index === undefined) return PERHAPS_RELEASED
    const [left, values] = await this.#runtime.link.run(listingSomeEntries, [index], fields)
    const number = numberOf(person.owner)
    const said = values.map((value) => readEntry(value))
    if (said.some((entry) => entry?.lost === number)) return DELETED
    if (said.some((entry) => entry?.holds?.[0] === number)) {
      ended.published = true
      return this.#now - noticed >= PUBLISHED ? PERHAPS_DELETED : undefined
    }
    if (!ended.published || late) return PERHAPS_RELEASED
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
