import type { CloseOptions } from './api/client.js'
import { within } from './base/time-limit.js'
import type { PresenceLabel } from './core/client/presence-label.js'
import type { IndexPublisher } from './core/listing/index-publisher.js'
import type { Runtime } from './core/client/runtime.js'
import type { Gates } from './core/gate/gates.js'
import type { Turnstiles } from './core/shared/turnstiles.js'
import { ClosedError } from './errors.js'
import { checkClose } from './check-arguments.js'
import type { Topics } from './sync/topic/topics.js'
import { POLL } from './script-times-and-limits.js'

/** How often it checks whether everything held was released, ms. */
const LOOK = 20

/** The parts of a client that have to end. */
export interface Ending {
  readonly runtime: Runtime
  readonly gates: Gates
  readonly turnstiles: Turnstiles
  readonly topics: Topics
  readonly presence: PresenceLabel | undefined
  readonly publisher: IndexPublisher | undefined
  readonly deadlocks: { end(): Promise<void> } | undefined
}

/** Closes a client: waiters are rejected, holds are released, and the connection closes last. */
export class Closing {
  readonly #ending: Ending
  readonly #began = new AbortController()
  /** When draining ends, on the monotonic clock. */
  #drainsUntil = Infinity
  #closed: Promise<void> | undefined

  constructor(ending: Ending) {
    this.#ending = ending
  }

  /** Aborts when closing begins. */
  get signal(): AbortSignal {
    return this.#began.signal
  }

  /** Further calls return the same promise; the shortest `drain` counts. */
  close(options?: CloseOptions): Promise<void> {
    let checked: CloseOptions
    try {
      checked = checkClose(options)
    } catch (error) {
      return Promise.reject(error)
    }
    const { release = true, drain = 0 } = checked
    const until = this.#ending.runtime.options.clock.monotonic() + drain
    this.#drainsUntil = Math.min(this.#drainsUntil, until)
    return (this.#closed ??= this.#close(release))
  }

  async #close(release: boolean): Promise<void> {
    const { runtime, turnstiles, presence, publisher, deadlocks } = this.#ending
    const { clock, commandTimeout } = runtime.options
    this.#began.abort(new ClosedError())
    const left = (): number => this.#drainsUntil - clock.monotonic()
    if (left() > 0) this.#drain()
    while (left() > 0 && (runtime.busy || turnstiles.held > 0)) await runtime.background.pause(Math.min(LOOK, left()))
    const patience = Math.max(left(), commandTimeout + POLL)
    runtime.end(clock.monotonic() + patience)
    // Begins now, because it must know what is held.
    const unlisted = Promise.all([publisher?.end(release).then((stays) => presence?.end(stays)), deadlocks?.end()])
    const gone = this.#giveBack(release)
    await within(clock, patience, gone)
    await within(clock, commandTimeout, runtime.watchdog.stop())
    const last = Promise.all([runtime.steps.flush(), runtime.subscriptions.stop(), unlisted])
    await within(clock, Math.max(LOOK, runtime.background.endsAt - clock.monotonic()), last)
    await runtime.link.close()
    // Steps without an answer end now, and are reported before the close is.
    runtime.background.hurry()
    await within(clock, LOOK, gone)
    runtime.releases.stop()
  }

  /** Rejects all waiters. */
  #drain(): void {
    const { runtime, gates, turnstiles } = this.#ending
    runtime.draining = true
    for (const gate of gates.all) gate.turnAway()
    turnstiles.turnAway()
  }

  async #giveBack(release: boolean): Promise<void> {
    const { runtime, gates, turnstiles, topics } = this.#ending
    topics.close()
    await Promise.all([...gates.all.map((gate) => gate.close(release)), turnstiles.close(release)])
    await runtime.background.settled()
    await runtime.steps.flush()
  }
}
