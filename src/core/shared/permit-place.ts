import { ALLOWANCE, LISTENS_AFTER } from '../../script-times-and-limits.js'
import type { Runtime } from '../client/runtime.js'
import { Outsiders } from '../line/listen-to-outsiders.js'
import type { ScriptRunner } from '../protocol/script-runner.js'

/** ms. How often the first in line asks again if it hears no messages. */
const RESTLESS = 99

/** The keys of the line in which processes wait for permits, and its channel of grants. */
export interface PermitLineKeys {
  readonly queue: string
  readonly deadlines: string
  readonly amounts: string
  readonly turn: string
  readonly grants: string
  /** The channel on which Redisson publishes releases. */
  readonly told: string
}

/** The place of this process in the line for permits. It has one place, for as many permits as the first waiter here wants. */
export class PermitPlace {
  readonly keys: PermitLineKeys
  /** The channel on which it hears that it was granted permits. */
  readonly channel: string
  readonly #runtime: Runtime
  readonly #runner: ScriptRunner
  readonly #outsiders: Outsiders
  /** Its wire name in the line; and whether it may stand there. */
  #owner: string | undefined
  #stands = false
  #first = false

  constructor(runtime: Runtime, runner: ScriptRunner, keys: PermitLineKeys, ask: () => void) {
    this.#runtime = runtime
    this.#runner = runner
    this.keys = keys
    this.channel = `${keys.grants}:${runtime.options.id}`
    this.#outsiders = new Outsiders({ runtime }, { channel: keys.told }, ask)
  }

  get stands(): boolean {
    return this.#stands
  }

  get owner(): string | undefined {
    return this.#owner
  }

  /** For scripts: the keys of the line. */
  get line(): [queue: string, deadlines: string, amounts: string, turn: string] {
    const { queue, deadlines, amounts, turn } = this.keys
    return [queue, deadlines, amounts, turn]
  }

  /** For scripts: how a client publishes to others. */
  get voices(): [channel: string, grants: string, publish: string] {
    return [this.keys.told, this.keys.grants, this.#runner.publishCommand]
  }

  get #hears(): boolean {
    return this.#runtime.subscriptions.hears(this.channel)
  }

  /** 1: the server may count us as a subscriber of Redisson's channel. 2: we cannot hear grants. 3: the server does not see all subscribers. */
  get own(): 0 | 1 | 2 | 3 {
    if (!this.#runner.countsAll) return 3
    if (this.#stands && !this.#hears) return 2
    return this.#runner.mayBeCounted(this.keys.told) ? 1 : 0
  }

  /** In how many ms to ask again without a message; -1: no need. */
  get restless(): number {
    return this.#first && !this.#hears ? RESTLESS : -1
  }

  get news(): 0 | 1 {
    return this.#outsiders.news
  }

  /** The wire name to ask with. `joins`: it stands in the line if it must wait. A single try does not get what was granted to the line's place. */
  asks(joins: boolean): string {
    if (!joins) return this.#runtime.nextWire()
    this.#stands = true
    return (this.#owner ??= this.#runtime.nextWire())
  }

  /** `calls` were served under that name; `first` and the rest are the script's answer. */
  answered(owner: string, calls: number, first: number, open: number, share: number): void {
    if (owner !== this.#owner) return
    if (calls > 0) this.#stands = false
    this.#first = this.#stands && first > 0
    const place = this.#first ? first : 0
    // If this place is first, it listens to Redisson's releases when it has waited for a while, or when Redisson was seen.
    if (place === 0) this.#outsiders.leave()
    else if (place === 1 && open === 0) this.#outsiders.expect(LISTENS_AFTER)
    else this.#outsiders.attend(undefined, open, share)
  }

  /** Leaves the line. Returns the name that may stand there. Later calls get another name. */
  leave(): string | undefined {
    const [owner, stands] = [this.#owner, this.#stands]
    this.#outsiders.leave()
    this.#owner = undefined
    this.#stands = this.#first = false
    return stands ? owner : undefined
  }

  /** This step takes it out of the line. Repeated until the place would have expired by itself. */
  leaveBy(step: () => Promise<unknown>): Promise<unknown> {
    const left = this.#runtime.retry.insist(step, this.#runtime.options.clock.monotonic() + ALLOWANCE)
    this.#runtime.background.track(left)
    return left
  }
}
