import type { ListedLock } from '../../api/listing.js'
import { clientsIn } from '../../core/gate/lock-state.js'
import type { ServerState } from '../../core/protocol/lock-protocol.js'
import type { EngineError } from '../../errors.js'
import { inspectSome, togetherIn } from './inspect-some.js'
import { cannotBeRead, inspected, isUsed, Labels, type ListHome, nameOf, rowOf } from './listed-lock.js'
import type { Claim } from './published-claims.js'
import { HoldersWaits } from './published-waits.js'
import type { SharedState } from './shared-state.js'
import type { SkippedLocks } from './skipped-locks.js'

type States = Map<Claim, SharedState>

/** Reads the locks of one list, some at a time. */
export class ReadLocks {
  readonly #home: ListHome
  readonly #skipped: SkippedLocks
  readonly #labels: Labels
  readonly #waits: HoldersWaits | undefined

  /** `waits`: also read what the holders wait for. */
  constructor(home: ListHome, skipped: SkippedLocks, waits: boolean) {
    this.#home = home
    this.#skipped = skipped
    this.#labels = new Labels(home, skipped)
    this.#waits = waits ? new HoldersWaits(home) : undefined
  }

  /** Those that are held or waited for, in the order of the claims. */
  async rows(claims: readonly Claim[]): Promise<readonly ListedLock[]> {
    const states = await this.#states(claims)
    const clients = new Set<string>()
    for (const state of states.values()) for (const client of clientsIn(state)) clients.add(client)
    const known = await this.#labels.of([...clients])
    const rows: ListedLock[] = []
    for (const claim of claims) {
      const state = states.get(claim)
      if (state !== undefined) rows.push(rowOf(this.#home, claim, known, state))
    }
    return this.#waits === undefined ? rows : this.#waits.addedTo(rows)
  }

  async #states(claims: readonly Claim[]): Promise<States> {
    const states: States = new Map()
    const heard = claims.filter((claim) => !this.#isSilent(claim))
    const parts = togetherIn(heard, this.#home.runtime.link.cluster)
    const together = new Set(parts.flat())
    await Promise.all([
      ...parts.map((part) => this.#readTogether(part, states)),
      ...heard.filter((claim) => !together.has(claim)).map((claim) => this.#readAlone(claim, states)),
    ])
    return states
  }

  #isSilent(claim: Claim): boolean {
    const silent = this.#skipped.silentAt(claim.key)
    if (silent !== undefined) this.#skip(claim, silent)
    return silent !== undefined
  }

  async #readTogether(claims: readonly Claim[], states: States): Promise<void> {
    const found = await this.#inspectSome(claims)
    const alone: Claim[] = []
    for (const [i, claim] of claims.entries()) {
      const state = found[i]
      if (state === undefined) alone.push(claim)
      else if (isUsed(state)) states.set(claim, state)
    }
    await Promise.all(alone.map((claim) => this.#readAlone(claim, states)))
  }

  /** One that cannot be read says nothing about the others: each is asked about alone, unless their master is away. */
  async #inspectSome(claims: readonly Claim[]): Promise<readonly (ServerState | undefined)[]> {
    try {
      return await inspectSome(this.#home.runtime, claims)
    } catch (error) {
      const [first] = claims
      if (first === undefined || !cannotBeRead(this.#home, first, error)) throw error
      this.#skipped.noteSilence(first.key, error)
      return []
    }
  }

  async #readAlone(claim: Claim, states: States): Promise<void> {
    const silent = this.#skipped.silentAt(claim.key)
    const refusals: EngineError[] = silent === undefined ? [] : [silent]
    const state = silent === undefined ? await inspected(this.#home, claim, refusals) : undefined
    for (const error of refusals) this.#skip(claim, error)
    if (state !== undefined) states.set(claim, state)
  }

  #skip(claim: Claim, error: EngineError): void {
    this.#skipped.add(claim.key, error, nameOf(claim, this.#home))
  }
}
