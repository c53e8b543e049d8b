import type { Runtime } from '../client/runtime.js'
import type { NestedWait } from '../client/nested-waits.js'
import { momentOf } from '../../base/clock.js'
import { within } from '../../base/time-limit.js'
import type { UnitOfWork } from '../../base/owner.js'
import { numberOf } from '../../keys.js'
import { digits, tuple } from '../../lua/reply-shape.js'
import { LONG } from './locks-to-publish.js'
import type { ServerTime } from '../server/server-time.js'
import { holdsToTell, keysToTell, Page, type ToldWait } from './nested-wait-format.js'

/** A wait of this client, and what it publishes about it. */
export interface OwnWait {
  readonly wait: NestedWait
  readonly told: ToldWait
}

/** ms. A look does not wait longer for the time of a server: one that is silent must not hold up what is known of the others. */
const SOON = 200

type Held = readonly [key: string, number: number]

/** What each owner holds until it releases it. */
class HeldByOwner {
  readonly #all = new Map<UnitOfWork, Held[]>()
  readonly #told = new Map<UnitOfWork, readonly Held[]>()

  add(owner: UnitOfWork, hold: Held): void {
    const held = this.#all.get(owner)
    if (held === undefined) this.#all.set(owner, [hold])
    else held.push(hold)
  }

  has(owner: UnitOfWork): boolean {
    return this.#all.has(owner)
  }

  /** What others learn of it: the oldest holds first, because the watchdog changes their order. */
  toldOf(owner: UnitOfWork): readonly Held[] {
    const known = this.#told.get(owner)
    if (known !== undefined) return known
    const told = holdsToTell([...(this.#all.get(owner) ?? [])].sort(([, one], [, other]) => one - other))
    this.#told.set(owner, told)
    return told
  }
}

/** The calls of this client that have waited for longer than a second while something is held until they end. */
export class NestedWaitsToPublish {
  readonly #runtime: Runtime
  readonly #breaks: boolean
  /** All clients must compare the same number, so it never changes. */
  readonly #since = new WeakMap<NestedWait, number>()
  /** Waits for which the time of the server is not known: only some answers have it. */
  #timeless: NestedWait[] = []

  constructor(runtime: Runtime, breaks: boolean) {
    this.#runtime = runtime
    this.#breaks = breaks
  }

  /** As `look`; asks servers for their time before, if it is not known. Never rejects. */
  async lookInTime(now: () => number): Promise<OwnWait[]> {
    const own = this.look(now())
    if (this.#timeless.length === 0) return own
    const times = new Map(
      this.#timeless.map(({ lock: { protocol } }) => [this.#runtime.serverTime(protocol.key), protocol.key]),
    )
    for (const wait of this.#timeless) this.#since.delete(wait)
    const asking = [...times].map(([time, key]) => this.#ask(time, key))
    await within(this.#runtime.options.clock, SOON, Promise.allSettled(asking))
    return this.look(now())
  }

  async #ask(time: ServerTime, key: string): Promise<void> {
    const { link, options } = this.#runtime
    const sent = momentOf(options.clock)
    const [seconds, micros] = await link.command(['TIME'], tuple(digits, digits), { route: key })
    time.told(Number(seconds) * 1e6 + Number(micros), sent)
  }

  /** A hold may end as soon as one of the calls inside it does. So if others learn nothing of a call, they learn of no hold of its owners. */
  look(now: number): OwnWait[] {
    const { nested } = this.#runtime
    this.#timeless = []
    if (nested.oldest > now - LONG) return []
    const all = [...nested.all].sort((one, other) => one.since - other.since)
    const held = this.#heldBy(new Set(all.flatMap(({ owners }) => owners())))
    const [page, waits, silent] = [new Page(), [] as (OwnWait & Owned)[], new Set<UnitOfWork>()]
    for (const wait of all) {
      const owners = [...new Set(wait.owners())].filter((owner) => held.has(owner))
      if (owners.length === 0) continue
      const told = wait.since > now - LONG || page.isFull ? undefined : this.#told(wait, owners, held, now)
      if (told !== undefined && page.add(told)) waits.push({ wait, told, owners })
      else for (const owner of owners) silent.add(owner)
    }
    return waits.flatMap(({ wait, told, owners }) => {
      const holds = owners.flatMap((owner) => (silent.has(owner) ? [] : held.toldOf(owner)))
      return holds.length === 0 ? [] : [{ wait, told: { ...told, holds } }]
    })
  }

  /** A fixed lease ends by itself, and with it whatever waits for it. */
  #heldBy(owners: ReadonlySet<UnitOfWork>): HeldByOwner {
    const all = new HeldByOwner()
    for (const { owner, over, watched, wire, protocol } of this.#runtime.watchdog.tenures) {
      if (owner === undefined || over || !watched || !owners.has(owner)) continue
      const number = numberOf(wire)
      if (!Number.isNaN(number)) all.add(owner, [protocol.key, number])
    }
    return all
  }

  #told(wait: NestedWait, owners: readonly UnitOfWork[], held: HeldByOwner, now: number): ToldWait {
    const { lock, number } = wait
    const { name, kind, protocol } = lock
    return {
      ...{ number, kind: kind.name, key: protocol.key, name, since: this.#sinceOf(wait, now), breaks: this.#breaks },
      keys: keysToTell(kind.keys ?? []),
      holds: owners.flatMap((owner) => held.toldOf(owner)),
    }
  }

  #sinceOf(wait: NestedWait, now: number): number {
    const known = this.#since.get(wait)
    if (known !== undefined) return known
    const { key } = wait.lock.protocol
    if (this.#runtime.serverTime(key).about === undefined) this.#timeless.push(wait)
    const since = Math.round(serverNow(this.#runtime, key) - (now - wait.since))
    this.#since.set(wait, since)
    return since
  }
}

interface Owned {
  /** Those of its owners that hold something. */
  readonly owners: readonly UnitOfWork[]
}

/** The time of the server that has this key, as far as it is known, ms. */
export const serverNow = (runtime: Runtime, key: string): number => {
  const { about } = runtime.serverTime(key)
  return about === undefined ? runtime.options.clock.now() : about / 1000
}
