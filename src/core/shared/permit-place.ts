import { ALLOWANCE, LISTENS_AFTER } from '../../constants.js'
import type { Runtime } from '../client/runtime.js'
import { Outsiders } from '../line/outsiders.js'
import type { Runner } from '../protocol/runner.js'

/** Whoever is first and hears no messages asks again each so many ms. */
const RESTLESS = 99

/** Where the processes that wait for permits stand: the keys of their line, and its channel of grants. */
export interface PermitLineKeys {
  readonly queue: string
  readonly deadlines: string
  readonly amounts: string
  readonly turn: string
  readonly grants: string
  /** Where Redisson tells of releases. */
  readonly told: string
}

/** This process in the line of those who wait for permits: it stands there once, for as many as the first who waits here wants. */
export class PermitPlace {
  readonly keys: PermitLineKeys
  /** Where it hears that it was granted permits. */
  readonly channel: string
  readonly #runtime: Runtime
  readonly #runner: Runner
  readonly #outsiders: Outsiders
  /** By what name it stands there; whether it may do so. */
  #owner: string | undefined
  #stands = false
  #first = false

  constructor(runtime: Runtime, runner: Runner, keys: PermitLineKeys, ask: () => void) {
    this.#runtime = runtime
    this.#runner = runner
    this.keys = keys
    this.channel = `${keys.grants}:${runtime.options.id}`
    this.#outsiders = new Outsiders({ runtime }, { channel: keys.told }, ask)
  }

  get stands(): boolean {
    return this.#stands
  }

  /** For scripts: where the line is. */
  get line(): [queue: string, deadlines: string, amounts: string, turn: string] {
    const { queue, deadlines, amounts, turn } = this.keys
    return [queue, deadlines, amounts, turn]
  }

  /** For scripts: how a client tells others. */
  get voices(): [channel: string, grants: string, publish: string] {
    return [this.keys.told, this.keys.grants, this.#runner.publishCommand]
  }

  get #hears(): boolean {
    return this.#runtime.subscriptions.hears(this.channel)
  }

  /** 1: the server may count us among those who listen where Redisson's do; 2: we hear of no grants; 3: it does not know of all who listen. */
  get own(): 0 | 1 | 2 | 3 {
    if (!this.#runner.countsAll) return 3
    if (this.#stands && !this.#hears) return 2
    return this.#runner.mayBeCounted(this.keys.told) ? 1 : 0
  }

  /** When it is to ask again, ms, though nobody tells it; -1: it need not. */
  get restless(): number {
    return this.#first && !this.#hears ? RESTLESS : -1
  }

  get news(): 0 | 1 {
    return this.#outsiders.news
  }

  /** It asks along the line, by this name. `joins`: it stands there if it has to wait; a single try has nothing of what was granted there. */
  asks(joins: boolean): string {
    if (!joins) return this.#runtime.nextWire()
    this.#stands = true
    return (this.#owner ??= this.#runtime.nextWire())
  }

  /** So many calls were served by that name; `first` and the rest as the script says. */
  answered(owner: string, calls: number, first: number, open: number, share: number): void {
    if (owner !== this.#owner) return
    if (calls > 0) this.#stands = false
    this.#first = this.#stands && first > 0
    const place = this.#first ? first : 0
    // Whoever is first listens to what Redisson's tell each other, once it waits for longer, or they were seen.
    if (place === 0) this.#outsiders.leave()
    else if (place === 1 && open === 0) this.#outsiders.expect(LISTENS_AFTER)
    else this.#outsiders.attend(undefined, open, share)
  }

  /** It leaves: by what name it may stand there. Whoever comes from now on has another. */
  leave(): string | undefined {
    const [owner, stands] = [this.#owner, this.#stands]
    this.#outsiders.leave()
    this.#owner = undefined
    this.#stands = this.#first = false
    return stands ? owner : undefined
  }

  /** By this step it is out of the line; nobody needs it any more when the place would have gone by itself. */
  leaveBy(step: () => Promise<unknown>): Promise<unknown> {
    const left = this.#runtime.retry.insist(step, this.#runtime.options.clock.monotonic() + ALLOWANCE)
    this.#runtime.background.track(left)
    return left
  }
}
