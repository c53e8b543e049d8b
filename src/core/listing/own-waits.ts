import type { Runtime } from '../client/runtime.js'
import type { NestedWait } from '../client/nested-waits.js'
import type { UnitOfWork } from '../../base/owner.js'
import { numberOf } from '../../keys.js'
import { LONG } from './locks-to-publish.js'
import { fitting, shortened, type ToldWait } from './told-waits.js'

/** A wait of this client, and what others are told about it. */
export interface OwnWait {
  readonly wait: NestedWait
  readonly told: ToldWait
}

type Held = readonly [key: string, number: number]

/** The calls of this client that have waited for longer than a second while something is held until they end. */
export class OwnWaits {
  readonly #runtime: Runtime
  readonly #breaks: boolean
  /** All clients must compare the same number, so it never changes. */
  readonly #since = new WeakMap<NestedWait, number>()

  constructor(runtime: Runtime, breaks: boolean) {
    this.#runtime = runtime
    this.#breaks = breaks
  }

  look(now: number): OwnWait[] {
    const old = [...this.#runtime.nested.all].filter(({ since }) => since <= now - LONG)
    if (old.length === 0) return []
    const held = this.#heldBy(new Set(old.flatMap(({ owners }) => owners())))
    const waits = old.flatMap((wait) => {
      const holds = [...new Set(wait.owners())].flatMap((owner) => held.get(owner) ?? [])
      return holds.length === 0 ? [] : [{ wait, told: this.#told(wait, holds, now) }]
    })
    return fitting(waits)
  }

  /** What each owner holds until it releases it. A fixed lease ends by itself, and with it whatever waits for it. */
  #heldBy(owners: ReadonlySet<UnitOfWork>): Map<UnitOfWork, Held[]> {
    const all = new Map<UnitOfWork, Held[]>()
    for (const { owner, over, watched, wire, protocol } of this.#runtime.watchdog.tenures) {
      if (owner === undefined || over || !watched || !owners.has(owner)) continue
      const number = numberOf(wire)
      if (Number.isNaN(number)) continue
      const held = all.get(owner)
      if (held === undefined) all.set(owner, [[protocol.key, number]])
      else held.push([protocol.key, number])
    }
    return all
  }

  #told(wait: NestedWait, holds: readonly Held[], now: number): ToldWait {
    const { lock, number } = wait
    const { name, kind, protocol } = lock
    const since = this.#since.get(wait) ?? Math.round(serverNow(this.#runtime, protocol.key) - (now - wait.since))
    this.#since.set(wait, since)
    const { key } = protocol
    return shortened({ number, kind: kind.name, key, name, keys: kind.keys ?? [], since, breaks: this.#breaks, holds })
  }
}

/** The time of the server that has this key, as far as it is known, ms. */
export const serverNow = (runtime: Runtime, key: string): number => {
  const { latest } = runtime.serverTime(key)
  return latest === undefined ? runtime.options.clock.now() : latest / 1000
}
