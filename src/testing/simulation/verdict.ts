import type { HistoryEvent } from '../history/events.js'
import type { SimServer } from './network.js'
import type { Party } from './party.js'
import type { SimProcess } from './sim-process.js'
import type { Redisson } from './redisson/redisson.js'
import type { World } from './world.js'
import type { SimKind } from './sim-kind.js'

/** What is watched. */
export interface Scene {
  readonly world: World
  readonly server: SimServer
  readonly processes: readonly SimProcess[]
  readonly strangers: readonly Redisson[]
  /** No stranger takes more off a deadline than ours are worth. */
  readonly modest: boolean
  readonly kinds: readonly SimKind[]
  readonly locks: readonly string[]
  /** Nothing goes wrong in this history: what is late has no excuse. */
  readonly calm: boolean
  /** Whether holds are asked all the time, or only their signals looked at. */
  readonly probing: boolean
  note(who: string, text: string): void
}

/** Of how many violations of one history it tells. */
const TOLD = 5

/** What was told, and what of it cannot be. */
export class Verdict {
  readonly violations: string[] = []
  readonly events: HistoryEvent[] = []
  readonly #note: Scene['note']

  constructor(note: Scene['note']) {
    this.#note = note
  }

  violation(rule: string, text: string): void {
    if (this.violations.length >= TOLD) return
    this.#note('!', `VIOLATION (${rule}): ${text}`)
    this.violations.push(`${rule}: ${text}`)
  }

  tell(
    call: { id?: string; call?: string; owner: string; process: Party; name: string; shared?: boolean },
    what: Exclude<HistoryEvent['what'], 'forced' | 'wiped' | 'trouble'>,
    more: { until?: number; lease?: number } = {},
  ): void {
    const { process, name, owner, shared } = call
    this.events.push({
      at: process.machine.time,
      what,
      process: process.name,
      call: call.id ?? call.call ?? '',
      name,
      owner,
      ...(shared === true && { mode: 'shared' }),
      ...more,
    })
  }
}
